//! Decisions beside each encoder, before every picture.

#[cfg(test)]
mod tests;

use weft_units::{Bytes, Instant, Rate};

use crate::adaptation::{Adaptation, AdaptationSetup, Form, Verdict};
use crate::request::{FrameRequest, Keyframe};

/// Bounds of a camera's encoder: the [`Publisher`](crate::Publisher)'s word to
/// its [`EncoderControl`].
///
/// The count only rises (and wraps): what was not seen before is news. So the
/// value may be read as seldom and as often as one likes, and each field by
/// itself. The budget is of the moment: it should be no older than a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allowance {
    /// The encoder's target rate. Zero: nothing is encoded.
    pub rate: Rate,
    /// Most bytes that the next picture may have, keyframe or not, to arrive in
    /// time. `None`: no bound but the rate.
    pub budget: Option<Bytes>,
    /// How often a peer asked for a keyframe.
    pub keyframe_requests: u32,
}

/// How a picture is encoded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Encoding {
    /// Size, and pictures per second of the encoder's rate control.
    pub form: Form,
    /// The encoder's target rate, never zero.
    pub rate: Rate,
    /// Most bytes that the picture should have. An encoder that cannot make it so
    /// small makes it as small as it can.
    pub budget: Option<Bytes>,
    /// Pictures that it may refer to.
    pub start: Start,
}

/// Pictures that a picture may refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Earlier pictures.
    Continue,
    /// Nothing: a peer asked for a keyframe.
    Keyframe,
    /// Nothing, and the encoder restarts: what its rate control remembers is
    /// of another size or of before an outage.
    Restart,
}

impl Encoding {
    /// Request to the encoder, after the values of `form`, `rate` and `start`
    /// were set.
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

/// Decides for one camera's encoder, picture by picture.
///
/// Times must not go back. For each picture [`EncoderControl::on_picture`]; if
/// that has it encoded, [`EncoderControl::on_encoded`] after it, unless the
/// encoder failed.
#[derive(Clone, Debug)]
pub struct EncoderControl {
    adaptation: Adaptation,
    /// Pictures in a row that were left out for want of room.
    left_out: u32,
    /// Keyframe requests that were answered, and those that the picture in the
    /// encoder answers.
    answered: u32,
    answering: u32,
    /// Approximate memory of the encoder's rate control.
    usual_rate: Rate,
}

/// A keyframe at less than this part of the usual rate is made by an encoder
/// that restarts: the old one's rate control aims it at what it had. Chosen
/// by us.
const FELL: f64 = 0.7;
/// The usual rate is that of about so many pictures.
const USUAL_PICTURES: u64 = 10;

/// A picture is left out if it may have less than this part of a usual one's
/// bytes. Chosen by us: encoders reach an eighth at best.
const NO_ROOM: f64 = 0.125;
/// At most so many pictures in a row are left out. Chosen by us: a tenth of a
/// second at 30 fps.
const MOST_LEFT_OUT: u32 = 3;

impl EncoderControl {
    /// For a camera that has sent nothing yet.
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

    /// The camera took a picture: how it is to be encoded, or `None` to leave it
    /// out.
    ///
    /// A picture of which next to nothing would arrive in time is left out, but
    /// not many in a row: only a picture that is sent shows whether there is room
    /// again.
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

    /// Whether no encoder would make a picture so small.
    fn has_no_room(&self, allowance: &Allowance) -> bool {
        let fps = self.adaptation.form().fps;
        let share = allowance.rate.as_bps() as f64 / 8.0 / fps;
        allowance
            .budget
            .is_some_and(|Bytes(budget)| (budget as f64) < share * NO_ROOM)
    }

    /// The picture was encoded with this quantizer, or dropped by the encoder's
    /// rate control. A keyframe that was asked for and dropped is still due.
    pub fn on_encoded(&mut self, quantizer: Option<u8>) {
        self.adaptation.on_encoded(quantizer);
        if quantizer.is_some() {
            self.answered = self.answering;
        }
    }
}
