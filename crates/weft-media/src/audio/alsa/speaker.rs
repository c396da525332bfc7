use std::io::{self, ErrorKind};

use alsa::pcm::PCM;
use alsa::{Direction, Output};

use super::{Buffer, cause, configure};
use crate::Pace;
use crate::audio::{BLOCK_SAMPLES, CHANNELS, SoundBlock, Speaker, SpeakerError};

/// ALSA playback device. [`Speaker::write`] blocks until there is space for 10 ms.
pub struct AlsaSpeaker {
    name: String,
    pcm: PCM,
    channels: usize,
    /// Number of blocks that fill the buffer except for one.
    prefill: usize,
}

/// Buffer of four periods of 10 ms: the delay of the device, and the time by which the
/// writer may be late. Chosen by us.
const BUFFER: Buffer = Buffer {
    period: BLOCK_SAMPLES as i64,
    periods: 4,
};

/// Time in milliseconds after which a device that accepts no sound counts as failed.
/// Chosen by us: many buffers.
const STUCK_MS: u32 = 1_000;

impl AlsaSpeaker {
    pub fn open(name: &str) -> Result<AlsaSpeaker, SpeakerError> {
        let failed = |error: alsa::Error| open_error(name, error);
        // Suppresses the library's own output to the terminal.
        let _ = Output::local_error_handler();
        let pcm = PCM::new(name, Direction::Playback, false).map_err(failed)?;
        let channels = configure(&pcm, BUFFER).map_err(failed)?;
        let prefill = start_when_full(&pcm).map_err(failed)?;
        let speaker = AlsaSpeaker {
            name: name.into(),
            pcm,
            channels,
            prefill,
        };
        speaker.prefill().map_err(failed)?;
        Ok(speaker)
    }

    /// Fills the buffer with silence except for one block; the next block starts the
    /// device.
    fn prefill(&self) -> alsa::Result<()> {
        let silence = vec![0; BLOCK_SAMPLES * self.channels];
        let io = self.pcm.io_i16()?;
        for _ in 0..self.prefill {
            io.writei(&silence)?;
        }
        Ok(())
    }

    fn write_all(&self, samples: &[i16]) -> io::Result<()> {
        let io = self.pcm.io_i16().map_err(cause)?;
        let mut done = 0;
        while done < samples.len() {
            let written = match self.pcm.wait(Some(STUCK_MS)) {
                Ok(true) => io.writei(&samples[done..]),
                Ok(false) => return Err(io::Error::new(ErrorKind::TimedOut, "it plays nothing")),
                Err(error) => Err(error),
            };
            match written {
                Ok(written) => done += written * self.channels,
                // An underrun or a suspend: restarts with a full buffer.
                Err(error) => {
                    self.pcm.try_recover(error, true).map_err(cause)?;
                    self.prefill().map_err(cause)?;
                }
            }
        }
        Ok(())
    }
}

/// Makes the device start when its buffer is full; returns the number of blocks that fill
/// it except for one.
fn start_when_full(pcm: &PCM) -> alsa::Result<usize> {
    let (buffer, _) = pcm.get_params()?;
    let blocks = buffer as i64 / BLOCK_SAMPLES as i64;
    let params = pcm.sw_params_current()?;
    params.set_start_threshold(blocks.max(1) * BLOCK_SAMPLES as i64)?;
    params.set_avail_min(BLOCK_SAMPLES as i64)?;
    pcm.sw_params(&params)?;
    Ok(usize::try_from(blocks - 1).unwrap_or(0))
}

impl Speaker for AlsaSpeaker {
    fn pace(&self) -> Pace {
        Pace::Device
    }

    fn write(&mut self, block: &SoundBlock) -> Result<(), SpeakerError> {
        let mut samples = vec![0; BLOCK_SAMPLES * self.channels];
        let both = samples
            .chunks_exact_mut(self.channels)
            .zip(block.chunks_exact(CHANNELS));
        for (out, sample) in both {
            match out {
                [mono] => *mono = ((i32::from(sample[0]) + i32::from(sample[1])) / 2) as i16,
                // Further channels stay silent.
                [left, right, ..] => (*left, *right) = (sample[0], sample[1]),
                [] => {}
            }
        }
        self.write_all(&samples)
            .map_err(|error| SpeakerError::Lost {
                name: format!("alsa:{}", self.name),
                reason: error.to_string(),
                remedy: "check its connection",
            })
    }
}

fn open_error(name: &str, error: alsa::Error) -> SpeakerError {
    let cause = cause(error);
    SpeakerError::Open {
        name: format!("alsa:{name}"),
        reason: match cause.kind() {
            ErrorKind::NotFound => "the device does not exist".to_owned(),
            _ => cause.to_string(),
        },
        remedy: match cause.kind() {
            ErrorKind::PermissionDenied => {
                "join the group `audio` (sudo usermod -aG audio $USER) and log in again"
            }
            ErrorKind::ResourceBusy => "another program uses it: close that one",
            ErrorKind::InvalidInput => {
                "it cannot play 48 kHz: put `plug` in front, as in alsa:plughw:1,0"
            }
            _ => "see the names that exist with `aplay -L`",
        },
    }
}
