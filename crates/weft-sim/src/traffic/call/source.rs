//! What a camera with its encoder gives.

mod model;
mod synthetic;

use weft_experiment::{CameraSetup, Quality, SourceKind};
use weft_publish::{
    AdaptationSetup, Allowance, Degradation, EncoderControl, Encoding, QuantizerBounds,
};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

pub use model::Model;
pub use synthetic::Synthetic;

/// An encoder in virtual time.
pub trait FrameEncoder {
    /// The rate to follow from now on, or as soon as the encoder can.
    fn set_target(&mut self, now: Instant, rate: Rate);

    /// Encodes the picture taken now; `None` when rate control drops it.
    fn encode(&mut self, now: Instant, encoding: &Encoding) -> Option<EncodedFrame>;
}

/// A camera with its encoder, in virtual time. Pictures come at constant
/// intervals; which are encoded, and how, is decided as in the product.
pub struct Camera {
    control: EncoderControl,
    encoder: Box<dyn FrameEncoder + Send>,
    start: Instant,
    fps: f64,
    pictures: u64,
}

impl Camera {
    /// A camera, whose first picture is taken at `start`. Panics for a setup
    /// that does not validate.
    #[must_use]
    pub fn new(camera: &CameraSetup, start: Instant, rng: Rng) -> Camera {
        let (adaptation, encoder): (_, Box<dyn FrameEncoder + Send>) = match &camera.source {
            SourceKind::Synthetic(setup) => (
                AdaptationSetup {
                    // It has no pictures, so any size will do.
                    width: 1280,
                    height: 720,
                    fps: setup.frame_rate,
                    degradation: Degradation::Off,
                    quantizers: QuantizerBounds::VP8,
                },
                Box::new(Synthetic::new(*setup, rng)),
            ),
            SourceKind::Model(setup) => (
                AdaptationSetup {
                    width: setup.width,
                    height: setup.height,
                    fps: setup.fps,
                    degradation: camera.degradation,
                    quantizers: (setup.codec.quantizer_bounds())
                        .expect("a setup that was validated"),
                },
                Box::new(Model::new(*setup, rng)),
            ),
        };
        Camera {
            control: EncoderControl::new(&adaptation),
            encoder,
            start,
            fps: adaptation.fps,
            pictures: 0,
        }
    }

    /// The rate to follow from now on.
    pub fn set_target(&mut self, now: Instant, rate: Rate) {
        self.encoder.set_target(now, rate);
    }

    /// When the next picture is taken.
    #[must_use]
    pub fn next_at(&self) -> Instant {
        self.start + Duration::from_secs_f64(self.pictures as f64 / self.fps)
    }

    /// Takes the picture that is due now; `None` when it is left out or dropped.
    pub fn take_frame(&mut self, now: Instant, allowance: &Allowance) -> Option<EncodedFrame> {
        self.pictures += 1;
        let encoding = self.control.on_picture(now, allowance)?;
        let frame = self.encoder.encode(now, &encoding);
        // What has no quantizer has one form only.
        let quantizer = |frame: &EncodedFrame| frame.quality.map_or(0, |q| q.quantizer);
        self.control.on_encoded(frame.as_ref().map(quantizer));
        frame
    }
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

#[cfg(test)]
mod tests;
