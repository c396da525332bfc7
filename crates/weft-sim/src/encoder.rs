//! Models of a video encoder and decoder: sizes, quality and dependencies of
//! frames without their pictures.
//!
//! [`ModelEncoder`] reproduces measurements of real encoders; a program that runs them
//! fits the parameters (`cargo run -p weft-media --example fit_encoder`).
//! `docs/models/encoder.md` has formulae, parameters and the remaining error.
//! [`ModelDecoder`] determines which frames can be shown.
//!
//! ```
//! use weft_experiment::ModelSetup;
//! use weft_sim::encoder::{Keyframe, ModelEncoder};
//! use weft_units::{Duration, Instant, Rate, Rng, Codec};
//!
//! let setup = ModelSetup::new(Codec::Vp8, 1280, 720, Rate::from_kbps(1500));
//! let mut encoder = ModelEncoder::new(setup, Rng::new(1)).expect("a size that can be encoded");
//! let first = encoder.encode(Instant::ZERO, Keyframe::Auto).expect("never dropped");
//! let second = encoder.encode(Instant::ZERO + Duration::from_millis(33), Keyframe::Auto);
//! assert!(first.keyframe && second.is_none_or(|frame| !frame.keyframe));
//! ```

mod brisque;
mod decoder;
mod frame;
mod layers;
mod model;
mod noise;
mod openh264;
mod pace;
mod parameters;
mod picture;
#[cfg(test)]
mod tests;
mod vpx;

use weft_experiment::{ModelError, ModelSetup};
pub use weft_publish::{FrameRequest, Keyframe};
use weft_units::{Bytes, Instant, Rate, Rng};

pub use brisque::brisque;
pub use decoder::{Decoded, ModelDecoder};
pub use frame::ModelFrame;
use layers::{Pattern, Place};
use model::Control;
pub use model::EncoderModel;
use noise::Noise;
use pace::Pace;
pub use parameters::{H264, Parameters, Scatter, Surface, Transition, VP8};
use picture::{Content, Outcome, Picture};

/// Camera's encoder at a constant bit rate, which may change at any time.
///
/// Times passed to [`ModelEncoder::encode`] must not decrease.
#[derive(Clone, Debug)]
pub struct ModelEncoder {
    setup: ModelSetup,
    model: &'static EncoderModel,
    control: Control,
    pattern: Pattern,
    pace: Pace,
    scale: f64,
    started: bool,
}

/// Pictures per second of the fit's runs.
const MEASURED_FPS: f64 = 30.0;
impl ModelEncoder {
    /// Creates an encoder whose first picture will be a keyframe. All its random
    /// deviations come from `rng`.
    ///
    /// # Errors
    /// A [`ModelError`] of [`ModelSetup::validate`].
    pub fn new(setup: ModelSetup, rng: Rng) -> Result<ModelEncoder, ModelError> {
        setup.validate()?;
        let model = EncoderModel::of(setup.codec).ok_or(ModelError::NoModel(setup.codec))?;
        let content = Content::of(&setup);
        let noise = Noise::new(model.parameters.scatter, rng);
        Ok(ModelEncoder {
            setup,
            model,
            control: model.control(&setup, content, noise),
            pattern: Pattern::new(setup.temporal_layers),
            pace: Pace::new(setup.fps),
            scale: content.scale,
            started: false,
        })
    }

    /// Returns the setup, with the current target rate.
    #[must_use]
    pub fn setup(&self) -> &ModelSetup {
        &self.setup
    }

    /// Changes the target rate from the next picture on. Less than 1 kbps
    /// counts as 1 kbps.
    pub fn set_rate(&mut self, rate: Rate) {
        if rate == self.setup.rate {
            return;
        }
        self.setup.rate = rate;
        self.control.set_rate(rate);
    }

    /// Sets the pictures per second from the next picture on; at least 1.
    pub fn set_fps(&mut self, fps: f64) {
        self.setup.fps = fps.max(1.0);
        self.pace.expect(self.setup.fps);
    }

    /// Restarts with a keyframe and pictures of this size, like a real encoder that is
    /// reopened: rate control loses its state.
    ///
    /// # Errors
    /// [`ModelError::Size`] for a size that cannot be encoded; nothing changes.
    pub fn restart(&mut self, width: u32, height: u32) -> Result<(), ModelError> {
        let setup = ModelSetup {
            width,
            height,
            ..self.setup
        };
        setup.validate()?;
        let content = Content::of(&setup);
        let noise = self.control.noise().clone();
        self.control = self.model.control(&setup, content, noise);
        self.pace = Pace::new(setup.fps);
        self.scale = content.scale;
        self.setup = setup;
        self.started = false;
        Ok(())
    }

    /// Encodes the picture taken at `now`; `None` when rate control drops it.
    /// Keyframes are never dropped.
    pub fn encode(&mut self, now: Instant, request: impl Into<FrameRequest>) -> Option<ModelFrame> {
        let FrameRequest { keyframe, budget } = request.into();
        let keyframe = keyframe == Keyframe::Force || !self.started;
        self.started = true;
        if keyframe {
            self.pattern.restart();
        }
        let fps = self.pace.on_picture(now);
        let picture = Picture {
            fps,
            layer: self.pattern.layer().into(),
            distance: (self.pattern.distance() * MEASURED_FPS / fps).log2(),
            keyframe,
            budget: budget.map(|Bytes(bytes)| 8.0 * bytes.max(1) as f64),
        };
        let outcome = self.control.encode(picture)?;
        let place = self.pattern.advance(keyframe);
        Some(self.frame(keyframe, place, outcome))
    }

    fn frame(&self, keyframe: bool, place: Place, outcome: Outcome) -> ModelFrame {
        let parameters = &self.model.parameters;
        let coarsest = self.setup.codec.coarsest_quantizer().unwrap_or(u8::MAX);
        let dissimilarity = parameters.dissimilarity.at(outcome.psnr, self.scale).exp2();
        ModelFrame {
            number: place.number,
            size: Bytes((outcome.bits / 8.0).round().max(1.0) as u64),
            keyframe,
            temporal_layer: place.layer,
            layer_sync: place.layer_sync,
            non_reference: place.non_reference,
            needs: place.needs,
            quantizer: outcome.quantizer.round().clamp(0.0, coarsest.into()) as u8,
            psnr_db: outcome.psnr,
            ssim: 1.0 - dissimilarity.min(1.0),
        }
    }
}
