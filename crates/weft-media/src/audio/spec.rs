use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::alsa::AlsaMicrophone;
use super::wav::WavMicrophone;
use super::{Microphone, MicrophoneError, Tone};
use crate::SpecError;

/// Microphone, in the form of the command line: `alsa` (the default device),
/// `alsa:hw:1,0`, `speech.wav` (played in a loop), `tone`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MicrophoneSpec {
    /// ALSA capture device by its ALSA name.
    Alsa(String),
    /// WAV file, looped.
    File(PathBuf),
    /// Steady tone.
    Tone,
}

impl FromStr for MicrophoneSpec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<MicrophoneSpec, SpecError> {
        match spec {
            "tone" => Ok(MicrophoneSpec::Tone),
            "alsa" => Ok(MicrophoneSpec::Alsa("default".into())),
            _ if spec.ends_with(".wav") => Ok(MicrophoneSpec::File(spec.into())),
            _ => match spec.strip_prefix("alsa:") {
                Some("") => Err(error(
                    spec,
                    "missing device after `alsa:`".into(),
                    "write alsa, or alsa:DEVICE with a name from `arecord -L`",
                )),
                Some(device) => Ok(MicrophoneSpec::Alsa(device.into())),
                None => Err(error(
                    spec,
                    "unknown kind of microphone".into(),
                    "write alsa[:DEVICE], FILE.wav or tone",
                )),
            },
        }
    }
}

impl fmt::Display for MicrophoneSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MicrophoneSpec::Alsa(device) => write!(f, "alsa:{device}"),
            MicrophoneSpec::File(path) => write!(f, "{}", path.display()),
            MicrophoneSpec::Tone => f.write_str("tone"),
        }
    }
}

impl MicrophoneSpec {
    /// Opens the microphone.
    ///
    /// # Errors
    /// [`MicrophoneError::Open`], with the remedy.
    pub fn open(&self) -> Result<Box<dyn Microphone>, MicrophoneError> {
        match self {
            MicrophoneSpec::Alsa(device) => Ok(Box::new(AlsaMicrophone::open(device)?)),
            MicrophoneSpec::File(path) => Ok(Box::new(WavMicrophone::open(path)?)),
            MicrophoneSpec::Tone => Ok(Box::new(Tone { phase: 0 })),
        }
    }
}

fn error(spec: &str, problem: String, remedy: &'static str) -> SpecError {
    SpecError {
        kind: "microphone",
        spec: spec.into(),
        problem,
        remedy,
    }
}
