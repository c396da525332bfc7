pub mod speaker;

use alsa::pcm::{Access, Format, HwParams, PCM};
use alsa::{Direction, Output, ValueOr};

use super::{AudioFrame, CHANNELS, FRAME_SAMPLES, Microphone, MicrophoneError, SAMPLE_RATE};
use crate::Pace;

/// ALSA capture device. [`Microphone::read`] blocks until 20 ms are available.
pub struct AlsaMicrophone {
    name: String,
    pcm: PCM,
    channels: usize,
}

/// Size of a device's buffer.
#[derive(Clone, Copy)]
struct Buffer {
    /// Samples per channel between two interrupts.
    period: i64,
    periods: i64,
}

/// Buffer of ten frames: a reader that is 200 ms late loses nothing.
const BUFFER: Buffer = Buffer {
    period: FRAME_SAMPLES as i64,
    periods: 10,
};

impl AlsaMicrophone {
    pub fn open(name: &str) -> Result<AlsaMicrophone, MicrophoneError> {
        let failed = |error: alsa::Error| open_error(name, error);
        // Suppresses the library's own output to the terminal; its error also contains
        // the reason.
        let _ = Output::local_error_handler();
        let pcm = PCM::new(name, Direction::Capture, false).map_err(failed)?;
        let channels = configure(&pcm, BUFFER).map_err(failed)?;
        pcm.start().map_err(failed)?;
        Ok(AlsaMicrophone {
            name: name.into(),
            pcm,
            channels,
        })
    }

    fn fill(&self, samples: &mut [i16]) -> alsa::Result<()> {
        let io = self.pcm.io_i16()?;
        let mut done = 0;
        while done < samples.len() {
            match io.readi(&mut samples[done..]) {
                Ok(read) => done += read * self.channels,
                // An overrun or a suspend: the missed sound is lost; continue.
                Err(error) => {
                    self.pcm.try_recover(error, true)?;
                    self.pcm.start()?;
                }
            }
        }
        Ok(())
    }
}

/// Sets the format; returns the number of channels, one or two.
fn configure(pcm: &PCM, buffer: Buffer) -> alsa::Result<usize> {
    let params = HwParams::any(pcm)?;
    params.set_rate_resample(true)?;
    params.set_access(Access::RWInterleaved)?;
    params.set_format(Format::s16())?;
    let channels = params.set_channels_near(CHANNELS as u32)? as usize;
    params.set_rate(SAMPLE_RATE, ValueOr::Nearest)?;
    params.set_period_size_near(buffer.period, ValueOr::Nearest)?;
    params.set_buffer_size_near(buffer.periods * buffer.period)?;
    pcm.hw_params(&params)?;
    Ok(channels)
}

impl Microphone for AlsaMicrophone {
    fn pace(&self) -> Pace {
        Pace::Device
    }

    fn read(&mut self) -> Result<AudioFrame, MicrophoneError> {
        let mut samples = vec![0; FRAME_SAMPLES * self.channels];
        self.fill(&mut samples)
            .map_err(|error| MicrophoneError::Lost {
                name: self.name.clone(),
                reason: error.to_string(),
            })?;
        let mut frame = [0; FRAME_SAMPLES * CHANNELS];
        for (out, sample) in frame
            .chunks_exact_mut(CHANNELS)
            .zip(samples.chunks_exact(self.channels))
        {
            // A single channel is copied to both sides; of several channels, the first
            // two are used.
            out[0] = sample[0];
            out[1] = sample[1.min(self.channels - 1)];
        }
        Ok(frame)
    }
}

fn cause(error: alsa::Error) -> std::io::Error {
    std::io::Error::from_raw_os_error(error.errno())
}

fn open_error(name: &str, error: alsa::Error) -> MicrophoneError {
    let cause = cause(error);
    let kind = cause.kind();
    MicrophoneError::Open {
        name: format!("alsa:{name}"),
        reason: match kind {
            std::io::ErrorKind::NotFound => "the device does not exist".to_owned(),
            _ => cause.to_string(),
        },
        remedy: match kind {
            std::io::ErrorKind::PermissionDenied => {
                "join the group `audio` (sudo usermod -aG audio $USER) and log in again"
            }
            std::io::ErrorKind::ResourceBusy => "another program uses it: close that one",
            std::io::ErrorKind::InvalidInput => {
                "it cannot record 48 kHz: put `plug` in front, as in alsa:plughw:1,0"
            }
            _ => "see the names that exist with `arecord -L`, or use `tone`",
        },
    }
}
