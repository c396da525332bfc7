//! Size and frame rate of a camera's pictures when the rate is low.
//!
//! An encoder that gets too little for its picture size drops pictures or
//! makes mud. [`Adaptation`] says before each picture whether it is encoded,
//! and how large; it hears what rate control made of it. Two things lower the
//! size, independently, and the smaller one holds:
//!
//! - **the rate**: at the beginning, after an outage, and as soon as the rate
//!   is below half of what a size should start with, pictures get the largest
//!   size that may start with the rate. They grow when the rate was enough
//!   for a larger size throughout [`WINDOW`].
//! - **the quality**: quantizers above the upper bound, or most pictures
//!   dropped, lower the size by a step; quantizers below the lower bound raise
//!   it by one.
//!
//! Every change of the size costs a keyframe, so a size that did not last long
//! is tried again only after a time that doubles.
//!
//! The rates and bounds are libwebrtc's, so that a call looks as people expect
//! of WebRTC.

mod ladder;
mod setup;
#[cfg(test)]
mod tests;

use weft_units::{Duration, Instant, QuantizerBounds, Rate};

use ladder::{Ladder, Rung};
pub use setup::{AdaptationSetup, Degradation, Form};

/// Decision on a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Left out: there is no rate, or the frame rate is lowered.
    Skip,
    /// Encoded in the present form.
    Encode,
    /// Encoded in the present form by an encoder that restarts, with a
    /// keyframe: what its rate control remembers is of another size or of
    /// before an outage.
    Restart,
}

/// The policy for one camera and its encoder.
///
/// Times must not go back. For each picture [`Adaptation::on_picture`]; unless
/// that skips it, [`Adaptation::on_encoded`] after it.
#[derive(Clone, Debug)]
pub struct Adaptation {
    ladder: Ladder,
    quantizers: QuantizerBounds,
    /// Rungs from the top that the rate and the quality allow.
    by_rate: usize,
    by_quality: usize,
    window: Option<Window>,
    without_rate_since: Option<Instant>,
    /// When the next picture is taken at a lowered frame rate.
    due: Option<Instant>,
    risen_at: Option<Instant>,
    rise_after: Option<Instant>,
    patience: Duration,
}

/// Events since `start`.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: Instant,
    least_rate: Rate,
    encoded: u32,
    dropped: u32,
    quantizers: u32,
}

/// How long pictures are watched before their size is judged (libwebrtc,
/// `quality_scaler.cc`: `kMeasureMs`).
const WINDOW: Duration = Duration::from_secs(2);
/// More dropped pictures than this are too many (the same:
/// `kFramedropPercentThreshold`).
const DROPPED_PERCENT: u32 = 60;
/// They are noticed sooner than quantizers, since nothing is seen meanwhile;
/// chosen by us: `examples/low_rate` of `weft-media`.
const DROP_WINDOW: Duration = Duration::from_secs(1);
/// A rate below this part of what a size should start with lowers it at once.
/// Chosen by us: libvpx's floor at 720 lines is at about a third of it for the
/// built-in clip, and at half for a standard talking head
/// (`docs/protocol/adaptation.md`).
const FALL_DIVISOR: u64 = 2;
/// Without a rate for this long the encoder restarts; chosen by us: all that
/// libvpx's rate control saves up is one second of the rate.
const OUTAGE: Duration = Duration::from_secs(1);
/// A size that was left again within this time was too large; chosen by us.
const SHORT_LIVED: Duration = Duration::from_secs(10);
/// Longest time until a size is tried again; chosen by us.
const MOST_PATIENCE: Duration = Duration::from_secs(60);

impl Adaptation {
    /// At the largest size, until the first picture with a rate.
    #[must_use]
    pub fn new(setup: &AdaptationSetup) -> Adaptation {
        Adaptation {
            ladder: Ladder::new(setup),
            quantizers: setup.quantizers,
            by_rate: 0,
            by_quality: 0,
            window: None,
            without_rate_since: None,
            due: None,
            risen_at: None,
            rise_after: None,
            patience: WINDOW,
        }
    }

    /// Size and frame rate of pictures now.
    #[must_use]
    pub fn form(&self) -> Form {
        self.rung().form
    }

