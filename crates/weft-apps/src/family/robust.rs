//! Robust: keeps its rate despite delay and light loss, and answers light loss with more
//! redundancy. It falls to the arriving rate after heavy loss, and rises only after a
//! burst that arrived completely.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Controller, Pattern, Plan};
use crate::report_history::ReportHistory;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Robust {
    pub sound: Rate,
    /// Redundancy relative to pictures.
    pub redundancy: f64,
    pub frames_per_second: f64,
    /// Share of received bytes below which it falls, and the number of consecutive
    /// reports that must show it.
    pub arrives: (f64, u32),
    /// New rate after a fall, relative to the arriving rate.
    pub falls_to: f64,
    /// Range of loss that triggers more redundancy, and the time over which loss is
    /// measured.
    pub light_loss: (f64, f64, Duration),
    pub added_redundancy: Rate,
    /// Time without loss before a burst.
    pub quiet: Duration,
    pub burst: Bytes,
    /// Increase after a burst that arrived completely, and the wait before the next
    /// burst.
    pub rise_after_whole: (Rate, Duration),
    /// Increase after a burst that arrived in part, and the wait before the next burst.
    pub rise_after_part: (Rate, Duration),
}

/// Time that reports cover: the receiver's window.
const WINDOW: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Control {
    with: Robust,
    highest: Rate,
    lowest: Rate,
    rate: Rate,
    added: Rate,
    poor_reports: u32,
    lossless_since: Option<Instant>,
    probe: Probe,
}

#[derive(Clone, Copy, Debug)]
enum Probe {
    /// No burst before this time.
    NotBefore(Instant),
    /// Burst due with the next packets.
    Due,
    /// Burst sent; loss since then decides its result.
    Sent(Instant),
}

impl Control {
    pub fn new(with: Robust, highest: Rate, lowest: Rate) -> Control {
        Control {
            with,
            highest,
            lowest,
            rate: highest,
            added: Rate::ZERO,
            poor_reports: 0,
            lossless_since: None,
            probe: Probe::NotBefore(Instant::ZERO),
        }
    }

    fn fall(&mut self, now: Instant, arrived: f64, rate: Rate) {
        let (least, reports) = self.with.arrives;
        self.poor_reports = match arrived < least {
            true => self.poor_reports + 1,
            false => 0,
        };
        if self.poor_reports < reports {
            return;
        }
        // The loss that caused the fall stays in the window for this long.
        self.poor_reports = 0;
        let reached = rate.mul_f64(self.with.falls_to);
        self.rate = self.rate.min(reached).max(self.lowest);
        self.probe = Probe::NotBefore(now + self.with.quiet);
    }

    fn rise(&mut self, now: Instant) {
        let quiet = self.with.quiet;
        let lossless = self
            .lossless_since
            .is_some_and(|at| now.saturating_since(at) >= quiet);
        match self.probe {
            Probe::NotBefore(at) if now >= at && lossless && self.rate < self.highest => {
                self.probe = Probe::Due;
            }
            Probe::Sent(at) if now.saturating_since(at) >= WINDOW => {
                let whole = self.lossless_since.is_some_and(|since| since <= at);
                let (step, pause) = match whole {
                    true => self.with.rise_after_whole,
                    false => self.with.rise_after_part,
                };
                self.rate = (self.rate + step).min(self.highest);
                self.probe = Probe::NotBefore(at + pause);
            }
            _ => {}
        }
    }
}

impl Controller for Control {
    fn on_report(&mut self, now: Instant, history: &ReportHistory) {
        let Some(last) = history.over(WINDOW) else {
            return;
        };
        if last.loss > 0.0 {
            self.lossless_since = None;
        } else {
            // The window itself had no loss.
            let since = now.saturating_sub(WINDOW);
            self.lossless_since.get_or_insert(since);
        }
        self.fall(now, last.arrived, last.rate);
        let (low, high, time) = self.with.light_loss;
        let light = history.over(time).map_or(0.0, |share| share.loss);
        self.added = match light > low && light <= high {
            true => self.with.added_redundancy,
            false => Rate::ZERO,
        };
        self.rise(now);
    }

    fn plan(&mut self, now: Instant) -> Plan {
        let burst = match self.probe {
            Probe::Due => {
                self.probe = Probe::Sent(now);
                self.with.burst
            }
            _ => Bytes(0),
        };
        let rest = self.rate.saturating_sub(self.with.sound);
        let video = rest.mul_f64(1.0 / (1.0 + self.with.redundancy));
        Plan {
            sound: self.with.sound,
            video,
            redundancy: rest.saturating_sub(video) + self.added,
            pattern: Pattern::frames(self.with.frames_per_second),
            burst,
            hung_up: false,
        }
    }
}
