//! What is decided beside each encoder, before every picture.

#[cfg(test)]
mod tests;

use weft_units::{Instant, Rate};

use crate::adaptation::{Adaptation, AdaptationSetup, Form, Verdict};

/// What a camera's encoder may do: the [`Publisher`](crate::Publisher)'s word to
/// its [`EncoderControl`].
///
/// The counts only rise (and wrap): what was not seen before is news. So the
/// value may be read as seldom and as often as one likes, and each field by
/// itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allowance {
    /// The encoder's target rate. Zero: nothing is encoded.
    pub rate: Rate,
    /// How often too much waited for the network after a picture of this camera
    /// was sent.
    pub overruns: u32,
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
    /// What it may refer to.
    pub start: Start,
}

/// What a picture may refer to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// Earlier pictures.
    Continue,
    /// Nothing: a peer asked for a keyframe.
    Keyframe,
    /// Nothing, and the encoder begins anew: what its rate control remembers is
    /// of another size or of before an outage.
    Restart,
}

/// Decides for one camera's encoder, picture by picture.
///
/// Times must not go back. For each picture [`EncoderControl::on_picture`]; if
/// that has it encoded, [`EncoderControl::on_encoded`] after it, unless the
/// encoder failed.
#[derive(Clone, Debug)]
pub struct EncoderControl {
    adaptation: Adaptation,
    /// Overruns that a picture was left out for.
    overruns: u32,
    /// Keyframe requests that were answered, and those that the picture in the
    /// encoder answers.
    answered: u32,
    answering: u32,
}

impl EncoderControl {
    /// For a camera that has sent nothing yet.
    #[must_use]
    pub fn new(setup: &AdaptationSetup) -> EncoderControl {
        EncoderControl {
            adaptation: Adaptation::new(setup),
            overruns: 0,
            answered: 0,
            answering: 0,
        }
    }

    /// The camera took a picture: how it is to be encoded, or `None` to leave it
    /// out.
    ///
    /// One picture is left out for each overrun, and the next is tried: only a
    /// picture that is sent shows whether there is room again.
    pub fn on_picture(&mut self, now: Instant, allowance: &Allowance) -> Option<Encoding> {
        if self.overruns != allowance.overruns {
            self.overruns = allowance.overruns;
            return None;
        }
        let rate = allowance.rate;
        let verdict = self.adaptation.on_picture(now, rate);
        self.answering = allowance.keyframe_requests;
        let asked = self.answering != self.answered;
        let start = match verdict {
            Verdict::Skip => return None,
            Verdict::Restart => Start::Restart,
            Verdict::Encode if asked => Start::Keyframe,
            Verdict::Encode => Start::Continue,
        };
        Some(Encoding {
            form: self.adaptation.form(),
            rate,
            start,
        })
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
