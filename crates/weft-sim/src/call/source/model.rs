use weft_units::{Duration, Instant, Rate, Rng};

use super::{EncodedFrame, FrameSource, Quality};
use crate::encoder::{Keyframe, ModelEncoder, ModelSetup};

/// A camera with the model of a real encoder.
///
/// Pictures come at constant intervals; the encoder may drop some.
pub struct Model {
    encoder: ModelEncoder,
    start: Instant,
    pictures: u64,
    fps: f64,
    keyframe: Keyframe,
}

impl Model {
    /// With the first picture at `start`. Panics for a setup that does not
    /// validate.
    #[must_use]
    pub fn new(setup: ModelSetup, start: Instant, rng: Rng) -> Model {
        Model {
            encoder: ModelEncoder::new(setup, rng).expect("a setup that was validated"),
            start,
            pictures: 0,
            fps: setup.fps,
            keyframe: Keyframe::Auto,
        }
    }
}

impl FrameSource for Model {
    fn set_target(&mut self, _now: Instant, rate: Rate) {
        self.encoder.set_rate(rate);
    }

    fn request_keyframe(&mut self, _now: Instant) {
        self.keyframe = Keyframe::Force;
    }

    fn next_at(&self) -> Instant {
        self.start + Duration::from_secs_f64(self.pictures as f64 / self.fps)
    }

    fn take_frame(&mut self, now: Instant) -> Option<EncodedFrame> {
        self.pictures += 1;
        // As the product's encoder thread: without a rate nothing is encoded.
        if self.encoder.setup().rate == Rate::ZERO {
            return None;
        }
        let keyframe = std::mem::replace(&mut self.keyframe, Keyframe::Auto);
        let frame = self.encoder.encode(now, keyframe)?;
        Some(EncodedFrame {
            size: frame.size,
            keyframe: frame.keyframe,
            temporal_layer: frame.temporal_layer,
            layer_sync: frame.layer_sync,
            non_reference: frame.non_reference,
            quality: Some(Quality {
                quantizer: frame.quantizer,
                psnr_db: frame.psnr_db as f32,
                ssim: frame.ssim as f32,
            }),
        })
    }
}
