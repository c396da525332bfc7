//! Pictures within a budget, encoded as `vp8/within.rs` of `weft-media` does with libvpx.

use weft_publish::fitting::Seen;
use weft_publish::fitting::vp8::{AGAIN_SLOPE, AIMS, KEYFRAME_SLOPE, NEXT_SLOPE, log2_step};

use super::{Aim, Vpx};
use crate::encoder::picture::{Outcome, Picture};

/// Coarsest quantizer of the codec; without a budget it is `WORST`.
const COARSEST: f64 = 127.0;

impl Vpx {
    /// Chooses a quantizer that fits, if there is one. Rate control learns from every
    /// attempt, and is charged only for the last one.
    pub(super) fn encode_within(
        &mut self,
        picture: Picture,
        aim: &Aim,
        noise: f64,
        bits: f64,
    ) -> Outcome {
        let (next, again) = match picture.keyframe {
            true => (KEYFRAME_SLOPE, KEYFRAME_SLOPE),
            false => (NEXT_SLOPE, AGAIN_SLOPE),
        };
        let likely = self.guess.seen(picture.keyframe);
        let finest = likely.map_or(0.0, |seen| at_least(seen.step_for(AIMS[0] * bits, next)));
        let mut outcome = self.outcome(picture, self.choose(picture, aim).max(finest), noise);
        for aim in &AIMS[1..] {
            if outcome.bits <= bits || outcome.quantizer >= COARSEST {
                break;
            }
            self.learn(picture, &outcome);
            let seen = Seen {
                step: log2_step(outcome.quantizer),
                size: outcome.bits,
            };
            let wanted = at_least(seen.step_for(aim * bits, again));
            let quantizer = wanted.max(outcome.quantizer + 1.0);
            outcome = self.outcome(picture, quantizer.min(COARSEST), noise);
        }
        outcome
    }
}

/// Returns the finest quantizer whose step is at least this, or the coarsest.
fn at_least(log2: f64) -> f64 {
    let mut indices = (0..COARSEST as u32).map(f64::from);
    let found = indices.find(|index| log2_step(*index) >= log2);
    found.unwrap_or(COARSEST)
}
