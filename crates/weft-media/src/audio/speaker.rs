use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::alsa::speaker::AlsaSpeaker;
use super::wav::WavSpeaker;
use super::{Speaker, SpeakerError};
use crate::SpecError;

/// Loudspeaker, in the form of the command line: `alsa` (the default device),
/// `alsa:hw:1,0`, or `room.wav`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpeakerSpec {
    /// ALSA playback device by its ALSA name.
    Alsa(String),
    /// New WAV file.
    File(PathBuf),
}

impl FromStr for SpeakerSpec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<SpeakerSpec, SpecError> {
        let error = |problem: String, remedy| SpecError {
            kind: "speaker",
            spec: spec.into(),
            problem,
            remedy,
        };
        match spec {
            "alsa" => Ok(SpeakerSpec::Alsa("default".into())),
            _ if spec.ends_with(".wav") => Ok(SpeakerSpec::File(spec.into())),
            _ => match spec.strip_prefix("alsa:") {
                Some("") => Err(error(
                    "missing device after `alsa:`".into(),
                    "write alsa, or alsa:DEVICE with a name from `aplay -L`",
                )),
                Some(device) => Ok(SpeakerSpec::Alsa(device.into())),
                None => Err(error(
                    "unknown kind of speaker".into(),
                    "write alsa[:DEVICE] or FILE.wav",
                )),
            },
        }
    }
}

impl fmt::Display for SpeakerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpeakerSpec::Alsa(device) => write!(f, "alsa:{device}"),
            SpeakerSpec::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl SpeakerSpec {
    /// Opens the loudspeaker.
    ///
    /// # Errors
    /// [`SpeakerError::Open`], with the remedy.
    pub fn open(&self) -> Result<Box<dyn Speaker>, SpeakerError> {
        match self {
            SpeakerSpec::Alsa(device) => Ok(Box::new(AlsaSpeaker::open(device)?)),
            SpeakerSpec::File(path) => Ok(Box::new(WavSpeaker::create(path)?)),
        }
    }
}
