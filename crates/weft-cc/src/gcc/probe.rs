use crate::{Limits, ProbeCluster, ProbeId};
use std::collections::VecDeque;
use weft_units::{Deadline, Duration, Instant, Rate};

/// First probes, as multiples of the start rate: `p1` and `p2` (libwebrtc
/// `probe_controller.cc`).
const FIRST_SCALE: f64 = 3.0;
const SECOND_SCALE: f64 = 6.0;
/// Share of the probe's rate above which a result triggers another probe, and the
/// multiple of the result for that probe: `further_probe_threshold`, `step_size` (ibid.).
const FURTHER_THRESHOLD: f64 = 0.7;
const FURTHER_SCALE: f64 = 2.0;
/// `kMaxWaitingTimeForProbingResult` (ibid.).
const MAX_WAIT: Duration = Duration::from_secs(1);
/// `min_probe_packets_sent`, `min_probe_duration` (ibid.).
const MIN_PACKETS: u32 = 5;
const MIN_DURATION: Duration = Duration::from_millis(15);
/// `alr_interval`, `alr_scale` (ibid.).
const PERIOD: Duration = Duration::from_secs(5);
const PERIODIC_SCALE: f64 = 2.0;
/// Interval of checks for a due periodic probe: chosen by us, a tenth of the period.
const RECHECK: Duration = Duration::from_millis(500);
/// `InitiateProbing` allows twice the allocated rate (ibid.).
const MAX_DEMAND_SCALE: f64 = 2.0;
/// A large drop, and the probe that tests whether it is over: `kBitrateDropThreshold`,
/// `kBitrateDropTimeout`, `kProbeFractionAfterDrop`, `kProbeUncertainty`,
/// `kMinTimeBetweenAlrProbes` (ibid.).
const DROP: f64 = 0.66;
const DROP_TIMEOUT: Duration = Duration::from_secs(5);
const AFTER_DROP: f64 = 0.85;
const UNCERTAINTY: f64 = 0.05;
const MIN_DROP_INTERVAL: Duration = Duration::from_secs(5);
/// Most clusters waiting to be polled.
const MAX_PENDING: usize = 4;

/// Reason for a periodic probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reason {
    /// The application has sent little since this time.
    ApplicationLimited(Instant),
    /// The rate grows; the value is the interval of probes.
    Growing(Duration),
    /// Neither applies: no periodic probe.
    None,
}

/// Decides when to probe and how fast.
#[derive(Debug)]
pub(super) struct ProbeController {
    limits: Limits,
    demand: Option<Rate>,
    estimate: Rate,
    /// Rate that the awaited result must exceed for another probe.
    further_above: Option<Rate>,
    initiated: Instant,
    recheck_at: Instant,
    last_drop: Option<Drop>,
    last_drop_probe: Option<Instant>,
    next_id: u32,
    pending: VecDeque<ProbeCluster>,
}

#[derive(Clone, Copy, Debug)]
struct Drop {
    at: Instant,
    before: Rate,
}

impl ProbeController {
    /// Creates the state of a new path and requests the first probes immediately.
    pub(super) fn new(limits: Limits, now: Instant) -> ProbeController {
        ProbeController::start(limits, now, None, 0)
    }

    /// Returns the state for a restored path: as at the start, but it keeps the
    /// application's demand and never reuses an id.
    pub(super) fn restarted(&self, now: Instant) -> ProbeController {
        ProbeController::start(self.limits, now, self.demand, self.next_id)
    }

    fn start(limits: Limits, now: Instant, demand: Option<Rate>, next_id: u32) -> ProbeController {
        let mut controller = ProbeController {
            limits,
            demand,
            estimate: limits.start,
            further_above: None,
            initiated: now,
            recheck_at: now + RECHECK,
            last_drop: None,
            last_drop_probe: None,
            next_id,
            pending: VecDeque::with_capacity(MAX_PENDING),
        };
        controller.start_from(now, limits.start);
        controller
    }

    /// Starts exponential probing from this rate.
    pub(super) fn start_from(&mut self, now: Instant, rate: Rate) {
        let further = self.probe(now, rate.mul_f64(FIRST_SCALE))
            && self.probe(now, rate.mul_f64(SECOND_SCALE));
        let last = rate.mul_f64(SECOND_SCALE * FURTHER_THRESHOLD);
        self.further_above = further.then_some(last);
    }

