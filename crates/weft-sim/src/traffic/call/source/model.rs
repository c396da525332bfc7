use weft_experiment::{ModelSetup, Quality};
use weft_publish::{Encoding, Start};
use weft_units::{Codec, Instant, Rate, Rng};

use super::{EncodedFrame, FrameEncoder};
use crate::encoder::{ModelEncoder, brisque};

/// Model of a real encoder.
pub struct Model {
    encoder: ModelEncoder,
    codec: Codec,
    /// Height of the camera's pictures.
    height: u32,
}

impl Model {
    /// Creates a model. Panics for a setup that does not validate.
    #[must_use]
    pub fn new(setup: ModelSetup, rng: Rng) -> Model {
        Model {
            codec: setup.codec,
            height: setup.height,
            encoder: ModelEncoder::new(setup, rng).expect("a setup that was validated"),
        }
    }
}

/// PSNR in dB, and `log2(1 - SSIM)`, of pictures of 360 lines that were downscaled to
/// just below their size and upscaled again; their increase per octave of lines; and
/// their decrease per octave of downscaling. Fitted to the table of `examples/low_rate`
/// of `weft-media`, within 1 dB and 0.4 octaves.
const SHRUNK_PSNR: [f64; 3] = [41.4, 3.2, 5.6];
const SHRUNK_DISSIMILARITY: [f64; 3] = [-5.83, -0.5, -1.42];

impl Model {
    /// Returns PSNR and SSIM relative to the captured picture if the encoder's pictures
    /// are smaller: the errors of scaling and of encoding add up.
    fn seen(&self, encoded: u32, psnr_db: f64, ssim: f64) -> (f64, f64) {
        if encoded == self.height {
            return (psnr_db, ssim);
        }
        let lines = (f64::from(self.height) / 360.0).log2();
        let shrunk = (f64::from(encoded) / f64::from(self.height)).log2();
        let at = |[base, by_lines, by_size]: [f64; 3]| base + by_lines * lines + by_size * shrunk;
        let error = |db: f64| 10_f64.powf(-db / 10.0);
        let psnr_db = -10.0 * (error(psnr_db) + error(at(SHRUNK_PSNR))).log10();
        let dissimilarity = 1.0 - ssim + at(SHRUNK_DISSIMILARITY).exp2();
        (psnr_db, (1.0 - dissimilarity).max(0.0))
    }
}

impl FrameEncoder for Model {
    fn set_target(&mut self, _now: Instant, rate: Rate) {
        self.encoder.set_rate(rate);
    }

    fn encode(&mut self, now: Instant, encoding: &Encoding) -> Option<EncodedFrame> {
        let Encoding {
            form, rate, start, ..
        } = *encoding;
        self.encoder.set_rate(rate);
        if start == Start::Restart {
            let restarted = self.encoder.restart(form.width, form.height);
            restarted.expect("a part of a size that was validated, no smaller than 320 x 180");
        }
        self.encoder.set_fps(form.fps);
        let frame = self.encoder.encode(now, encoding.request())?;
        let (psnr_db, ssim) = self.seen(form.height, frame.psnr_db, frame.ssim);
        let share = f64::from(form.height) / f64::from(self.height);
        let brisque = brisque(self.codec, f64::from(frame.quantizer), share);
        Some(EncodedFrame {
            size: frame.size,
            keyframe: frame.keyframe,
            temporal_layer: frame.temporal_layer,
            layer_sync: frame.layer_sync,
            non_reference: frame.non_reference,
            quality: Some(Quality {
                quantizer: frame.quantizer,
                psnr_db: psnr_db as f32,
                ssim: ssim as f32,
                brisque: brisque.unwrap_or_default() as f32,
                width: form.width as u16,
                height: form.height as u16,
            }),
        })
    }
}
