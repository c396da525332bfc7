//! Output of a camera with its encoder.

mod model;
mod synthetic;

use weft_experiment::{CameraSetup, ModelSetup, Quality, SourceKind};
use weft_publish::{
    AdaptationSetup, Allowance, Degradation, EncoderControl, Encoding, QuantizerBounds,
};
use weft_units::{Bytes, Duration, Instant, Rate, Rng};

pub use model::Model;
pub use synthetic::Synthetic;

/// Encoder in virtual time.
pub trait FrameEncoder {
    /// Sets the target rate, which applies at once or as soon as the encoder can follow.
    fn set_target(&mut self, now: Instant, rate: Rate);

    /// Encodes a picture captured now; `None` if rate control drops it.
    fn encode(&mut self, now: Instant, encoding: &Encoding) -> Option<EncodedFrame>;
}

/// Camera with its encoder, in virtual time. Pictures have constant intervals; the
/// product's code decides which are encoded, and how.
pub struct Camera {
    control: EncoderControl,
    encoder: Box<dyn FrameEncoder + Send>,
    start: Instant,
    fps: f64,
    pictures: u64,
}

impl Camera {
    /// Creates a camera whose first picture is captured at `start`. Panics for a setup
    /// that does not validate.
    #[must_use]
    pub fn new(camera: &CameraSetup, start: Instant, rng: Rng) -> Camera {
        let (adaptation, encoder): (_, Box<dyn FrameEncoder + Send>) = match &camera.source {
            SourceKind::Synthetic(setup) => (
                AdaptationSetup {
                    // It has no pictures, so any size is valid.
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

    /// Creates a camera whose pictures are scaled to this size before they are encoded, as
    /// one of several encodings. Panics for a setup that does not validate, and for
    /// pictures smaller than 320x180.
    #[must_use]
    pub fn scaled(
        setup: &ModelSetup,
        (width, height): (u32, u32),
        start: Instant,
        rng: Rng,
    ) -> Camera {
        let adaptation = AdaptationSetup {
            width,
            height,
            fps: setup.fps,
            degradation: Degradation::Off,
            quantizers: (setup.codec.quantizer_bounds()).expect("a setup that was validated"),
        };
        Camera {
            control: EncoderControl::new(&adaptation),
            encoder: Box::new(Model::new(*setup, rng)),
            start,
            fps: setup.fps,
            pictures: 0,
        }
    }

    /// Sets the target rate from now on.
    pub fn set_target(&mut self, now: Instant, rate: Rate) {
        self.encoder.set_target(now, rate);
    }

    /// Returns the time of the next picture.
    #[must_use]
    pub fn next_at(&self) -> Instant {
        self.start + Duration::from_secs_f64(self.pictures as f64 / self.fps)
    }

    /// Captures the picture that is due now; `None` if it is skipped or dropped.
    pub fn take_frame(&mut self, now: Instant, allowance: &Allowance) -> Option<EncodedFrame> {
        self.pictures += 1;
        let encoding = self.control.on_picture(now, allowance)?;
        let frame = self.encoder.encode(now, &encoding);
        // An encoder without a quantizer has only one quality.
        let quantizer = |frame: &EncodedFrame| frame.quality.map_or(0, |q| q.quantizer);
        self.control.on_encoded(frame.as_ref().map(quantizer));
        frame
    }
}

/// Encoded frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct EncodedFrame {
    /// Size after encoding.
    pub size: Bytes,
    /// Whether it can be decoded without another frame.
    pub keyframe: bool,
    /// Temporal layer, if there are layers.
    pub temporal_layer: Option<u8>,
    /// Whether it refers to the base layer only.
    pub layer_sync: bool,
    /// Whether no later frame refers to it.
    pub non_reference: bool,
    /// Picture quality, if the model knows it.
    pub quality: Option<Quality>,
}

impl EncodedFrame {
    /// Creates a frame without layers, of unknown quality.
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
