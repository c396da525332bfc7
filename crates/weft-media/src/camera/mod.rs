//! Sources of pictures: the built-in clip, files, V4L2 devices.

mod device;
mod pixels;
mod spec;
#[cfg(test)]
mod tests;
mod y4m;

use std::path::PathBuf;
use std::sync::Arc;

pub use spec::CameraSpec;

use crate::clip::{Clip, ClipConfig};
use crate::{Pace, Picture, SpecError};

/// Size and rate of a camera's pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Pictures per second.
    pub fps: f64,
}

/// Captured picture.
#[derive(Clone, Debug)]
pub struct Captured {
    /// Picture without another owner, so that `Arc::make_mut` does not copy.
    pub picture: Arc<Picture>,
    /// Number from zero, without gaps.
    pub number: u64,
}

/// Source of pictures.
pub trait Camera: Send {
    /// Returns the format of the pictures, including the first one.
    fn format(&self) -> Format;
    /// Whether [`Camera::capture`] blocks until the next picture.
    fn pace(&self) -> Pace;
    /// Captures the next picture.
    ///
    /// # Errors
    /// [`CameraError::Lost`] if the camera has failed permanently; single damaged
    /// pictures are skipped.
    fn capture(&mut self) -> Result<Captured, CameraError>;
}

/// Reason why a camera is unavailable. Each text contains a remedy.
#[derive(Debug, thiserror::Error)]
pub enum CameraError {
    /// The name is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The device or file does not exist, or cannot be opened.
    #[error("camera `{}`: {reason}; {remedy}", .path.display())]
    Open {
        /// Device or file.
        path: PathBuf,
        /// System error.
        reason: String,
        /// Remedy for the user.
        remedy: String,
    },
    /// The pictures of the file or device have an unsupported format.
    #[error("camera `{}`: {problem}; {remedy}", .path.display())]
    Unusable {
        /// Device or file.
        path: PathBuf,
        /// Problem of the pictures.
        problem: String,
        /// Remedy for the user.
        remedy: &'static str,
    },
    /// The camera worked and then failed.
    #[error("camera `{}` stopped: {reason}; check its cable, then start again", .path.display())]
    Lost {
        /// Device or file.
        path: PathBuf,
        /// System error.
        reason: String,
    },
}

/// Built-in clip as a camera, paced by the caller. The first capture paints it on the
/// capturing thread, so that a call connects without waiting.
struct ClipCamera {
    config: ClipConfig,
    clip: Option<Clip>,
    number: u64,
}

impl Camera for ClipCamera {
    fn format(&self) -> Format {
        let config = self.config;
        Format {
            width: config.width,
            height: config.height,
            fps: f64::from(config.fps),
        }
    }

    fn pace(&self) -> Pace {
        Pace::Caller
    }

    fn capture(&mut self) -> Result<Captured, CameraError> {
        let number = self.number;
        self.number += 1;
        let time_ms = number * 1000 / u64::from(self.config.fps);
        let clip = self.clip.get_or_insert_with(|| Clip::new(self.config));
        Ok(Captured {
            picture: Arc::new(clip.picture(number, time_ms)),
            number,
        })
    }
}
