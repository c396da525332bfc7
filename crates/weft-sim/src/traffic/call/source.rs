//! What a camera with its encoder gives.

mod model;
mod synthetic;

use weft_units::{Bytes, Instant, Rate, Rng};

use weft_experiment::{CameraSetup, Quality, SourceKind};

pub use model::Model;
pub use synthetic::Synthetic;

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

    /// The frame that is ready now; `None` when the encoder drops it.
    fn take_frame(&mut self, now: Instant) -> Option<EncodedFrame>;
}

/// One encoded frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EncodedFrame {
    /// Encoded.
    pub size: Bytes,
    /// Decodable without any other.
    pub keyframe: bool,
    /// Temporal layer, if there are any.
    pub temporal_layer: Option<u8>,
    /// Refers to the base layer only.
    pub layer_sync: bool,
    /// No later frame refers to it.
    pub non_reference: bool,
    /// What the picture looks like, where the model knows.
    pub quality: Option<Quality>,
}

impl EncodedFrame {
    /// A frame without layers, of unknown quality.
    #[must_use]
    pub fn plain(size: Bytes, keyframe: bool) -> EncodedFrame {
        EncodedFrame {
            size,
            keyframe,
            temporal_layer: None,
            layer_sync: false,
            non_reference: false,
            quality: None,
        }
    }
}

/// What makes a camera's frames, the first of which is ready at `start`.
#[must_use]
pub fn film(camera: &CameraSetup, start: Instant, rng: Rng) -> Box<dyn FrameSource + Send> {
    match &camera.source {
        SourceKind::Synthetic(synthetic) => Box::new(Synthetic::new(*synthetic, start, rng)),
        SourceKind::Model(model) => Box::new(Model::new(*model, camera.degradation, start, rng)),
    }
}
