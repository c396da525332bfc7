//! Models of a video encoder and decoder: sizes, quality and dependencies of
//! frames without their pictures.
//!
//! [`ModelEncoder`] has the numbers of real encoders, fitted by a program that
//! runs them (`cargo run -p weft-media --example
//! fit_encoder`). `docs/models/encoder.md` has formulae, parameters and what
//! remains as error. [`ModelDecoder`] says which frames can be shown.
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

mod decoder;
mod layers;
mod model;
mod noise;
mod openh264;
mod pace;
mod parameters;
#[cfg(test)]
mod tests;
mod vpx;

use weft_experiment::{ModelError, ModelSetup};
use weft_units::{Bytes, Instant, Rate, Rng};

pub use decoder::{Decoded, ModelDecoder};
use layers::{Pattern, Place};
use model::Control;
pub use model::EncoderModel;
use noise::Noise;
use pace::Pace;
pub use parameters::{H264, Parameters, Scatter, Surface, Transition, VP8};

/// Whether this picture has to be a keyframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keyframe {
    /// A keyframe, whatever it costs.
    Force,
    /// The first picture only.
    Auto,
}

/// One encoded picture, without its contents.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModelFrame {
    /// From zero, without gaps: dropped pictures have none.
    pub number: u64,
    /// Encoded.
    pub size: Bytes,
    /// Decodable by itself.
    pub keyframe: bool,
    /// Temporal layer, `None` without layers.
    pub temporal_layer: Option<u8>,
    /// Depends on the base layer only (RFC 7741 section 4.2, `Y`).
    pub layer_sync: bool,
    /// No other frame depends on it.
    pub non_reference: bool,
    /// Numbers of the frames that it depends on: in the base layer, and in
    /// the layer above.
    pub needs: [Option<u64>; 2],
    /// Quantizer index: 0 to 127 for VP8, 0 to 51 for H.264. Coarser is
    /// higher.
    pub quantizer: u8,
    /// Luma's peak signal to noise ratio in dB.
    pub psnr_db: f64,
    /// Luma's structural similarity.
    pub ssim: f64,
}

/// A camera's encoder at a constant bit rate that may be changed at any time.
///
/// Times given to [`ModelEncoder::encode`] must not go back.
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

/// The pictures as the rate control sees them.
#[derive(Clone, Copy, Debug)]
struct Picture {
    /// Pictures per second.
    fps: f64,
    layer: usize,
    /// `log2` of the time to the picture that it refers to, in 30ths of a
    /// second.
    distance: f64,
    keyframe: bool,
}

/// What a rate control made of a picture.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    bits: f64,
    /// Quantizer, in the codec's own units.
    quantizer: f64,
    psnr: f64,
}

/// Quality from one reference to the next, in dB.
#[derive(Clone, Copy, Debug, Default)]
struct Quality {
    reference: f64,
}

/// Pictures per second of the fit's runs.
const MEASURED_FPS: f64 = 30.0;
/// Heights that the fit is stretched to beyond those that were measured: 180
/// and 1080 lines.
const LEAST_SCALE: f64 = -1.0;
const MOST_SCALE: f64 = 1.6;

/// What the content costs.
#[derive(Clone, Copy, Debug)]
struct Content {
    pixels: f64,
    /// `log2(height / 360)`, the fit's variable for the resolution.
    scale: f64,
    /// `log2` of the complexity.
    complexity: f64,
}

impl ModelEncoder {
    /// An encoder whose first picture will be a keyframe. All its scatter
    /// comes from `rng`.
    ///
    /// # Errors
    /// [`ModelError`] as [`ModelSetup::validate`].
    pub fn new(setup: ModelSetup, rng: Rng) -> Result<ModelEncoder, ModelError> {
        setup.validate()?;
        let model = EncoderModel::of(setup.codec).ok_or(ModelError::Sound(setup.codec))?;
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

    /// What it stands for, with the present target rate.
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

    /// Pictures per second from the next picture on. Not below 1.
    pub fn set_fps(&mut self, fps: f64) {
        self.setup.fps = fps.max(1.0);
        self.pace.expect(self.setup.fps);
    }

    /// Begins anew with a keyframe and pictures of this size, as real encoders
    /// do that are opened again: rate control forgets everything.
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
    pub fn encode(&mut self, now: Instant, keyframe: Keyframe) -> Option<ModelFrame> {
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

impl Content {
    fn of(setup: &ModelSetup) -> Content {
        Content {
            pixels: f64::from(setup.width) * f64::from(setup.height),
            scale: (f64::from(setup.height) / 360.0)
                .log2()
                .clamp(LEAST_SCALE, MOST_SCALE),
            complexity: setup.complexity.log2(),
        }
    }

    /// Bits of a picture with so many per pixel (as `log2`, at complexity 1),
    /// at most those of the raw one in I420.
    fn bits(&self, per_pixel: f64) -> f64 {
        const RAW: f64 = 12.0;
        (per_pixel + self.complexity).exp2().min(RAW) * self.pixels
    }
}

impl Quality {
    /// Of a keyframe.
    fn restart(&mut self, psnr: f64) -> f64 {
        self.reference = psnr;
        psnr
    }

    /// What the quantizer would give in the long run, above what there is.
    fn gap(&self, long_run: f64) -> f64 {
        long_run - self.reference
    }

    /// Of a delta frame; later ones refer to it if it is in the base layer.
    fn follow(&mut self, gap: f64, transition: &Transition, layer: usize) -> f64 {
        let moved = transition.rise * gap.max(0.0) + transition.fall * gap.min(0.0);
        let psnr = self.reference + moved;
        if layer == 0 {
            self.reference = psnr;
        }
        psnr
    }
}
