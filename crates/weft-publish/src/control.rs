//! Decisions next to each encoder, before every picture.

#[cfg(test)]
mod tests;

use weft_units::{Bytes, Instant, Rate};

use crate::adaptation::{Adaptation, AdaptationSetup, Form, Verdict};
use crate::request::{FrameRequest, Keyframe};

/// Limits for a camera's encoder, passed from the [`Publisher`](crate::Publisher) to its
/// [`EncoderControl`].
///
/// The keyframe count only rises (and wraps), so a count that differs from the last one
/// means new requests. You may read the value at any interval, and each field
/// independently. The budget applies to the moment: it should be no older than one
/// picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allowance {
    /// Target rate of the encoder. Zero stops encoding.
    pub rate: Rate,
    /// Largest size of the next picture, keyframe or not, that arrives in time. `None`:
    /// only the rate bounds it.
    pub budget: Option<Bytes>,
    /// Number of keyframe requests by peers.
    pub keyframe_requests: u32,
}

/// Settings for one picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Encoding {
    /// Size, and frame rate that the encoder's rate control assumes.
    pub form: Form,
    /// Target rate of the encoder, never zero.
    pub rate: Rate,
    /// Largest size that the picture should have. An encoder that cannot reach it makes
    /// the picture as small as it can.
    pub budget: Option<Bytes>,
    /// Pictures that it may refer to.
    pub start: Start,
}

/// References that a picture may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Earlier pictures.
    Continue,
    /// Nothing: a peer asked for a keyframe.
    Keyframe,
    /// Nothing, and the encoder restarts: the state of its rate control belongs to
    /// another size or to the time before an outage.
    Restart,
}

impl Encoding {
    /// Returns the request to the encoder. Set `form`, `rate` and `start` on the encoder
    /// first.
    #[must_use]
    pub fn request(&self) -> FrameRequest {
        FrameRequest {
            keyframe: match self.start {
                Start::Continue => Keyframe::Auto,
                Start::Keyframe | Start::Restart => Keyframe::Force,
            },
            budget: self.budget,
        }
    }
}

/// Picture-by-picture decisions for one camera's encoder.
///
/// Times must not go back. Call [`EncoderControl::on_picture`] for each picture. If it
/// returns an encoding, call [`EncoderControl::on_encoded`] afterwards, unless the
/// encoder failed.
#[derive(Clone, Debug)]
pub struct EncoderControl {
    adaptation: Adaptation,
    /// Consecutive pictures that were left out for lack of room.
    left_out: u32,
    /// Keyframe requests already answered, and those that the picture being encoded will
    /// answer.
    answered: u32,
    answering: u32,
    /// Estimate of the rate that the encoder's rate control remembers.
    usual_rate: Rate,
}

/// Below this fraction of the usual rate, a keyframe also restarts the encoder: its rate
/// control would still aim the keyframe at the earlier rate. Chosen by us.
const FELL: f64 = 0.7;
/// Number of pictures over which the usual rate is averaged.
const USUAL_PICTURES: u64 = 10;

/// A picture is left out if its budget is below this fraction of a usual picture's size.
/// Chosen by us: encoders reach an eighth at best.
const NO_ROOM: f64 = 0.125;
/// Most consecutive pictures that are left out. Chosen by us: a tenth of a second at 30
/// fps.
const MOST_LEFT_OUT: u32 = 3;

impl EncoderControl {
    /// Creates the control for a camera that has sent nothing yet.
    #[must_use]
    pub fn new(setup: &AdaptationSetup) -> EncoderControl {
        EncoderControl {
            adaptation: Adaptation::new(setup),
            left_out: 0,
            answered: 0,
            answering: 0,
            usual_rate: Rate::ZERO,
        }
    }

    /// Returns how to encode a picture that the camera took, or `None` to leave it out.
    ///
    /// A picture is left out if almost none of it would arrive in time, but never many in
    /// a row: only a sent picture shows whether there is room again.
    pub fn on_picture(&mut self, now: Instant, allowance: &Allowance) -> Option<Encoding> {
        let rate = allowance.rate;
        if self.left_out < MOST_LEFT_OUT && self.has_no_room(allowance) {
            self.left_out += 1;
            return None;
        }
        self.left_out = 0;
        let verdict = self.adaptation.on_picture(now, rate);
        self.answering = allowance.keyframe_requests;
        let asked = self.answering != self.answered;
        let fell = rate < self.usual_rate.mul_f64(FELL);
        let start = match verdict {
            Verdict::Skip => return None,
            Verdict::Restart => Start::Restart,
            Verdict::Encode if asked && fell => Start::Restart,
            Verdict::Encode if asked => Start::Keyframe,
            Verdict::Encode => Start::Continue,
        };
        let usual = self.usual_rate.as_bps() * (USUAL_PICTURES - 1) + rate.as_bps();
        self.usual_rate = match start {
            Start::Restart => rate,
            Start::Continue | Start::Keyframe => Rate::from_bps(usual / USUAL_PICTURES),
        };
        Some(Encoding {
            form: self.adaptation.form(),
            rate,
            budget: allowance.budget,
            start,
        })
    }

    /// Returns whether the budget is smaller than any encoder can reach.
    fn has_no_room(&self, allowance: &Allowance) -> bool {
        let fps = self.adaptation.form().fps;
        let share = allowance.rate.as_bps() as f64 / 8.0 / fps;
        allowance
            .budget
            .is_some_and(|Bytes(budget)| (budget as f64) < share * NO_ROOM)
    }

    /// Records the quantizer of the picture, or `None` if the encoder's rate control
    /// dropped it. A requested keyframe that was dropped stays due.
    pub fn on_encoded(&mut self, quantizer: Option<u8>) {
        self.adaptation.on_encoded(quantizer);
        if quantizer.is_some() {
            self.answered = self.answering;
        }
    }
}
