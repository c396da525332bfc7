//! Health of a path, by its history on this call.

use weft_units::{Duration, Instant, Rate};

use crate::schedule::{Cap, Caution};

/// Signs of a path's health, from feedback or from its absence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signs {
    /// Dead, or silent for so long that the sender no longer waits for the packets in
    /// flight.
    pub gone: bool,
    /// Additional delay of a packet sent now, compared with the empty path; `None` while
    /// the path is suspect, and before the first measurement.
    pub excess: Option<Duration>,
    /// The controller's target rate.
    pub rate: Rate,
    /// Rate at which a standing queue drains; `None` without such a queue.
    pub carried: Option<Rate>,
}

/// Queueing delay from which a path is degraded: it would deliver frames too late, so
/// media takes a healthy path. Half of this value is the jitter buffer's usual delay;
/// with a lower value, every filled queue would count as degraded.
const DEGRADED: Duration = Duration::from_millis(100);
/// Queueing delay at which the path is healthy again.
pub(super) const RECOVERED: Duration = Duration::from_millis(30);
/// Time within which several dangers count as one.
const EVENT: Duration = Duration::from_millis(500);

/// Health of a path, and the rate that has been safe on it.
#[derive(Debug)]
pub(crate) struct Health {
    degraded: bool,
    gone: bool,
    danger_at: Option<Instant>,
    /// Safe rate before a silence counted as danger.
    before_silence: Option<f64>,
    /// Time of the last loss for which retransmission is too late.
    late_repair_at: Option<Instant>,
    /// Rate that the path has carried without danger, in bit/s.
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

    /// Discards all measurements.
    pub fn forget(&mut self) {
        *self = Health::new();
    }

    pub fn is_degraded(&self) -> bool {
        self.degraded
    }

    /// Records a loss for which retransmission is too late. This starts copies but keeps
    /// the rate.
    pub fn on_late_repair(&mut self, now: Instant) {
        self.late_repair_at = Some(now);
    }

    /// Undoes the effect of a silence in which all packets arrived in time.
    pub fn excuse(&mut self) {
        self.safe = self.before_silence.take().or(self.safe);
    }

    /// Returns whether the path was in danger, or had a loss for which retransmission is
    /// too late, within this time.
    pub fn was_in_danger(&self, now: Instant, within: Duration) -> bool {
        let last = self.danger_at.max(self.late_repair_at);
        last.is_some_and(|at| now.saturating_since(at) < within)
    }

    /// Returns the rate that the path has carried without danger, if known.
    pub fn safe_rate(&self) -> Option<Rate> {
        self.safe.map(|bps| Rate::from_bps(bps as u64))
    }

    /// Updates the health from the current signs. Returns true if the path became
    /// degraded.
    pub fn examine(&mut self, now: Instant, signs: Signs, caution: &Caution) -> bool {
        let passed = self.examined_at.replace(now);
        let passed = now.saturating_since(passed.unwrap_or(now));
        let exceeds = |limit: Duration| signs.excess.is_some_and(|excess| excess >= limit);
        let fresh = |at: Instant| now.saturating_since(at) < EVENT;
        let is_event = !self.danger_at.is_some_and(fresh);
        // The length of an outage says nothing more about the rate.
        let goes = signs.gone && !self.gone;
        self.gone = signs.gone;
        if goes && is_event {
            self.before_silence = self.safe;
        } else if exceeds(caution.danger) {
            self.before_silence = None;
        }
        // Probing for a higher rate also builds queues: a link that carries its safe rate
        // has not failed.
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
            // Only rates that were tried are known to be safe.
            *safe = safe.max(grown.min(bps(rate).max(bps(cap.least))));
        }
    }
}

#[cfg(test)]
mod tests;
