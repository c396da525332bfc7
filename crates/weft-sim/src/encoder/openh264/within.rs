//! Pictures within a budget, as `weft-media`'s `h264/within.rs` has OpenH264
//! encode them.

use weft_publish::fitting::Seen;
use weft_publish::fitting::h264::{
    COARSEST, DELTA_AIM, DELTA_SLOPE, FINER, KEYFRAME_AIMS, KEYFRAME_SLOPE, PER_OCTAVE, SCATTER,
};

use super::OpenH264;
use crate::encoder::parameters::{H264, VP8};
use crate::encoder::picture::{Outcome, Picture};

impl OpenH264 {
    /// What becomes of a picture that should have so many bits.
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

    /// A keyframe is encoded until it fits. Rate control rests from the second
    /// attempt on, or at all of them.
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

    /// The quantizer of any other picture, if rate control rests for it.
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

    /// At one quantizer the content scatters, and what the reference has already
    /// is spared and stays: where rate control works within the picture this is
    /// not seen, so it is what VP8 shows of the same clip.
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
