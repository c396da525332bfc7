//! Cameras from the command line.

use std::fs;
use std::path::PathBuf;
use std::str::FromStr;

use weft_media::{CameraSpec, SpecError};
use weft_rooms::MAX_CAMERAS;

/// Camera with its caption.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedCamera {
    /// Caption; `None` for no caption.
    pub name: Option<String>,
    /// Device, file or clip of the pictures.
    pub spec: CameraSpec,
}

/// Error: cameras conflict.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CamerasError {
    /// More cameras than a call supports.
    #[error(
        "{0} cameras are named, but a call has at most {MAX_CAMERAS}; remove some, or join \
         with the others as another participant"
    )]
    TooMany(usize),
    /// Two cameras are the same device.
    #[error(
        "{spec}: the device {device} is already in use by another camera of this call; remove one"
    )]
    SameDevice {
        /// The second camera.
        spec: String,
        /// Shared device.
        device: String,
    },
    /// Two cameras have this name.
    #[error("{0}: another camera already has this name; choose another one")]
    SameName(String),
}

/// Maximum length of a caption. Chosen by us.
const MAX_NAME: usize = 32;

impl FromStr for NamedCamera {
    type Err = SpecError;

    /// Parses `[NAME=]SRC`; a text with a slash before its first `=` is a path.
    fn from_str(text: &str) -> Result<NamedCamera, SpecError> {
        let named = text.split_once('=').filter(|(name, _)| !name.contains('/'));
        let Some((name, source)) = named else {
            let (name, spec) = (None, text.parse()?);
            return Ok(NamedCamera { name, spec });
        };
        let name = name.trim();
        let fits = (1..=MAX_NAME).contains(&name.chars().count());
        if !fits || name.contains(char::is_control) {
            return Err(SpecError {
                kind: "camera",
                spec: text.to_owned(),
                problem: format!("`{name}` is not a valid name"),
                remedy: "a name has 1 to 32 printable characters, as in front=/dev/video0",
            });
        }
        Ok(NamedCamera {
            name: Some(name.to_owned()),
            spec: source.parse()?,
        })
    }
}

/// Checks that these cameras can be sent together.
///
/// # Errors
/// The conflict.
pub fn check(cameras: &[NamedCamera]) -> Result<(), CamerasError> {
    if cameras.len() > MAX_CAMERAS {
        return Err(CamerasError::TooMany(cameras.len()));
    }
    for (place, camera) in cameras.iter().enumerate() {
        let earlier = &cameras[..place];
        if let Some(device) = device(&camera.spec)
            && earlier
                .iter()
                .any(|e| self::device(&e.spec).as_ref() == Some(&device))
        {
            return Err(CamerasError::SameDevice {
                spec: camera.spec.to_string(),
                device: device.display().to_string(),
            });
        }
        if let Some(name) = &camera.name
            && earlier.iter().any(|e| e.name.as_ref() == Some(name))
        {
            return Err(CamerasError::SameName(name.clone()));
        }
    }
    Ok(())
}

/// Returns the device behind symbolic links such as those in `/dev/v4l/by-id`.
fn device(spec: &CameraSpec) -> Option<PathBuf> {
    match spec {
        CameraSpec::Device { path, .. } => {
            Some(fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
        }
        CameraSpec::Clip(_) | CameraSpec::File(_) => None,
    }
}

#[cfg(test)]
mod tests;
