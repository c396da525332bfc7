//! Health of a path, by its history on this call.

use weft_units::{Duration, Instant, Rate};

use crate::schedule::{Cap, Caution};

/// Signs of a path's health in feedback, or in its silence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signs {
    /// Found dead, or silent for so long that what is in flight is not waited
    /// for.
    pub gone: bool,
    /// How much longer than over the empty path what is sent now takes; `None`
    /// while a suspicion is open, or before anything is measured.
    pub excess: Option<Duration>,
    /// The controller's target rate.
    pub rate: Rate,
    /// The rate at which a queue comes out of the link; `None` if none stands.
    pub carried: Option<Rate>,
}

/// A path with such a queue brings frames too late: media goes elsewhere, if
/// another path is well. Half of it is the jitter buffer's usual room; less
/// would call every filled queue degraded.
const DEGRADED: Duration = Duration::from_millis(100);
/// It is well again when it has drained to this.
pub(super) const RECOVERED: Duration = Duration::from_millis(30);
/// Dangers closer together than this are one.
const EVENT: Duration = Duration::from_millis(500);

/// Whether a path may get media, and how much has been safe on it.
#[derive(Debug)]
pub(crate) struct Health {
    degraded: bool,
    gone: bool,
    danger_at: Option<Instant>,
    /// Safe rate before silence was taken for a danger.
    before_silence: Option<f64>,
    /// When it last lost what it repairs too late.
    late_repair_at: Option<Instant>,
    /// Rate that it has carried without danger, in bit/s.
    safe: Option<f64>,
    examined_at: Option<Instant>,
}

impl Health {
    pub fn new() -> Health {
        Health {
            degraded: false,
            gone: false,
            danger_at: None,
            before_silence: None,
            late_repair_at: None,
            safe: None,
            examined_at: None,
        }
    }

    /// Discards everything learnt.
    pub fn forget(&mut self) {
        *self = Health::new();
    }

    pub fn is_degraded(&self) -> bool {
        self.degraded
    }

    /// It lost something and repairs it too late: no matter of its rate, but of
    /// what is sent twice.
    pub fn on_late_repair(&mut self, now: Instant) {
        self.late_repair_at = Some(now);
    }

    /// It was silent, and brought everything in time all the same.
    pub fn excuse(&mut self) {
        self.safe = self.before_silence.take().or(self.safe);
    }

    /// Whether it was in danger, or lost what it repairs too late, within this
    /// time.
    pub fn was_in_danger(&self, now: Instant, within: Duration) -> bool {
        let last = self.danger_at.max(self.late_repair_at);
        last.is_some_and(|at| now.saturating_since(at) < within)
    }

    /// Returns the rate that it has carried without danger, where that is
    /// learnt.
    pub fn safe_rate(&self) -> Option<Rate> {
        self.safe.map(|bps| Rate::from_bps(bps as u64))
    }

    /// Takes in the signs of now. Returns true if the path became degraded.
    pub fn examine(&mut self, now: Instant, signs: Signs, caution: &Caution) -> bool {
        let passed = self.examined_at.replace(now);
        let passed = now.saturating_since(passed.unwrap_or(now));
        let exceeds = |limit: Duration| signs.excess.is_some_and(|excess| excess >= limit);
        let fresh = |at: Instant| now.saturating_since(at) < EVENT;
        let is_event = !self.danger_at.is_some_and(fresh);
        // That a path is gone says nothing more of its rate the longer it lasts.
        let goes = signs.gone && !self.gone;
        self.gone = signs.gone;
        if goes && is_event {
            self.before_silence = self.safe;
        } else if exceeds(caution.danger) {
            self.before_silence = None;
        }
        // What is sent to try more makes queues, too: a link that carries what
        // was thought safe has not failed.
        let is_own = caution.trusts_rate && self.is_safe(signs.carried);
        let in_danger = goes || (exceeds(caution.danger) && !is_own);
        if let Some(cap) = &caution.cap {
            self.learn(
                now,
                cap,
                (in_danger && is_event, is_event),
                signs.rate,
                passed,
            );
        } else {
            self.safe = None;
        }
        if in_danger && is_event {
            self.danger_at = Some(now);
        }
        let degrades = (signs.gone || exceeds(DEGRADED)) && !self.degraded;
        if degrades {
            self.degraded = true;
        } else if !signs.gone && signs.excess.is_some_and(|excess| excess <= RECOVERED) {
            self.degraded = false;
        }
        degrades
    }

    fn is_safe(&self, carried: Option<Rate>) -> bool {
        let known = carried.zip(self.safe_rate());
        known.is_some_and(|(carried, safe)| carried >= safe)
    }

    fn learn(
        &mut self,
        now: Instant,
        cap: &Cap,
        (danger, quiet): (bool, bool),
        rate: Rate,
        passed: Duration,
    ) {
        let bps = |rate: Rate| rate.as_bps() as f64;
        let safe = self.safe.get_or_insert(bps(cap.start));
        if danger {
            if self.danger_at.is_none() {
                *safe = safe.min(bps(cap.after_first));
            }
            *safe = (*safe * cap.fall).max(bps(cap.least));
        } else if quiet && !self.gone {
            let forgotten = self.danger_at.is_none_or(|at| {
                cap.calm_after
                    .is_some_and(|calm| now.saturating_since(at) > calm)
            });
            let growth = match forgotten {
                true => cap.early_growth,
                false => cap.growth,
            };
            let grown = *safe * (1.0 + growth * passed.as_secs_f64());
            // What was never tried is not known to be safe.
            *safe = safe.max(grown.min(bps(rate).max(bps(cap.least))));
        }
    }
}

#[cfg(test)]
mod tests;
