//! A picture within a budget: encoded, and encoded again while it is too large.
//!
//! libvpx cannot take a frame back. A keyframe does not need it: another one replaces it,
//! since it resets all state. Any other frame is encoded so that it changes only one
//! reference buffer, which is copied before and restored after: it does not change the
//! probabilities of the entropy coder or the other buffers. The tests compare the
//! encoder's buffers with a decoder's output.

#[cfg(test)]
mod tests;

use weft_publish::fitting::Seen;
use weft_publish::fitting::vp8::{AGAIN_SLOPE, AIMS, KEYFRAME_SLOPE, NEXT_SLOPE, log2_step};
use weft_units::Bytes;

use super::attempt::{Attempt, Bounds};
use super::encoder::Vp8Encoder;
use super::quantizer::{COARSEST, at_least};
use crate::Picture;
use crate::coding::{EncodedFrame, VideoError};

impl Vp8Encoder {
    /// Encodes a picture in at most this many bytes, if possible; `None` if rate control
    /// drops it.
    pub(super) fn encode_within(
        &mut self,
        picture: &Picture,
        keyframe: bool,
        Bytes(budget): Bytes,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        // At least one, for the calculation.
        let bytes = budget.max(1) as f64;
        let result = self.first_that_fits(picture, keyframe, bytes);
        let settled = self
            .set_bounds(Bounds::DEFAULT)
            .and_then(|()| self.tell_target());
        let result = result.and_then(|frame| settled.map(|()| frame));
        self.fitting.keyframe_due |= result.is_err();
        result
    }

    fn first_that_fits(
        &mut self,
        picture: &Picture,
        keyframe: bool,
        bytes: f64,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        let (next, again) = match keyframe {
            true => (KEYFRAME_SLOPE, KEYFRAME_SLOPE),
            false => (NEXT_SLOPE, AGAIN_SLOPE),
        };
        self.set_bounds(self.first_bounds(keyframe, bytes, next))?;
        let buffer = self.updated_buffer().filter(|_| !keyframe);
        if let Some(buffer) = buffer {
            self.keep(buffer)?;
        }
        let Some(mut frame) = self.attempt(picture, keyframe, Attempt::First)? else {
            return Ok(None);
        };
        for (attempts, aim) in (2..).zip(&AIMS[1..]) {
            let size = frame.data.len() as f64;
            let step = log2_step(frame.quantizer.into());
            let present = at_least(step);
            if size <= bytes || present == COARSEST {
                break;
            }
            let wanted = Seen { step, size }.step_for(aim * bytes, again);
            let quantizer = at_least(wanted).max(present + 1);
            if let Some(buffer) = buffer {
                self.put_back(buffer)?;
            }
            // Rate control counts every attempt: it regains the bits of the discarded
            // attempt for this one.
            self.tell_share(size)?;
            self.set_bounds(Bounds {
                finest: quantizer,
                coarsest: quantizer,
                drop_threshold: 0,
            })?;
            let Some(again) = self.attempt(picture, keyframe, Attempt::Again)? else {
                self.fitting.keyframe_due = true;
                return Ok(None);
            };
            frame = EncodedFrame { attempts, ..again };
        }
        Ok(Some(frame))
    }

    /// Returns the default limits, with a finest quantizer that is likely to fit.
    fn first_bounds(&self, keyframe: bool, bytes: f64, slope: f64) -> Bounds {
        let Bounds {
            finest,
            coarsest,
            drop_threshold,
        } = Bounds::DEFAULT;
        let last = self.fitting.guess.seen(keyframe);
        let likely = last.map(|last| last.step_for(AIMS[0] * bytes, slope));
        let finest = likely.map_or(finest, |step| at_least(step).max(finest));
        let may_drop = keyframe || self.fitting.copied;
        Bounds {
            finest,
            coarsest: coarsest.max(finest),
            drop_threshold: if may_drop { drop_threshold } else { 0 },
        }
    }
}
