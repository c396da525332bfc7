//! What a camera with its encoder gives.

mod synthetic;

use weft_units::{Bytes, Instant, Rate, Rng};

use super::setup::{CameraSetup, SourceKind};

pub use synthetic::{Synthetic, SyntheticSetup};

/// A camera with its encoder, in virtual time.
///
/// Order of calls: [`FrameSource::next_at`] says when a frame is ready,
/// [`FrameSource::take_frame`] takes it then and moves on; the other calls may
/// come at any time.
pub trait FrameSource {
    /// The rate to follow from now on, or as soon as the encoder can.
    fn set_target(&mut self, now: Instant, rate: Rate);

    /// The next frame shall be decodable without any other.
    fn request_keyframe(&mut self, now: Instant);

    /// When the next frame is ready.
    fn next_at(&self) -> Instant;

    /// The frame that is ready now.
    fn take_frame(&mut self, now: Instant) -> EncodedFrame;
}

/// One encoded frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EncodedFrame {
    /// Encoded.
    pub size: Bytes,
    /// Decodable without any other.
    pub keyframe: bool,
}

/// The source of this camera, whose first frame is ready at `start`.
pub(crate) fn build(setup: &CameraSetup, start: Instant, rng: Rng) -> Box<dyn FrameSource> {
    match &setup.source {
        SourceKind::Synthetic(synthetic) => Box::new(Synthetic::new(*synthetic, start, rng)),
    }
}
