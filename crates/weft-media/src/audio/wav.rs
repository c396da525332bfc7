use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use hound::{SampleFormat, WavReader, WavSpec, WavWriter};

use super::{
    AudioFrame, CHANNELS, FRAME_SAMPLES, Microphone, MicrophoneError, SAMPLE_RATE, SoundBlock,
    Speaker, SpeakerError,
};
use crate::Pace;

/// WAV file in memory, converted and played in a loop, paced by the caller.
pub struct WavMicrophone {
    samples: Vec<[i16; CHANNELS]>,
    at: usize,
}

impl WavMicrophone {
    pub fn open(path: &Path) -> Result<WavMicrophone, MicrophoneError> {
        let failed = |reason: String| MicrophoneError::Open {
            name: path.display().to_string(),
            reason,
            remedy: "give a readable WAV file: ffmpeg -i FILE OUT.wav makes one",
        };
        let reader = WavReader::open(path).map_err(|error| failed(error.to_string()))?;
        let rate = reader.spec().sample_rate;
        let samples = decode(reader).map_err(|error| failed(error.to_string()))?;
        if samples.is_empty() || rate == 0 {
            return Err(failed("it contains no sound".into()));
        }
        Ok(WavMicrophone {
            samples: resample(&samples, rate),
            at: 0,
        })
    }
}

impl Microphone for WavMicrophone {
    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn read(&mut self) -> Result<AudioFrame, MicrophoneError> {
        let mut frame = [0; FRAME_SAMPLES * CHANNELS];
        for out in frame.chunks_exact_mut(CHANNELS) {
            out.copy_from_slice(&self.samples[self.at]);
            self.at = (self.at + 1) % self.samples.len();
        }
        Ok(frame)
    }
}

/// Decodes the first two channels; a single channel is copied to both sides.
fn decode<R: std::io::Read>(
    mut reader: WavReader<R>,
) -> Result<Vec<[i16; CHANNELS]>, hound::Error> {
    let spec = reader.spec();
    let flat: Vec<i16> = match spec.sample_format {
        SampleFormat::Float => reader
            .samples::<f32>()
            .map(|sample| Ok((sample? * f32::from(i16::MAX)) as i16))
            .collect::<Result<_, hound::Error>>()?,
        SampleFormat::Int => {
            let bits = i32::from(spec.bits_per_sample);
            let scale = |sample: i32| (i64::from(sample) << 16 >> bits) as i16;
            reader
                .samples::<i32>()
                .map(|sample| Ok(scale(sample?)))
                .collect::<Result<_, hound::Error>>()?
        }
    };
    let channels = usize::from(spec.channels).max(1);
    let pair = |sample: &[i16]| [sample[0], sample[1.min(channels - 1)]];
    Ok(flat.chunks_exact(channels).map(pair).collect())
}

/// Converts to 48 kHz by linear interpolation: good enough for speech, and test files
/// usually have that rate.
fn resample(samples: &[[i16; CHANNELS]], rate: u32) -> Vec<[i16; CHANNELS]> {
    if rate == SAMPLE_RATE {
        return samples.to_vec();
    }
    let count = samples.len() as u64 * u64::from(SAMPLE_RATE) / u64::from(rate);
    (0..count.max(1))
        .map(|n| {
            let position = n as f64 * f64::from(rate) / f64::from(SAMPLE_RATE);
            let index = (position as usize).min(samples.len() - 1);
            let (a, b) = (samples[index], samples[(index + 1) % samples.len()]);
            let part = position.fract();
            std::array::from_fn(|c| {
                (f64::from(a[c]) * (1.0 - part) + f64::from(b[c]) * part).round() as i16
            })
        })
        .collect()
}

/// Writes a WAV file, paced by the caller. A crash loses at most its last second.
pub struct WavSpeaker {
    name: String,
    writer: WavWriter<BufWriter<File>>,
    /// Blocks since the last flush.
    unflushed: usize,
}

/// Blocks between two flushes: a second.
const FLUSH: usize = 100;

impl WavSpeaker {
    pub fn create(path: &Path) -> Result<WavSpeaker, SpeakerError> {
        let name = path.display().to_string();
        let spec = WavSpec {
            channels: CHANNELS as u16,
            sample_rate: SAMPLE_RATE,
            bits_per_sample: 16,
            sample_format: SampleFormat::Int,
        };
        let failed = |reason: String| SpeakerError::Open {
            name: name.clone(),
            reason,
            remedy: "name a new file in a folder that you may write to",
        };
        // Never overwrites a file, because it may be an earlier part of this sound.
        let file = File::create_new(path).map_err(|error| failed(error.to_string()))?;
        let writer = WavWriter::new(BufWriter::new(file), spec);
        let writer = writer.map_err(|error| failed(error.to_string()))?;
        Ok(WavSpeaker {
            name,
            writer,
            unflushed: 0,
        })
    }

    fn add(&mut self, block: &SoundBlock) -> Result<(), hound::Error> {
        for sample in block {
            self.writer.write_sample(*sample)?;
        }
        self.unflushed += 1;
        if self.unflushed == FLUSH {
            self.unflushed = 0;
            self.writer.flush()?;
        }
        Ok(())
    }
}

impl Speaker for WavSpeaker {
    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn write(&mut self, block: &SoundBlock) -> Result<(), SpeakerError> {
        self.add(block).map_err(|error| SpeakerError::Lost {
            name: self.name.clone(),
            reason: error.to_string(),
            remedy: "make room on the disk (WAV files end at 4 GiB)",
        })
    }
}