    /// Sets the highest rate that the application would send; zero stops probing.
    pub(super) fn set_demand(&mut self, now: Instant, demand: Rate, in_alr: bool) {
        let before = self.demand.replace(demand);
        let more = before.is_some_and(|before| demand > before);
        let idle = self.further_above.is_none() && now.saturating_since(self.initiated) >= MAX_WAIT;
        if more && in_alr && idle && self.estimate < demand {
            self.probe(now, demand);
        }
    }

    /// Sets a new or repeated target.
    pub(super) fn set_estimate(&mut self, now: Instant, estimate: Rate) {
        if estimate < self.estimate.mul_f64(DROP) {
            self.last_drop = Some(Drop {
                at: now,
                before: self.estimate,
            });
        }
        self.estimate = estimate;
        if self.further_above.is_some_and(|rate| estimate > rate) {
            let rate = estimate.mul_f64(FURTHER_SCALE);
            let further = self.probe(now, rate);
            self.further_above = further.then(|| rate.mul_f64(FURTHER_THRESHOLD));
        }
    }

    /// Probes after a large drop whose queue has drained, to test whether it was
    /// temporary.
    pub(super) fn on_recovered(&mut self, now: Instant) {
        let Some(drop) = self.last_drop else {
            return;
        };
        let rate = drop.before.mul_f64(AFTER_DROP);
        let recently = self
            .last_drop_probe
            .is_some_and(|at| now.saturating_since(at) <= MIN_DROP_INTERVAL);
        if self.further_above.is_none()
            && rate.mul_f64(1.0 - UNCERTAINTY) > self.estimate
            && now.saturating_since(drop.at) < DROP_TIMEOUT
            && !recently
        {
            self.last_drop_probe = Some(now);
            self.probe(now, rate);
        }
    }

    /// Advances the time. While `loss_limited`, a probe confirms the rate and does not
    /// raise it.
    pub(super) fn on_timeout(&mut self, now: Instant, reason: Reason, loss_limited: bool) {
        if now.saturating_since(self.initiated) > MAX_WAIT {
            self.further_above = None;
        }
        if now < self.recheck_at || self.further_above.is_some() {
            return;
        }
        self.recheck_at = now + RECHECK;
        let (since, period) = match reason {
            Reason::ApplicationLimited(since) => (since.max(self.initiated), PERIOD),
            Reason::Growing(period) if self.estimate < self.cap() => (self.initiated, period),
            Reason::Growing(_) | Reason::None => return,
        };
        if now.saturating_since(since) < period {
            return;
        }
        let scale = if loss_limited { 1.0 } else { PERIODIC_SCALE };
        let rate = self.estimate.mul_f64(scale);
        let further = self.probe(now, rate);
        self.further_above = further.then(|| rate.mul_f64(FURTHER_THRESHOLD));
    }

    pub(super) fn poll_timeout(&self) -> Option<Deadline> {
        Some(match self.further_above {
            Some(_) => Deadline {
                at: self.initiated + MAX_WAIT + Duration::from_nanos(1),
                reason: "probe result overdue",
            },
            None => Deadline {
                at: self.recheck_at,
                reason: "periodic probe",
            },
        })
    }

    pub(super) fn poll_probe(&mut self) -> Option<ProbeCluster> {
        self.pending.pop_front()
    }

    /// Returns the highest rate of a probe: the limit, or twice the demand if that is
    /// lower.
    fn cap(&self) -> Rate {
        let demand = self.demand.map(|rate| rate.mul_f64(MAX_DEMAND_SCALE));
        demand.map_or(self.limits.max, |rate| rate.min(self.limits.max))
    }

    /// Queues a cluster; returns true if a good result should trigger another probe.
    fn probe(&mut self, now: Instant, rate: Rate) -> bool {
        let cap = self.cap();
        self.initiated = now;
        if cap == Rate::ZERO || self.pending.len() == MAX_PENDING {
            return false;
        }
        let capped = rate.min(cap);
        self.pending.push_back(ProbeCluster {
            id: ProbeId(self.next_id),
            rate: capped,
            packets: MIN_PACKETS,
            bytes: capped * MIN_DURATION,
        });
        self.next_id = self.next_id.wrapping_add(1);
        rate < cap
    }
}

#[cfg(test)]
mod tests;
