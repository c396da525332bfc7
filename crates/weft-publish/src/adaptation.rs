//! Adapts the size and frame rate of a camera's pictures to a low rate.
//!
//! An encoder whose rate is too low for its picture size drops pictures or makes them
//! very coarse. [`Adaptation`] decides before each picture whether to encode it, and at
//! which size; the caller reports what rate control did with it. Two rules lower the size
//! independently, and the smaller size wins:
//!
//! - **the rate**: at the start, after an outage, and as soon as the rate is below half
//!   of the starting rate of a size, pictures get the largest size whose starting rate
//!   fits. They grow when the rate was enough for a larger size throughout [`WINDOW`].
//! - **the quality**: quantizers above the upper bound, or most pictures dropped, lower
//!   the size by a step; quantizers below the lower bound raise it by one.
//!
//! Every change of size costs a keyframe. After a size that lasted only briefly, the wait
//! before the next attempt doubles.
//!
//! The rates and bounds are libwebrtc's, so that a call looks as people expect of WebRTC.

mod ladder;
mod setup;
#[cfg(test)]
mod tests;

use weft_units::{Duration, Instant, QuantizerBounds, Rate};

use ladder::{Ladder, Rung};
pub use setup::{AdaptationSetup, Degradation, Form};

/// Decision about a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Not encoded: the rate is zero, or the frame rate is lowered.
    Skip,
    /// Encoded at the current size.
    Encode,
    /// Encoded at the current size with a keyframe, after the encoder restarts: the state
    /// of its rate control belongs to another size or to the time before an outage.
    Restart,
}

/// Policy for one camera and its encoder.
///
/// Times must not go back. Call [`Adaptation::on_picture`] for each picture, and then
/// [`Adaptation::on_encoded`] unless the picture is skipped.
#[derive(Clone, Debug)]
pub struct Adaptation {
    ladder: Ladder,
    quantizers: QuantizerBounds,
    /// Indexes into the ladder, counted from the top, that the rate and the quality
    /// allow.
    by_rate: usize,
    by_quality: usize,
    window: Option<Window>,
    without_rate_since: Option<Instant>,
    /// Time of the next picture to keep at a lowered frame rate.
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

/// Time over which pictures are measured before their size is judged (libwebrtc,
/// `quality_scaler.cc`: `kMeasureMs`).
const WINDOW: Duration = Duration::from_secs(2);
/// Highest acceptable share of dropped pictures (libwebrtc, `quality_scaler.cc`:
/// `kFramedropPercentThreshold`).
const DROPPED_PERCENT: u32 = 60;
/// Time over which dropped pictures are counted. It is shorter than for quantizers,
/// because the viewer sees nothing new meanwhile; chosen by us: `examples/low_rate` of
/// `weft-media`.
const DROP_WINDOW: Duration = Duration::from_secs(1);
/// A rate below this fraction of a size's starting rate lowers the size at once. Chosen
/// by us: libvpx's floor at 720 lines is about a third of the starting rate for the
/// built-in clip, and half of it for a standard talking head
/// (`docs/protocol/adaptation.md`).
const FALL_DIVISOR: u64 = 2;
/// The encoder restarts after this long without a rate; chosen by us: libvpx's rate
/// control saves up at most one second of the rate.
const OUTAGE: Duration = Duration::from_secs(1);
/// A raised size that had to be lowered again within this time was too large; chosen by
/// us.
const SHORT_LIVED: Duration = Duration::from_secs(10);
/// Longest time before a size is tried again; chosen by us.
const MOST_PATIENCE: Duration = Duration::from_secs(60);

impl Adaptation {
    /// Starts at the largest size, until the first picture with a rate.
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

    /// Returns the current size and frame rate.
    #[must_use]
    pub fn form(&self) -> Form {
        self.rung().form
    }

    /// Decides about a picture that the camera took; `rate` is the encoder's target.
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

    /// Records the quantizer of the picture, or `None` if rate control dropped it.
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

    /// Records that the size or frame rate was lowered.
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

    /// Returns whether a lowered frame rate keeps this picture.
    fn is_due(&mut self, now: Instant) -> bool {
        let Rung { form, thinned, .. } = self.rung();
        if !thinned {
            self.due = None;
            return true;
        }
        let interval = Duration::from_secs_f64(1.0 / form.fps);
        let due = self.due.unwrap_or(now);
        // Cameras deliver pictures a little early or late.
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
