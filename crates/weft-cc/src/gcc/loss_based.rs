use super::loss_counts::LossCounts;
use super::loss_model::{Channel, Observation, Observations};
use weft_units::{Bytes, Duration, Instant, Rate};

/// An observation covers at least this much sending time:
/// `ObservationDurationLowerBound` (libwebrtc `loss_based_bwe_v2.cc`).
const OBSERVATION: Duration = Duration::from_millis(250);
/// `MinNumObservations` (ibid.).
const MIN_OBSERVATIONS: u64 = 3;
/// `InitialInherentLossEstimate` (ibid.).
const INITIAL_INHERENT_LOSS: f64 = 0.01;
/// `CandidateFactors` (ibid.).
const CANDIDATE_FACTORS: [f64; 3] = [1.02, 1.0, 0.95];
/// `InstantUpperBoundBwBalance` and `InstantUpperBoundLossOffset` (ibid.).
const UPPER_BOUND_BALANCE_KBPS: f64 = 75.0;
const UPPER_BOUND_LOSS_OFFSET: f64 = 0.05;
/// `MaxIncreaseFactor` within `DelayedIncreaseWindow` (ibid.).
const MAX_INCREASE: f64 = 1.3;
const INCREASE_WINDOW: Duration = Duration::from_millis(300);

/// Reason for the bound on the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    DelayBased,
    Increasing,
    Decreasing,
}

/// Loss-based half: fits an inherent loss and a bandwidth to the observed losses at each
/// sending rate (maximum likelihood), and bounds the delay-based rate by it.
#[derive(Debug)]
pub(super) struct LossBased {
    min: Rate,
    max: Rate,
    partial: Partial,
    observations: Observations,
    best: Channel,
    result: Rate,
    state: State,
    upper_bound: Rate,
    /// While recovering: the start time, and the highest rate in this window.
    recovering: Option<(Instant, Rate)>,
}

impl LossBased {
    pub(super) fn new(start: Rate, min: Rate, max: Rate) -> LossBased {
        LossBased {
            min,
            max,
            partial: Partial::new(),
            observations: Observations::new(),
            best: Channel {
                inherent_loss: INITIAL_INHERENT_LOSS,
                bandwidth: start,
            },
            result: start,
            state: State::DelayBased,
            upper_bound: max,
            recovering: None,
        }
    }

    /// Records a reported packet.
    pub(super) fn on_packet(&mut self, number: u64, sent: Instant, size: Bytes, lost: bool) {
        self.partial.on_packet(number, sent, size, lost);
    }

    /// Updates the estimate after all packets of a feedback message.
    pub(super) fn update(&mut self, delay_based: Rate, throughput: Option<Rate>, in_alr: bool) {
        let Some(observation) = self.partial.complete() else {
            return;
        };
        let now = observation.last_sent;
        self.observations.push(observation);
        if self.state == State::DelayBased && self.observations.count() < MIN_OBSERVATIONS {
            // Startup: the delay-based rate, which probing raises.
            self.best.bandwidth = delay_based;
        }
        self.bound_by_average();
        let mut best = self.best_candidate(delay_based, throughput.filter(|_| !in_alr));
        if self.observations.average_loss() > best.inherent_loss {
            best.bandwidth = best.bandwidth.min(self.best.bandwidth);
        }
        if let Some((since, limit)) = self.recovering
            && self.is_limiting()
            && now.saturating_since(since) < INCREASE_WINDOW
            && best.bandwidth > limit
        {
            best.bandwidth = limit;
        }
        let bounded = best
            .bandwidth
            .min(self.upper_bound)
            .min(delay_based)
            .max(self.min);
        self.best = best;
        self.state = match bounded < delay_based && bounded < self.max {
            true if self.is_limiting() && self.grows_to(bounded) => State::Increasing,
            true => State::Decreasing,
            false => State::DelayBased,
        };
        self.result = bounded;
        let window_over = self
            .recovering
            .is_none_or(|(since, _)| now.saturating_since(since) > INCREASE_WINDOW);
        if self.is_limiting() && window_over {
            let limit = self.best.bandwidth.mul_f64(MAX_INCREASE).max(self.min);
            self.recovering = Some((now, limit));
        }
    }

