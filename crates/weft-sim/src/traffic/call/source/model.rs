use weft_experiment::{ModelSetup, Quality};
use weft_publish::{Adaptation, AdaptationSetup, Degradation, QuantizerBounds, Verdict};
use weft_units::{Duration, Instant, Rate, Rng, VideoCodec};

use super::{EncodedFrame, FrameSource};
use crate::encoder::{Keyframe, ModelEncoder};

/// A camera with the model of a real encoder.
///
/// Pictures come at constant intervals; the encoder may drop some. Their size
/// and frequency adapt to the rate as the product's do, by the same code.
pub struct Model {
    encoder: ModelEncoder,
    adaptation: Adaptation,
    start: Instant,
    pictures: u64,
    fps: f64,
    /// Of the camera.
    height: u32,
    keyframe: Keyframe,
}

impl Model {
    /// With the first picture at `start`. Panics for a setup that does not
    /// validate.
    #[must_use]
    pub fn new(setup: ModelSetup, degradation: Degradation, start: Instant, rng: Rng) -> Model {
        let adaptation = Adaptation::new(&AdaptationSetup {
            width: setup.width,
            height: setup.height,
            fps: setup.fps,
            degradation,
            quantizers: match setup.codec {
                VideoCodec::Vp8 => QuantizerBounds::VP8,
                VideoCodec::H264 => QuantizerBounds::H264,
            },
        });
        Model {
            adaptation,
            encoder: ModelEncoder::new(setup, rng).expect("a setup that was validated"),
            start,
            pictures: 0,
            fps: setup.fps,
            height: setup.height,
            keyframe: Keyframe::Auto,
        }
    }
}

/// PSNR in dB, and `log2(1 - SSIM)`, of pictures of 360 lines that were shrunk
/// to just below their size and grown again; what an octave more of lines adds;
/// and what an octave of shrinking takes. Fitted to the table of
/// `examples/low_rate` of `weft-media`, within 1 dB and 0.4 octaves.
const SHRUNK_PSNR: [f64; 3] = [41.4, 3.2, 5.6];
const SHRUNK_DISSIMILARITY: [f64; 3] = [-5.83, -0.5, -1.42];

impl Model {
    /// PSNR and SSIM against what was filmed, when the encoder's pictures are
    /// smaller: the errors of shrinking and of encoding add up.
    fn seen(&self, psnr_db: f64, ssim: f64) -> (f64, f64) {
        let encoded = self.adaptation.form().height;
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
        let rate = self.encoder.setup().rate;
        let verdict = self.adaptation.on_picture(now, rate);
        if verdict == Verdict::Skip {
            return None;
        }
        let form = self.adaptation.form();
        if verdict == Verdict::Restart {
            let restarted = self.encoder.restart(form.width, form.height);
            restarted.expect("a part of a size that was validated, no smaller than 320 x 180");
        }
        self.encoder.set_fps(form.fps);
        let keyframe = std::mem::replace(&mut self.keyframe, Keyframe::Auto);
        let encoded = self.encoder.encode(now, keyframe);
        self.adaptation.on_encoded(encoded.map(|f| f.quantizer));
        let frame = encoded?;
        let (psnr_db, ssim) = self.seen(frame.psnr_db, frame.ssim);
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
                width: form.width as u16,
                height: form.height as u16,
            }),
        })
    }
}
