use super::behaviour::Behaviour;
use super::overuse::Usage;
use weft_units::{Duration, Instant, Rate};

/// `kDefaultBackoffFactor` (libwebrtc `aimd_rate_control.cc`), beta of
/// draft-ietf-rmcat-gcc-02.
const BACKOFF: f64 = 0.85;
/// Growth per second far from the capacity: `alpha` of
/// `MultiplicativeRateIncrease` (ibid.), eta of the draft.
const GROWTH: f64 = 1.08;
/// `kDefaultRtt` (ibid.).
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// Longest plausible round trip: chosen by us.
const MAX_RTT: Duration = Duration::from_secs(10);
/// `response_time` is twice the sum of the round trip and this (ibid.).
const DETECTOR_DELAY: Duration = Duration::from_millis(100);
/// `GetNearMaxIncreaseRateBpsPerSecond` (ibid.).
const PACKET: f64 = 1200.0;
const FRAMES_PER_SECOND: f64 = 30.0;
const MIN_ADDITIVE_BPS: f64 = 4000.0;
/// Smallest multiplicative growth: libwebrtc adds 1 kbps per feedback, which it sends
/// about every 100 ms; we express it per second because our feedback interval differs.
const MIN_GROWTH_BPS: f64 = 10_000.0;
/// Upper bound of the rate relative to the delivery rate: `increase_limit` (ibid.).
const LEAD: f64 = 1.5;
const LEAD_MORE: Rate = Rate::from_kbps(10);
/// Bounds of `bitrate_reduction_interval` (ibid.).
const REDUCTION_INTERVAL: (Duration, Duration) =
    (Duration::from_millis(10), Duration::from_millis(200));
/// Longest time for a queue to drain before overuse counts again. Chosen by us:
/// `a_decrease_does_not_repeat_while_the_queue_drains`.
const DRAIN: Duration = Duration::from_secs(2);
/// Ratio of arriving to sent rate at which the queue drains soon; the usual decrease
/// leaves a larger ratio. Chosen by us:
/// `the_target_follows_a_halved_capacity_within_a_second`.
const DRAIN_LEAD: f64 = 1.1;
/// Share of the known capacity below which a rate is not the result of overuse: two
/// decreases in a row leave 72 %. Chosen by us: `gcc_is_never_stuck`.
const STALE: f64 = 0.7;
/// `TimeToReduceFurther` (ibid.).
const REDUCE_AT_ONCE: f64 = 0.5;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Hold,
    Increase,
}

/// Mode of growth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Growth {
    /// Slowly, towards the known capacity.
    NearMax,
    /// By a factor: the capacity may be anywhere above.
    Searching,
}

/// Additive or multiplicative increase, multiplicative decrease, driven by
/// the overuse detector.
#[derive(Debug)]
pub(super) struct Aimd {
    rate: Rate,
    min: Rate,
    max: Rate,
    rtt: Duration,
    /// Last delivery rate, for feedback without one.
    throughput: Rate,
    state: State,
    changed: Option<Instant>,
    /// Rate at which packets currently arrive.
    arriving: Option<Rate>,
    /// Time of the last decrease for overuse.
    decreased: Option<Instant>,
    capacity: LinkCapacity,
    behaviour: Behaviour,
}

impl Aimd {
    pub(super) fn new(start: Rate, min: Rate, max: Rate, behaviour: Behaviour) -> Aimd {
        Aimd {
            rate: start,
            min,
            max,
            rtt: DEFAULT_RTT,
            throughput: start,
            state: State::Hold,
            changed: None,
            arriving: None,
            decreased: None,
            behaviour,
            capacity: LinkCapacity::default(),
        }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the link capacity that decreases have shown.
    pub(super) fn capacity(&self) -> Option<Rate> {
        let kbps = self.capacity.estimate;
        kbps.map(|kbps| Rate::from_bps((kbps * 1e3) as u64))
    }

    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt.min(MAX_RTT);
    }

    /// Sets the value of [`super::throughput::Throughput::arriving`].
    pub(super) fn set_arriving(&mut self, arriving: Option<Rate>) {
        self.arriving = arriving;
    }

    /// Sets the rate from a probe or another source than the detector.
    pub(super) fn set_rate(&mut self, now: Instant, rate: Rate) {
        self.rate = rate.clamp(self.min, self.max);
        self.changed = Some(now);
    }

    /// Returns the mode of growth while the rate grows.
    pub(super) fn growth(&self) -> Option<Growth> {
        match (self.state, self.capacity.estimate) {
            (State::Hold, _) => None,
            (State::Increase, Some(_)) => Some(Growth::NearMax),
            (State::Increase, None) => Some(Growth::Searching),
        }
    }