    /// Returns the bound on the delay-based rate; equal to that rate if loss does not
    /// limit it.
    pub(super) fn bound(&self, delay_based: Rate) -> Rate {
        match self.is_limiting() {
            true => delay_based.min(self.result),
            false => delay_based,
        }
    }

    /// Returns the rate that loss alone would allow, once it has been computed.
    pub(super) fn result(&self) -> Rate {
        self.result
    }

    pub(super) fn is_limiting(&self) -> bool {
        self.state != State::DelayBased && self.observations.count() >= MIN_OBSERVATIONS
    }

    /// Returns the share of packets lost in the last observations, weighted towards
    /// recent ones.
    pub(super) fn average_loss(&self) -> f64 {
        self.observations.average_loss()
    }

    fn grows_to(&self, rate: Rate) -> bool {
        rate > self.result || (rate == self.result && self.state == State::Increasing)
    }

    /// Bounds the rate at high loss, independently of the model.
    fn bound_by_average(&mut self) {
        let excess = self.observations.average_loss() - UPPER_BOUND_LOSS_OFFSET;
        self.upper_bound = match excess > 0.0 {
            true => Rate::from_bps((UPPER_BOUND_BALANCE_KBPS * 1e3 / excess) as u64),
            false => self.max,
        };
    }

    fn best_candidate(&self, delay_based: Rate, throughput: Option<Rate>) -> Channel {
        let current = self.best.bandwidth;
        let cap = match self.recovering {
            Some((_, limit)) if self.is_limiting() => limit,
            _ => self.max,
        }
        .max(current);
        let scaled = CANDIDATE_FACTORS.map(|factor| Some(current.mul_f64(factor)));
        let others = [throughput, Some(delay_based).filter(|r| *r > current)];
        let mut best = (f64::NEG_INFINITY, self.best);
        for bandwidth in scaled.into_iter().chain(others).flatten() {
            let mut channel = Channel {
                bandwidth: bandwidth.min(cap),
                ..self.best
            };
            self.observations.fit_inherent_loss(&mut channel);
            let objective = self.observations.objective(&channel);
            if objective > best.0 {
                best = (objective, channel);
            }
        }
        best.1
    }
}

/// Packets of the next observation.
#[derive(Debug)]
struct Partial {
    counts: LossCounts,
    first_sent: Option<Instant>,
    last_sent: Instant,
    /// End of the previous observation.
    previous: Option<Instant>,
}

impl Partial {
    fn new() -> Partial {
        Partial {
            counts: LossCounts::new(),
            first_sent: None,
            last_sent: Instant::ZERO,
            previous: None,
        }
    }

    fn on_packet(&mut self, number: u64, sent: Instant, size: Bytes, lost: bool) {
        if !self.counts.on_packet(number, size, lost) {
            return;
        }
        self.first_sent = Some(self.first_sent.map_or(sent, |at| at.min(sent)));
        self.last_sent = self.last_sent.max(sent);
    }

    /// Returns the observation if it is long enough.
    fn complete(&mut self) -> Option<Observation> {
        let since = *self.previous.get_or_insert(self.first_sent?);
        let duration = self.last_sent.saturating_since(since);
        if duration < OBSERVATION {
            return None;
        }
        let observation = Observation {
            received: self.counts.packets() - self.counts.lost(),
            lost: self.counts.lost(),
            sending_rate: self.counts.size() / duration,
            last_sent: self.last_sent,
        };
        self.previous = Some(self.last_sent);
        self.counts.clear();
        self.first_sent = None;
        Some(observation)
    }
}

#[cfg(test)]
mod tests;
