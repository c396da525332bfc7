//! Encodes a picture within a budget.
//!
//! OpenH264 follows a new rate within a picture, but by at most five quantizers, and its
//! keyframes stop at quantizer 40. Rate control is therefore off for a picture that would
//! be too large, and the quantizer is estimated from the size of the last frame. A
//! keyframe that is too large is encoded again, because another keyframe replaces it. No
//! other frame can be undone.

use openh264::Timestamp;
use openh264_sys2::{RC_BITRATE_MODE, RC_OFF_MODE};
use weft_publish::fitting::h264::{
    COARSEST, DELTA_AIM, DELTA_SLOPE, FINER, KEYFRAME_AIMS, KEYFRAME_SLOPE, PER_OCTAVE, SCATTER,
};
use weft_publish::fitting::{Seen, SizeGuess};
use weft_units::Bytes;

use super::raw::RawEncoder;
use crate::Picture;
use crate::coding::{EncodedFrame, VideoError};

/// Encoder of one picture with a budget.
pub(super) struct Within<'a> {
    pub raw: &'a mut RawEncoder,
    pub guess: SizeGuess,
    pub budget: Bytes,
}

impl Within<'_> {
    /// Encodes a picture within the budget, as far as its size is predictable; `None` if
    /// rate control drops it.
    pub fn encode(
        &mut self,
        picture: &Picture,
        at: Timestamp,
        keyframe: bool,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        // At least one, for the division.
        let bytes = self.budget.0.max(1) as f64;
        let mut quantizer = match keyframe {
            true => self.keyframe_quantizer(bytes),
            false => self.delta_quantizer(bytes),
        };
        let mut attempts = 1_u8;
        loop {
            let Some(frame) = self.attempt_at(picture, at, keyframe, quantizer)? else {
                return Ok(None);
            };
            let (size, present) = (frame.data.len() as f64, f64::from(frame.quantizer));
            let last = !keyframe || usize::from(attempts) == KEYFRAME_AIMS.len();
            if size <= bytes || last || present >= COARSEST {
                return Ok(Some(EncodedFrame { attempts, ..frame }));
            }
            let aim = KEYFRAME_AIMS[usize::from(attempts)] * bytes;
            let seen = Seen {
                step: present / PER_OCTAVE,
                size,
            };
            let wanted = seen.step_for(aim, KEYFRAME_SLOPE) * PER_OCTAVE;
            quantizer = Some(wanted.max(present + 1.0));
            attempts += 1;
        }
    }

    /// Returns the quantizer of a keyframe, if rate control's is likely to be too fine.
    fn keyframe_quantizer(&self, bytes: f64) -> Option<f64> {
        let last = self.guess.seen(true).filter(|last| last.size > bytes)?;
        Some(last.step_for(KEYFRAME_AIMS[0] * bytes, KEYFRAME_SLOPE) * PER_OCTAVE)
    }

    /// Returns the quantizer of any other picture, if rate control's is likely to be too
    /// fine.
    fn delta_quantizer(&self, bytes: f64) -> Option<f64> {
        let config = self.raw.config();
        let share = config.rate.as_bps() as f64 / 8.0 / f64::from(config.fps);
        let delta = self.guess.seen(false);
        if bytes >= SCATTER * delta.map_or(share, |last| last.size.max(share)) {
            return None;
        }
        // The first picture after a keyframe is no larger than the keyframe.
        let last = delta.or(self.guess.seen(true))?;
        let wanted = last.step_for(DELTA_AIM * bytes, DELTA_SLOPE) * PER_OCTAVE;
        Some(wanted.max(last.step * PER_OCTAVE - FINER))
    }

    /// Encodes with this quantizer, or with rate control.
    fn attempt_at(
        &mut self,
        picture: &Picture,
        at: Timestamp,
        keyframe: bool,
        quantizer: Option<f64>,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        let Some(quantizer) = quantizer else {
            return self.raw.attempt(picture, at, keyframe);
        };
        let quantizer = quantizer.ceil().clamp(0.0, COARSEST) as i32;
        self.raw.set_quantizer(quantizer)?;
        self.raw.set_mode(RC_OFF_MODE)?;
        let frame = self.raw.attempt(picture, at, keyframe);
        self.raw.set_mode(RC_BITRATE_MODE)?;
        frame
    }
}