    pub(super) fn state(&self) -> &'static str {
        match self.growth() {
            None => "hold",
            Some(Growth::NearMax) => "near-max",
            Some(Growth::Searching) => "increase",
        }
    }

    /// Returns whether a decrease is allowed: one per round trip, unless much less than
    /// half arrives.
    pub(super) fn may_reduce(&self, now: Instant, throughput: Rate) -> bool {
        let (low, high) = REDUCTION_INTERVAL;
        let interval = self.rtt.clamp(low, high);
        self.changed
            .is_none_or(|at| now.saturating_since(at) >= interval)
            || throughput < self.rate.mul_f64(REDUCE_AT_ONCE)
    }

    /// Updates the rate after feedback with this verdict.
    pub(super) fn update(&mut self, now: Instant, usage: Usage, throughput: Option<Rate>) {
        self.throughput = throughput.unwrap_or(self.throughput);
        match usage {
            Usage::Over => self.decrease(now),
            // Let the queue drain: the measured rate is then the capacity.
            Usage::Under => self.state = State::Hold,
            Usage::Normal => {
                if self.state == State::Hold {
                    self.state = State::Increase;
                    self.changed = Some(now);
                }
                self.increase(now);
            }
        }
        self.rate = self.rate.clamp(self.min, self.max);
    }

    fn increase(&mut self, now: Instant) {
        if self.capacity.is_below(self.throughput) || self.is_stale() {
            self.capacity.reset();
        }
        let limit = self.throughput.mul_f64(LEAD) + LEAD_MORE;
        let elapsed = self
            .changed
            .map_or(0.0, |at| now.saturating_since(at).as_secs_f64().min(1.0));
        self.changed = Some(now);
        if self.rate < limit {
            let rate = self.rate.as_bps() as f64;
            let more = match self.capacity.estimate {
                Some(_) => self.additive_bps_per_second() * elapsed,
                None => (rate * (GROWTH.powf(elapsed) - 1.0)).max(MIN_GROWTH_BPS * elapsed),
            };
            self.rate = Rate::from_bps((rate + more) as u64).min(limit);
        }
    }

    /// Returns whether the known capacity is outdated because a silence or a probe, not
    /// overuse, lowered the rate. Growing towards it would take minutes.
    fn is_stale(&self) -> bool {
        self.behaviour == Behaviour::Repaired
            && self
                .capacity()
                .is_some_and(|capacity| self.rate < capacity.mul_f64(STALE))
    }

    /// Returns the slow growth near the capacity: about one packet per response time.
    fn additive_bps_per_second(&self) -> f64 {
        let frame = self.rate.as_bps() as f64 / FRAMES_PER_SECOND / 8.0;
        let packet = frame / (frame / PACKET).ceil().max(1.0);
        let response = 2.0 * (self.rtt + DETECTOR_DELAY).as_secs_f64();
        (packet * 8.0 / response).max(MIN_ADDITIVE_BPS)
    }

    /// Returns whether less has been sent since the last decrease than arrives: the queue
    /// drains, and the trend shows it later because of its long memory.
    fn drains(&self, now: Instant) -> bool {
        self.behaviour == Behaviour::Repaired
            && self
                .arriving
                .is_some_and(|rate| rate > self.rate.mul_f64(DRAIN_LEAD))
            && self
                .decreased
                .is_some_and(|at| now.saturating_since(at) < DRAIN)
    }

    fn decrease(&mut self, now: Instant) {
        if self.drains(now) {
            self.state = State::Hold;
            return;
        }
        self.decreased = Some(now);
        // Below the arriving rate, so that the queue drains.
        let mut decreased = self.throughput.mul_f64(BACKOFF);
        if decreased > self.rate
            && let Some(kbps) = self.capacity.estimate
        {
            decreased = Rate::from_bps((BACKOFF * kbps * 1e3) as u64);
        }
        self.rate = self.rate.min(decreased);
        if self.capacity.is_above(self.throughput) {
            self.capacity.reset();
        }
        self.capacity.on_overuse(self.throughput);
        self.state = State::Hold;
        self.changed = Some(now);
    }
}

/// Mean and deviation of the delivery rate at overuse (libwebrtc
/// `link_capacity_estimator.cc`).
#[derive(Debug)]
struct LinkCapacity {
    /// In kbps.
    estimate: Option<f64>,
    /// Variance in kbps, divided by the estimate.
    variance: f64,
}

/// Weight of a sample at overuse: `OnOveruseDetected` (ibid.).
const CAPACITY_WEIGHT: f64 = 0.05;
/// Range of the normalised variance, about 14 to 35 kbps at 500 kbps (ibid.).
const VARIANCE_RANGE: (f64, f64) = (0.4, 2.5);

impl Default for LinkCapacity {
    fn default() -> LinkCapacity {
        LinkCapacity {
            estimate: None,
            variance: VARIANCE_RANGE.0,
        }
    }
}

impl LinkCapacity {
    fn reset(&mut self) {
        self.estimate = None;
    }

    fn three_sigma(&self, estimate: f64) -> f64 {
        3.0 * (self.variance * estimate).sqrt()
    }

    fn is_below(&self, rate: Rate) -> bool {
        self.estimate
            .is_some_and(|kbps| rate.as_kbps() > kbps + self.three_sigma(kbps))
    }

    fn is_above(&self, rate: Rate) -> bool {
        self.estimate
            .is_some_and(|kbps| rate.as_kbps() < kbps - self.three_sigma(kbps))
    }

    fn on_overuse(&mut self, rate: Rate) {
        let sample = rate.as_kbps();
        let estimate = self.estimate.map_or(sample, |kbps| {
            (1.0 - CAPACITY_WEIGHT) * kbps + CAPACITY_WEIGHT * sample
        });
        self.estimate = Some(estimate);
        let error = estimate - sample;
        let (low, high) = VARIANCE_RANGE;
        self.variance = ((1.0 - CAPACITY_WEIGHT) * self.variance
            + CAPACITY_WEIGHT * error * error / estimate.max(1.0))
        .clamp(low, high);
    }
}

#[cfg(test)]
mod tests;
