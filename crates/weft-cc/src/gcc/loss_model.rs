use std::collections::VecDeque;
use weft_units::{Instant, Rate};

/// `ObservationWindowSize` (libwebrtc `loss_based_bwe_v2.cc`).
const WINDOW: usize = 20;
/// `TemporalWeightFactor`, `InstantUpperBoundTemporalWeightFactor` (ibid.).
const TEMPORAL_WEIGHT: f64 = 0.9;
/// `NewtonStepSize`, one iteration (ibid.).
const NEWTON_STEP: f64 = 0.75;
/// `InherentLossLowerBound` (ibid.).
const MIN_INHERENT_LOSS: f64 = 1e-3;
/// `InherentLossUpperBoundOffset`, `InherentLossUpperBoundBwBalance` (ibid.).
const MAX_INHERENT_LOSS_OFFSET: f64 = 0.05;
const MAX_INHERENT_LOSS_BALANCE_KBPS: f64 = 75.0;
/// `HigherBwBiasFactor`, `HigherLogBwBiasFactor` (ibid.).
const BANDWIDTH_BIAS: f64 = 0.0002;
const LOG_BANDWIDTH_BIAS: f64 = 0.02;
/// `LossThresholdOfHighBandwidthPreference`,
/// `BandwidthPreferenceSmoothingFactor` (ibid.).
const PREFERENCE_LOSS: f64 = 0.15;
const PREFERENCE_SMOOTHING: f64 = 0.002;
/// Keeps the logarithms finite: `GetLossProbability` (ibid.).
const MIN_PROBABILITY: f64 = 1e-6;

/// Hypothesis about the path: it loses this share of the packets at any rate, and
/// everything above the bandwidth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Channel {
    pub(super) inherent_loss: f64,
    pub(super) bandwidth: Rate,
}

/// Losses during some time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Observation {
    pub(super) received: u32,
    pub(super) lost: u32,
    pub(super) sending_rate: Rate,
    pub(super) last_sent: Instant,
}

/// Last observations. They score how well a channel explains them.
#[derive(Debug)]
pub(super) struct Observations {
    /// Observations, the newest first.
    recent: VecDeque<Observation>,
    count: u64,
    average_loss: f64,
}

impl Observations {
    pub(super) fn new() -> Observations {
        Observations {
            recent: VecDeque::with_capacity(WINDOW),
            count: 0,
            average_loss: 0.0,
        }
    }

    pub(super) fn push(&mut self, observation: Observation) {
        self.recent.truncate(WINDOW - 1);
        self.recent.push_front(observation);
        self.count += 1;
        let (lost, packets) = self.weighted().fold((0.0, 0.0), |(lost, packets), (w, o)| {
            let n = f64::from(o.lost) + f64::from(o.received);
            (lost + w * f64::from(o.lost), packets + w * n)
        });
        self.average_loss = lost / packets.max(f64::MIN_POSITIVE);
    }

    /// Returns the number of observations so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the weighted share of lost packets.
    pub(super) fn average_loss(&self) -> f64 {
        self.average_loss
    }

    /// Returns the observations, the newest first, with their weights.
    fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        self.recent.iter().scan(1.0, |next, observation| {
            let weight = *next;
            *next *= TEMPORAL_WEIGHT;
            Some((weight, observation))
        })
    }

    /// Takes one step of Newton's method towards the most likely inherent loss at the
    /// channel's bandwidth.
    pub(super) fn fit_inherent_loss(&self, channel: &mut Channel) {
        clamp_inherent_loss(channel);
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, o) in self.weighted() {
            let p = loss_probability(channel, o.sending_rate);
            let (lost, received) = (f64::from(o.lost), f64::from(o.received));
            first += weight * (lost / p - received / (1.0 - p));
            second -= weight * (lost / (p * p) + received / ((1.0 - p) * (1.0 - p)));
        }
        if second < 0.0 {
            channel.inherent_loss -= NEWTON_STEP * first / second;
        }
        clamp_inherent_loss(channel);
    }

    /// Returns the log-likelihood of the channel, with a preference for more bandwidth
    /// while little is lost.
    pub(super) fn objective(&self, channel: &Channel) -> f64 {
        let kbps = channel.bandwidth.as_kbps();
        let gap = PREFERENCE_LOSS - self.average_loss;
        let preference = gap / (PREFERENCE_SMOOTHING + gap.abs());
        let bias = preference * (BANDWIDTH_BIAS * kbps + LOG_BANDWIDTH_BIAS * kbps.ln_1p());
        // Below the bandwidth the probability is the same for all observations.
        let mut logs = Logs::of(loss_probability(channel, Rate::ZERO));
        self.weighted()
            .map(|(weight, o)| {
                let p = loss_probability(channel, o.sending_rate);
                if p != logs.p {
                    logs = Logs::of(p);
                }
                let (lost, received) = (f64::from(o.lost), f64::from(o.received));
                weight * (lost * logs.lost + received * logs.received + bias * (lost + received))
            })
            .sum()
    }
}

/// Logarithms of the probabilities that a packet is lost and that it is received.
struct Logs {
    p: f64,
    lost: f64,
    received: f64,
}

impl Logs {
    fn of(p: f64) -> Logs {
        Logs {
            p,
            lost: p.ln(),
            received: (1.0 - p).ln(),
        }
    }
}

/// Returns the inherent loss plus the loss above the bandwidth.
fn loss_probability(channel: &Channel, sending_rate: Rate) -> f64 {
    let overflow = match sending_rate > channel.bandwidth {
        true => {
            let excess = sending_rate.saturating_sub(channel.bandwidth).as_kbps();
            excess / sending_rate.as_kbps().max(f64::MIN_POSITIVE)
        }
        false => 0.0,
    };
    let p = channel.inherent_loss + (1.0 - channel.inherent_loss) * overflow;
    p.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY)
}

/// Limits the inherent loss: the more bandwidth a channel claims, the less of its loss is
/// inherent.
fn clamp_inherent_loss(channel: &mut Channel) {
    let kbps = channel.bandwidth.as_kbps().max(f64::MIN_POSITIVE);
    let max = MAX_INHERENT_LOSS_OFFSET + MAX_INHERENT_LOSS_BALANCE_KBPS / kbps;
    channel.inherent_loss = channel.inherent_loss.clamp(MIN_INHERENT_LOSS, max.min(1.0));
}

#[cfg(test)]
mod tests;
