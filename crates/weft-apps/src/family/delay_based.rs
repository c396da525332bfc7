//! Delay-based control: falls below the arriving rate when packets queue, rises when they do
//! not, answers loss without a queue with redundancy, and hangs up when too little
//! arrives.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Controller, Pattern, Plan};
use crate::report_history::ReportHistory;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct DelayBased {
    /// The initial rate, and the time to rise from it to the highest.
    pub start: (Rate, Duration),
    /// Age of the call before which loss makes the rise slow, and the slow rise per
    /// second.
    pub cautious_start: (Duration, f64),
    /// Queueing delay above which it falls after two reports, and delay below which it
    /// rises.
    pub queue: (Duration, Duration),
    /// New rate after a fall, relative to the arriving rate.
    pub falls_to: f64,
    /// Rise per second, and its limit relative to the arriving rate.
    pub rise: (f64, f64),
    /// Loss above which it sends redundancy while the queue is short; the amount relative
    /// to pictures and sound; and its duration.
    pub redundancy: (f64, f64, Duration),
    /// Rate of sound, and its lowest rate.
    pub sound: (Rate, Rate),
    /// Rate below which it sends no pictures.
    pub pictures_from: Rate,
    /// Time after which it hangs up if less than half of the lowest sound rate arrives.
    pub patience: Duration,
    pub frames_per_second: f64,
}

const WINDOW: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Control {
    with: DelayBased,
    highest: Rate,
    start: Instant,
    climb: Climb,
    rate: Rate,
    at: Instant,
    queued_reports: u32,
    redundant_until: Option<Instant>,
    too_little_since: Option<Instant>,
    hung_up: bool,
}

/// Phase of the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Climb {
    Quick,
    Cautious,
    Done,
}

impl Control {
    pub fn new(with: DelayBased, highest: Rate, start: Instant) -> Control {
        Control {
            rate: with.start.0.min(highest),
            with,
            highest,
            start,
            climb: Climb::Quick,
            at: start,
            queued_reports: 0,
            redundant_until: None,
            too_little_since: None,
            hung_up: false,
        }
    }

    fn grow(&mut self, since: f64, arriving: Rate) {
        let rate = match self.climb {
            Climb::Quick => {
                let (from, time) = self.with.start;
                let step = self.highest.saturating_sub(from);
                self.rate + step.mul_f64(since / time.as_secs_f64())
            }
            Climb::Cautious => self.rate.mul_f64(1.0 + self.with.cautious_start.1 * since),
            Climb::Done => {
                let (a_second, above) = self.with.rise;
                let risen = self.rate.mul_f64(1.0 + a_second * since);
                // Without pictures, only sound arrives, even if the capacity allows more.
                let most = arriving.mul_f64(above).max(self.with.pictures_from);
                risen.min(most).max(self.rate)
            }
        };
        self.rate = rate.min(self.highest);
        if self.rate == self.highest {
            self.climb = Climb::Done;
        }
    }

    /// Hangs up if sound has not arrived for too long.
    fn judge(&mut self, now: Instant, arriving: Rate) {
        if arriving >= self.with.sound.1.mul_f64(0.5) {
            self.too_little_since = None;
            return;
        }
        let since = *self.too_little_since.get_or_insert(now);
        self.hung_up |= now.saturating_since(since) >= self.with.patience;
    }
}

impl Controller for Control {
    fn on_report(&mut self, now: Instant, history: &ReportHistory) {
        let since = now.saturating_since(self.at).as_secs_f64();
        self.at = now;
        let Some(last) = history.over(WINDOW) else {
            return;
        };
        let (long, short) = self.with.queue;
        let queue = history.queueing();
        let is_short = queue.is_some_and(|queue| queue < short);
        let (cautious_until, _) = self.with.cautious_start;
        let is_young = now.saturating_since(self.start) < cautious_until;
        if last.loss > 0.0 && is_young && self.climb == Climb::Quick {
            self.climb = Climb::Cautious;
        }
        let (least_loss, _, lasts) = self.with.redundancy;
        let lossy = history.over(Duration::from_secs(5));
        if is_short && lossy.is_some_and(|share| share.loss > least_loss) {
            self.redundant_until = Some(now + lasts);
        }
        // No packet arrived, so the queue does not change.
        let is_long = queue.is_none_or(|queue| queue > long);
        self.queued_reports = if is_long { self.queued_reports + 1 } else { 0 };
        if self.queued_reports >= 2 {
            self.climb = Climb::Done;
            let reached = last.rate.mul_f64(self.with.falls_to);
            self.rate = self.rate.min(reached).max(self.with.sound.1);
        } else if is_short {
            self.grow(since, last.rate);
        }
        self.judge(now, last.rate);
    }

    fn plan(&mut self, now: Instant) -> Plan {
        let (usual, least) = self.with.sound;
        let has_pictures = self.rate >= self.with.pictures_from;
        let sound = match has_pictures {
            true => usual.min(self.rate.mul_f64(0.5)).max(least),
            false => least,
        };
        let video = match has_pictures {
            true => self.rate.saturating_sub(sound),
            false => Rate::ZERO,
        };
        let is_redundant = self.redundant_until.is_some_and(|until| now < until);
        let redundancy = match is_redundant {
            true => (sound + video).mul_f64(self.with.redundancy.1),
            false => Rate::ZERO,
        };
        Plan {
            sound,
            video,
            redundancy,
            pattern: Pattern::frames(self.with.frames_per_second),
            burst: Bytes(0),
            hung_up: self.hung_up,
        }
    }
}
