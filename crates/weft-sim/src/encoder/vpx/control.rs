//! Quantizer of a picture, the resulting size, and the correction for the next estimate.

use weft_publish::fitting::vp8::log2_step;

use super::quantizer::dc_step;
use super::{Aim, GUESS, KEY_GUESS, LEARNING, Vpx, WORST};
use crate::encoder::parameters::VP8;
use crate::encoder::picture::{Outcome, Picture};

impl Vpx {
    /// Returns the quantizer whose estimated bits are nearest (`vp8_regulate_q`).
    pub(super) fn choose(&self, picture: Picture, aim: &Aim) -> f64 {
        let guess = |quantizer: f64| self.guess(picture, quantizer);
        let mut quantizer = aim.best;
        let mut missed = f64::INFINITY;
        while quantizer <= aim.worst {
            let over = guess(quantizer) - aim.bits;
            if over <= 0.0 {
                let nearer = if -over <= missed {
                    quantizer
                } else {
                    quantizer - 1.0
                };
                return nearer.max(aim.best);
            }
            missed = over;
            quantizer += 1.0;
        }
        aim.worst
    }

    pub(super) fn guess(&self, picture: Picture, quantizer: f64) -> f64 {
        let layer = &self.layers[picture.layer];
        let per_pixel = match picture.keyframe {
            true => KEY_GUESS * layer.key_correction / dc_step(quantizer),
            false => GUESS * layer.correction / log2_step(quantizer).exp2(),
        };
        per_pixel * self.content.pixels
    }

    /// Applies `vp8_update_rate_correction_factors`, `vp8_adjust_key_frame_context` and
    /// the averages in `encode_frame_to_data_rate`.
    pub(super) fn learn(&mut self, picture: Picture, outcome: &Outcome) {
        let ratio = outcome.bits / self.guess(picture, outcome.quantizer);
        let share = self.share(picture.layer, picture.fps);
        let layer = &mut self.layers[picture.layer];
        let correction = match picture.keyframe {
            true => &mut layer.key_correction,
            false => &mut layer.correction,
        };
        if !(0.99..=1.02).contains(&ratio) {
            *correction = (*correction * (1.0 + (ratio - 1.0) / 4.0)).clamp(0.01, 50.0);
        }
        if picture.keyframe {
            self.keyframes += 1;
            self.since_keyframe = 0;
            self.overspent += (outcome.bits - share).max(0.0) * 7.0 / 8.0;
            // estimate_keyframe_frequency starts with two seconds.
            self.repayment = self.overspent / (1.0 + 2.0 * picture.fps);
            return;
        }
        let quantizer = outcome.quantizer;
        layer.recent_quantizer = (3.0 * layer.recent_quantizer + quantizer) / 4.0;
        layer.pictures += 1;
        layer.total_quantizer += quantizer;
        let mean = (layer.total_quantizer / f64::from(layer.pictures)).floor();
        layer.average_quantizer = match layer.pictures > LEARNING {
            true => mean,
            false => ((mean + WORST + 1.0) / 2.0).floor(),
        };
        if quantizer > layer.average_quantizer {
            layer.average_quantizer = quantizer - 1.0;
        }
    }

    /// Returns the cost and quality of the content at this quantizer.
    pub(super) fn outcome(&self, picture: Picture, quantizer: f64, noise: f64) -> Outcome {
        let (step, scale) = (log2_step(quantizer), self.content.scale);
        let (cost, psnr) = if picture.keyframe {
            (VP8.key_bits.at(step, scale), VP8.key_psnr.at(step, scale))
        } else {
            let transition = &VP8.transition;
            let gap = self.quality.gap(VP8.psnr.at(step, scale));
            let extra = transition.up * gap.max(0.0) + transition.down * gap.min(0.0);
            let extra = extra + VP8.distance * picture.distance;
            let cost = VP8.delta_bits.at(step, scale) + extra + noise;
            (cost, self.quality.after(gap, transition))
        };
        Outcome {
            bits: self.content.bits(cost),
            quantizer,
            psnr,
        }
    }
}
