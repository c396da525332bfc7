//! Audio: microphones, loudspeakers and files in place of them, Opus encoding and
//! decoding, and the mixer of a room. Always 48 kHz stereo; microphones have frames of 20
//! ms, as WebRTC sends them (RFC 7587 section 4.1), loudspeakers blocks of 10 ms.

mod alsa;
mod codec;
mod echo;
mod mixer;
mod speaker;
mod spec;
#[cfg(test)]
mod tests;
mod voice;
mod wav;

pub use codec::{OpusDecoder, OpusEncoder, OpusError};
pub use echo::{EchoCanceller, EchoFreeMicrophone, EchoReference};
pub use mixer::{Limiter, RoomMixer};
pub use speaker::SpeakerSpec;
pub use spec::MicrophoneSpec;
pub use voice::PlayedCounts;

use weft_units::AudioLevel;

use crate::{Pace, SpecError};

/// Samples per second and channel.
pub const SAMPLE_RATE: u32 = 48_000;
/// Number of channels of every frame.
pub const CHANNELS: usize = 2;
/// Samples per channel in a frame of 20 ms; also its length in RTP time.
pub const FRAME_SAMPLES: usize = 960;

/// 20 ms of sound; left and right alternate.
pub type AudioFrame = [i16; FRAME_SAMPLES * CHANNELS];

/// Samples per channel in a block of 10 ms.
pub const BLOCK_SAMPLES: usize = 480;

/// 10 ms of sound for a loudspeaker; left and right alternate.
pub type SoundBlock = [i16; BLOCK_SAMPLES * CHANNELS];

/// Level above which sound may be voice; the noise of a quiet room is below it. There is
/// no voice detector here. Chosen by us.
const MAY_BE_VOICE: u8 = 50;

/// Returns the level of a frame, all channels together (RFC 6465 appendix A).
#[must_use]
pub fn audio_level(frame: &AudioFrame) -> AudioLevel {
    let squares: f64 = frame.iter().map(|s| f64::from(*s).powi(2)).sum();
    let mean = (squares / frame.len() as f64).sqrt();
    let level = 20.0 * (f64::from(i16::MAX) / mean).log10();
    // Infinite for silence.
    let level = level.round().clamp(0.0, 127.0) as u8;
    let voice = u8::from(level < MAY_BE_VOICE) << 7;
    AudioLevel(voice | level)
}

/// Source of sound.
pub trait Microphone: Send {
    /// Whether [`Microphone::read`] blocks for the next frame. If not, call it every 20
    /// ms.
    fn pace(&self) -> Pace;
    /// Reads the next 20 ms.
    ///
    /// # Errors
    /// [`MicrophoneError::Lost`] if the microphone has failed permanently.
    fn read(&mut self) -> Result<AudioFrame, MicrophoneError>;
}

/// Reason why a microphone is unavailable. Each text contains a remedy.
#[derive(Debug, thiserror::Error)]
pub enum MicrophoneError {
    /// The name is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The device or file does not exist, or cannot be opened.
    #[error("microphone `{name}`: {reason}; {remedy}")]
    Open {
        /// The device or file.
        name: String,
        /// System error.
        reason: String,
        /// Remedy for the user.
        remedy: &'static str,
    },
    /// The microphone worked and then failed.
    #[error("microphone `{name}` stopped: {reason}; check its connection, then start again")]
    Lost {
        /// Name in ALSA.
        name: String,
        /// System error.
        reason: String,
    },
}

/// Sink of sound.
pub trait Speaker: Send {
    /// Whether [`Speaker::write`] blocks until the device has space for the block. If
    /// not, call it every 10 ms.
    fn pace(&self) -> Pace;
    /// Plays the next 10 ms.
    ///
    /// # Errors
    /// [`SpeakerError::Lost`] if the device has failed. Reopen it.
    fn write(&mut self, block: &SoundBlock) -> Result<(), SpeakerError>;
}

/// Reason why a loudspeaker is unavailable. Each text contains a remedy.
#[derive(Debug, thiserror::Error)]
pub enum SpeakerError {
    /// The device does not exist or cannot be opened, or the file cannot be created.
    #[error("speaker `{name}`: {reason}; {remedy}")]
    Open {
        /// Device or file.
        name: String,
        /// System error.
        reason: String,
        /// Remedy for the user.
        remedy: &'static str,
    },
    /// The device or file worked and then failed.
    #[error("speaker `{name}` stopped: {reason}; {remedy}")]
    Lost {
        /// Device or file.
        name: String,
        /// System error.
        reason: String,
        /// Remedy for the user.
        remedy: &'static str,
    },
}

/// Steady tone, for tests and for checking loudspeakers.
struct Tone {
    phase: u32,
}

/// Concert pitch; 48,000 / 440 is not an integer, so frames differ.
const TONE_HERTZ: u32 = 440;
/// A fifth of full scale: -14 dBFS.
const TONE_AMPLITUDE: f64 = 6553.0;

impl Microphone for Tone {
    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn read(&mut self) -> Result<AudioFrame, MicrophoneError> {
        let mut frame = [0; FRAME_SAMPLES * CHANNELS];
        for sample in frame.chunks_exact_mut(CHANNELS) {
            let turns = f64::from(self.phase) / f64::from(SAMPLE_RATE);
            let level = (turns * std::f64::consts::TAU).sin() * TONE_AMPLITUDE;
            sample.fill(level.round() as i16);
            // In turns per second, so that it stays exact.
            self.phase = (self.phase + TONE_HERTZ) % SAMPLE_RATE;
        }
        Ok(frame)
    }
}