    /// The camera took a picture, and `rate` is the encoder's target.
    pub fn on_picture(&mut self, now: Instant, rate: Rate) -> Verdict {
        if rate == Rate::ZERO {
            self.without_rate_since.get_or_insert(now);
            return Verdict::Skip;
        }
        let before = self.form();
        let silent = self.without_rate_since.take();
        let outage = silent.is_some_and(|since| now.saturating_since(since) >= OUTAGE);
        let begins = outage || self.window.is_none();
        if begins {
            self.by_rate = self.ladder.largest_for(rate);
            self.by_quality = 0;
            self.rise_after = None;
            self.patience = WINDOW;
            self.restart_window(now, rate);
        } else {
            self.judge(now, rate);
        }
        let form = self.form();
        let resized = (form.width, form.height) != (before.width, before.height);
        let due = self.is_due(now);
        match (begins || resized, due) {
            (true, _) => Verdict::Restart,
            (false, true) => Verdict::Encode,
            (false, false) => Verdict::Skip,
        }
    }

    /// The picture was encoded with this quantizer, or dropped by rate control.
    pub fn on_encoded(&mut self, quantizer: Option<u8>) {
        let Some(window) = &mut self.window else {
            return;
        };
        match quantizer {
            Some(quantizer) => {
                window.encoded += 1;
                window.quantizers += u32::from(quantizer);
            }
            None => window.dropped += 1,
        }
    }

    fn rung(&self) -> Rung {
        self.ladder.rung(self.by_rate.max(self.by_quality))
    }

    fn judge(&mut self, now: Instant, rate: Rate) {
        let Some(window) = &mut self.window else {
            return;
        };
        window.least_rate = window.least_rate.min(rate);
        let window = *window;
        let age = now.saturating_since(window.start);
        let present = self.by_rate.max(self.by_quality);
        let fitting = self.ladder.largest_for(rate);
        let starved = rate.as_bps() < self.ladder.rung(present).needs.as_bps() / FALL_DIVISOR;
        if starved && fitting > present {
            self.by_rate = fitting;
            self.on_fall(now, rate);
        } else if (age >= DROP_WINDOW && window.drops_most())
            || (age >= WINDOW && window.quantizer().is_some_and(|q| q > self.quantizers.high))
        {
            if present < self.ladder.last() {
                self.by_quality = present + 1;
                self.on_fall(now, rate);
            } else {
                self.restart_window(now, rate);
            }
        } else if age >= WINDOW {
            self.rise(now, &window);
            self.restart_window(now, rate);
        }
    }

    fn rise(&mut self, now: Instant, window: &Window) {
        if self.rise_after.is_some_and(|at| now < at) {
            return;
        }
        let present = self.by_rate.max(self.by_quality);
        let by_rate = self.ladder.largest_for(window.least_rate);
        self.by_rate = self.by_rate.min(by_rate);
        let sharp = window.quantizer().is_some_and(|q| q <= self.quantizers.low);
        if sharp && self.by_quality == present {
            self.by_quality = self.by_quality.saturating_sub(1);
        }
        if self.by_rate.max(self.by_quality) < present {
            self.risen_at = Some(now);
        }
    }

    /// The present rung is lower than it was.
    fn on_fall(&mut self, now: Instant, rate: Rate) {
        let risen = self.risen_at.take();
        let short_lived = risen.is_some_and(|at| now.saturating_since(at) < SHORT_LIVED);
        self.patience = match short_lived {
            true => (self.patience * 2).min(MOST_PATIENCE),
            false => WINDOW,
        };
        self.rise_after = Some(now + self.patience);
        self.restart_window(now, rate);
    }

    fn restart_window(&mut self, now: Instant, rate: Rate) {
        self.window = Some(Window {
            start: now,
            least_rate: rate,
            encoded: 0,
            dropped: 0,
            quantizers: 0,
        });
    }

    /// Whether this picture is one of those that a lowered frame rate keeps.
    fn is_due(&mut self, now: Instant) -> bool {
        let Rung { form, thinned, .. } = self.rung();
        if !thinned {
            self.due = None;
            return true;
        }
        let interval = Duration::from_secs_f64(1.0 / form.fps);
        let due = self.due.unwrap_or(now);
        // Cameras' pictures come a little early or late.
        if now + interval / 8 < due {
            return false;
        }
        let late = now.saturating_since(due) > interval;
        self.due = Some(if late { now } else { due } + interval);
        true
    }
}

impl Window {
    fn quantizer(&self) -> Option<u8> {
        let mean = self.quantizers.checked_div(self.encoded)?;
        u8::try_from(mean).ok()
    }

    fn drops_most(&self) -> bool {
        let all = self.encoded + self.dropped;
        self.dropped * 100 > all * DROPPED_PERCENT
    }
}
