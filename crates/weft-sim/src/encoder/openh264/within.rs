//! Pictures within a budget, encoded as `h264/within.rs` of `weft-media` does with
//! OpenH264.

use weft_publish::fitting::Seen;
use weft_publish::fitting::h264::{
    COARSEST, DELTA_AIM, DELTA_SLOPE, FINER, KEYFRAME_AIMS, KEYFRAME_SLOPE, PER_OCTAVE, SCATTER,
};

use super::OpenH264;
use crate::encoder::parameters::{H264, VP8};
use crate::encoder::picture::{Outcome, Picture};

impl OpenH264 {
    /// Encodes a picture with a bit budget.
    pub(super) fn encode_within(
        &mut self,
        picture: Picture,
        noise: f64,
        bits: f64,
    ) -> Option<Outcome> {
        match picture.keyframe {
            true => self.keyframe_within(picture, noise, bits),
            false => match self.delta_quantizer(picture, bits) {
                None => self.controlled(picture, noise),
                Some(quantizer) => Some(self.delta_at(picture, quantizer, noise)),
            },
        }
    }

    /// Encodes a keyframe until it fits. Rate control is off from the second attempt on,
    /// or for all attempts.
    fn keyframe_within(&mut self, picture: Picture, noise: f64, bits: f64) -> Option<Outcome> {
        let last = self.guess.seen(true).filter(|last| last.size > bits);
        let likely = last.map(|last| last.step_for(KEYFRAME_AIMS[0] * bits, KEYFRAME_SLOPE));
        let mut outcome = match likely {
            Some(step) => self.keyframe_at(whole(step * PER_OCTAVE)),
            None => self.controlled(picture, noise)?,
        };
        for aim in &KEYFRAME_AIMS[1..] {
            if outcome.bits <= bits || outcome.quantizer >= COARSEST {
                break;
            }
            let seen = Seen {
                step: outcome.quantizer / PER_OCTAVE,
                size: outcome.bits,
            };
            let wanted = seen.step_for(aim * bits, KEYFRAME_SLOPE) * PER_OCTAVE;
            outcome = self.keyframe_at(whole(wanted.max(outcome.quantizer + 1.0)));
        }
        Some(outcome)
    }

    /// Returns the quantizer of any other picture, if rate control is off for it.
    fn delta_quantizer(&self, picture: Picture, bits: f64) -> Option<f64> {
        let share = self.rate / picture.fps;
        let delta = self.guess.seen(false);
        if bits >= SCATTER * delta.map_or(share, |last| last.size.max(share)) {
            return None;
        }
        let last = delta.or(self.guess.seen(true))?;
        let wanted = last.step_for(DELTA_AIM * bits, DELTA_SLOPE) * PER_OCTAVE;
        Some(whole(wanted.max(last.step * PER_OCTAVE - FINER)))
    }

    /// Encodes at one quantizer. The cost then varies with the content, and a picture
    /// that matches its reference costs less and keeps its quality. Rate control within
    /// the picture hides this variation, so the values are those of VP8 for the same
    /// clip.
    fn delta_at(&self, picture: Picture, quantizer: f64, noise: f64) -> Outcome {
        let step = quantizer / PER_OCTAVE;
        let gap = self.quality.gap(H264.psnr.at(step, self.content.scale));
        let noise = noise * VP8.scatter.sigma / H264.scatter.sigma;
        let spared = VP8.transition.up * gap.max(0.0) + VP8.transition.down * gap.min(0.0);
        let extra = H264.distance * picture.distance + spared + noise;
        Outcome {
            bits: self.cost(&H264.delta_bits, quantizer) * extra.exp2(),
            quantizer,
            psnr: self.quality.after(gap, &VP8.transition),
        }
    }
}

fn whole(quantizer: f64) -> f64 {
    quantizer.ceil().clamp(0.0, COARSEST)
}
