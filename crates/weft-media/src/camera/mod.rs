//! Where pictures come from: the built-in clip, files, V4L2 devices.

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

/// Size and speed of a camera's pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Pictures per second.
    pub fps: f64,
}

/// A picture just taken.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The picture. Nobody else holds it yet: `Arc::make_mut` does not copy.
    pub picture: Arc<Picture>,
    /// Its number, from zero, without gaps.
    pub number: u64,
}

/// A source of pictures.
pub trait Camera: Send {
    /// What the pictures are like. The first capture already has this size.
    fn format(&self) -> Format;
    /// Whether [`Camera::capture`] waits for the next picture by itself.
    fn pace(&self) -> Pace;
    /// The next picture.
    ///
    /// # Errors
    /// [`CameraError::Lost`] when there will be no more pictures; single bad
    /// pictures are skipped.
    fn capture(&mut self) -> Result<Captured, CameraError>;
}

/// Why a camera gives no pictures. Each text says what can be done.
#[derive(Debug, thiserror::Error)]
pub enum CameraError {
    /// The name is not understood.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// There is nothing of this name, or it may not be opened.
    #[error("camera `{}`: {reason}; {remedy}", .path.display())]
    Open {
        /// The device or file.
        path: PathBuf,
        /// What the system said.
        reason: String,
        /// What the user can do.
        remedy: String,
    },
    /// The file or device has pictures that cannot be used.
    #[error("camera `{}`: {problem}; {remedy}", .path.display())]
    Unusable {
        /// The device or file.
        path: PathBuf,
        /// What is wrong with the pictures.
        problem: String,
        /// What the user can do.
        remedy: &'static str,
    },
    /// The camera worked and does no more.
    #[error("camera `{}` stopped: {reason}; check its cable, then start again", .path.display())]
    Lost {
        /// The device or file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
}

/// The built-in clip as a camera, paced by the caller. It is painted for its
/// first picture, on the thread that takes it: a call need not wait for that
/// to connect.
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
