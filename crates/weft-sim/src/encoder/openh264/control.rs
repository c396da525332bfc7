//! Rate control.

use weft_publish::fitting::h264::{COARSEST, PER_OCTAVE};

use super::{
    BEST, BISECTIONS, GROUP, INITIAL, INITIAL_AT, INITIAL_BEST, INITIAL_SLOPE, KEYFRAME,
    KEYFRAME_ABOVE, LEAST, OpenH264, SKIP,
};
use crate::encoder::parameters::{H264, Surface};
use crate::encoder::picture::{Outcome, Picture};

impl OpenH264 {
    /// Encodes a picture with rate control.
    pub(super) fn controlled(&mut self, picture: Picture, noise: f64) -> Option<Outcome> {
        let share = self.rate / picture.fps;
        let indebted = self.backlog > SKIP * share;
        if indebted && !picture.keyframe && !self.skipped {
            self.skipped = true;
            self.backlog -= share;
            return None;
        }
        self.skipped = false;
        if picture.keyframe || self.pictures_left == 0 {
            self.budget = share * f64::from(GROUP);
            self.pictures_left = GROUP;
        }
        let outcome = match picture.keyframe {
            true => self.keyframe(share),
            false => self.delta(share, H264.distance * picture.distance, noise),
        };
        let bits = outcome.bits;
        // A keyframe is charged no more than its planned bits.
        self.budget -= match picture.keyframe {
            true => bits.min(KEYFRAME * share),
            false => bits,
        };
        self.pictures_left -= 1;
        self.backlog = (self.backlog + bits - share).max(0.0);
        Some(outcome)
    }

    pub(super) fn keyframe(&mut self, share: f64) -> Outcome {
        let per_pixel = share / self.content.pixels / self.content.complexity.exp2();
        let initial = INITIAL - INITIAL_SLOPE * (per_pixel / INITIAL_AT).log2();
        let initial = initial.clamp(INITIAL_BEST, INITIAL);
        let quantizer = match self.started {
            false => initial,
            true => {
                let aim = self.quantizer(&H264.key_bits, KEYFRAME * share);
                aim.min(initial + KEYFRAME_ABOVE)
            }
        };
        self.started = true;
        self.keyframe_at(quantizer)
    }

    pub(super) fn keyframe_at(&self, quantizer: f64) -> Outcome {
        Outcome {
            bits: self.cost(&H264.key_bits, quantizer),
            quantizer,
            psnr: H264.key_psnr.at(quantizer / PER_OCTAVE, self.content.scale),
        }
    }

    pub(super) fn delta(&self, share: f64, extra: f64, noise: f64) -> Outcome {
        let equal = self.budget / f64::from(self.pictures_left);
        // The cost of the distance reduces the bits for quality.
        let aim = equal.max(LEAST * share) / extra.exp2();
        let quantizer = self.quantizer(&H264.delta_bits, aim);
        let long_run = H264.psnr.at(quantizer / PER_OCTAVE, self.content.scale);
        let gap = self.quality.gap(long_run);
        Outcome {
            bits: self.cost(&H264.delta_bits, quantizer) * (extra + noise).exp2(),
            quantizer,
            psnr: self.quality.after(gap, &H264.transition),
        }
    }

    pub(super) fn cost(&self, curve: &Surface, quantizer: f64) -> f64 {
        self.content
            .bits(curve.at(quantizer / PER_OCTAVE, self.content.scale))
    }

    /// Returns the quantizer whose mean bits equal the aim, by bisection; a fraction
    /// represents quantizers that vary within the picture.
    pub(super) fn quantizer(&self, curve: &Surface, aim: f64) -> f64 {
        let (mut finer, mut coarser) = (BEST, COARSEST);
        for _ in 0..BISECTIONS {
            let middle = (finer + coarser) / 2.0;
            if self.cost(curve, middle) > aim {
                finer = middle;
            } else {
                coarser = middle;
            }
        }
        coarser
    }
}
