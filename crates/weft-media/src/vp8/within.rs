//! Encodes a picture within a budget: repeats the encoding while the picture is too
//! large.
//!
//! libvpx cannot undo a frame. For a keyframe this is not needed, because another
//! keyframe resets all state and replaces it. Any other frame is encoded so that it
//! changes only one reference buffer, which is copied before and restored afterwards; it
//! changes neither the probabilities of the entropy coder nor the other buffers. The
//! tests compare the encoder's buffers with a decoder's output.

#[cfg(test)]
mod tests;

use weft_publish::fitting::Seen;
use weft_publish::fitting::vp8::{AGAIN_SLOPE, AIMS, KEYFRAME_SLOPE, NEXT_SLOPE, log2_step};
use weft_units::Bytes;

use super::attempt::{Attempt, Bounds, Fitting};
use super::quantizer::{COARSEST, at_least};
use super::raw::RawEncoder;
use crate::Picture;
use crate::coding::{EncodedFrame, VideoError};

/// Encoder of one picture with a budget.
pub(super) struct Within<'a> {
    pub raw: &'a mut RawEncoder,
    pub fitting: &'a mut Fitting,
    pub budget: Bytes,
}

impl Within<'_> {
    /// Encodes a picture within the budget, if possible; `None` if rate control drops it.
    pub fn encode(
        &mut self,
        picture: &Picture,
        keyframe: bool,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        // At least one, for the division.
        let bytes = self.budget.0.max(1) as f64;
        let result = self.first_that_fits(picture, keyframe, bytes);
        let settled = self.raw.set_bounds(Bounds::DEFAULT);
        let settled = settled.and_then(|()| self.raw.tell_target());
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
        let bounds = self.first_bounds(keyframe, bytes, next);
        self.raw.set_bounds(bounds)?;
        let buffer = self.raw.updated_buffer().filter(|_| !keyframe);
        if let Some(buffer) = buffer {
            self.raw.keep(buffer)?;
        }
        let Some(mut frame) = self.raw.attempt(picture, keyframe, Attempt::First)? else {
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
                self.raw.put_back(buffer)?;
            }
            // Rate control counts every attempt; this returns the bits of the discarded
            // attempt to it.
            self.raw.tell_share(size)?;
            self.raw.set_bounds(Bounds {
                finest: quantizer,
                coarsest: quantizer,
                drop_threshold: 0,
            })?;
            let Some(again) = self.raw.attempt(picture, keyframe, Attempt::Again)? else {
                self.fitting.keyframe_due = true;
                return Ok(None);
            };
            frame = EncodedFrame { attempts, ..again };
        }
        Ok(Some(frame))
    }

    /// Returns the default limits with a finest quantizer that is likely to fit.
    fn first_bounds(&self, keyframe: bool, bytes: f64, slope: f64) -> Bounds {
        let Bounds {
            finest,
            coarsest,
            drop_threshold,
        } = Bounds::DEFAULT;
        let last = self.fitting.guess.seen(keyframe);
        let likely = last.map(|last| last.step_for(AIMS[0] * bytes, slope));
        let finest = likely.map_or(finest, |step| at_least(step).max(finest));
        let may_drop = keyframe || self.raw.is_copied();
        Bounds {
            finest,
            coarsest: coarsest.max(finest),
            drop_threshold: if may_drop { drop_threshold } else { 0 },
        }
    }
}
