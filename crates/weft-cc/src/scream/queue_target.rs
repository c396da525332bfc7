use super::window::VIRTUAL_RTT;
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// `QDELAY_TARGET_HI` in ms.
const TARGET_HIGH_MS: f64 = 400.0;
/// `QDELAY_AVG_G`.
const AVERAGE_GAIN: f64 = 0.25;
/// Lengths of the histories behind variance and average ("Competing Flows
/// Compensation").
const VARIANCE_SAMPLES: usize = 200;
const AVERAGE_SAMPLES: usize = 50;
/// Sampling interval of the histories, which the text does not define: chosen by us, so
/// that the longer one spans ten seconds.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(50);
/// Share of round trips with losses that indicates a competing flow (ibid.).
const LOSSY: f64 = 0.002;
const LOSSY_FACTOR: f64 = 1.5;
/// Normalised variance below which the target may follow (ibid.).
const STEADY: f64 = 0.2;
/// Decrease of the target otherwise (ibid.).
const FALL_FAST: f64 = 0.5;
const FALL_SLOWLY: f64 = 0.9;
/// Weight of a round trip in `loss_event_rate`, which the draft does not define: chosen
/// by us, a memory of a hundred round trips.
const LOSS_GAIN: f64 = 0.01;

/// Average queueing delay and its target: `qdelay_avg` and `qdelay_target`.
#[derive(Debug)]
pub(crate) struct QueueTarget {
    /// `QDELAY_TARGET_LO` in ms.
    low_ms: f64,
    queue_ms: f64,
    average_ms: f64,
    averaged: Option<Instant>,
    target_ms: f64,
    /// Samples relative to `QDELAY_TARGET_LO`, the newest last.
    history: VecDeque<f64>,
    sampled: Option<Instant>,
    loss_event_rate: f64,
    /// Whether this round trip has seen a loss.
    lossy: bool,
    turned: Option<Instant>,
}

impl QueueTarget {
    pub(crate) fn new(low_ms: f64) -> QueueTarget {
        QueueTarget {
            low_ms,
            queue_ms: 0.0,
            average_ms: 0.0,
            averaged: None,
            target_ms: low_ms,
            history: VecDeque::with_capacity(VARIANCE_SAMPLES),
            sampled: None,
            loss_event_rate: 0.0,
            lossy: false,
            turned: None,
        }
    }

    /// Processes a feedback message whose newest packet had this queueing delay.
    pub(crate) fn update(&mut self, now: Instant, queue_ms: f64, lost: bool, rtt: Duration) {
        self.queue_ms = queue_ms;
        if due(&mut self.averaged, now, VIRTUAL_RTT.min(rtt)) {
            self.average_ms = match queue_ms < self.average_ms {
                true => queue_ms,
                false => AVERAGE_GAIN * queue_ms + (1.0 - AVERAGE_GAIN) * self.average_ms,
            };
        }
        self.lossy |= lost;
        if due(&mut self.turned, now, rtt) {
            let sample = f64::from(u8::from(std::mem::take(&mut self.lossy)));
            self.loss_event_rate += LOSS_GAIN * (sample - self.loss_event_rate);
        }
        if due(&mut self.sampled, now, SAMPLE_INTERVAL) {
            if self.history.len() == VARIANCE_SAMPLES {
                self.history.pop_front();
            }
            self.history.push_back(queue_ms / self.low_ms);
            self.adjust();
        }
    }

    /// Applies `adjust_qdelay_target`, which does not yield to flows that fill the queue.
    fn adjust(&mut self) {
        let (_, variance) = moments(self.history.iter().copied());
        let (average, _) = moments(self.history.iter().rev().take(AVERAGE_SAMPLES).copied());
        let new_ms = (average + variance.sqrt()) * self.low_ms;
        let target_ms = if self.loss_event_rate > LOSSY {
            LOSSY_FACTOR * new_ms
        } else if variance < STEADY {
            new_ms
        } else if new_ms < self.low_ms {
            (self.target_ms * FALL_FAST).max(new_ms)
        } else {
            self.target_ms * FALL_SLOWLY
        };
        self.target_ms = target_ms.clamp(self.low_ms, TARGET_HIGH_MS);
    }

    /// Returns `qdelay` in ms.
    pub(crate) fn queue_ms(&self) -> f64 {
        self.queue_ms
    }

    /// Returns `qdelay_avg` in ms.
    pub(crate) fn average_ms(&self) -> f64 {
        self.average_ms
    }

    /// Returns `qdelay_target` in ms.
    pub(crate) fn target_ms(&self) -> f64 {
        self.target_ms
    }
}

/// Returns true and restarts the interval if `interval` has passed.
pub(crate) fn due(last: &mut Option<Instant>, now: Instant, interval: Duration) -> bool {
    let due = last.is_none_or(|at| now.saturating_since(at) >= interval);
    if due {
        *last = Some(now);
    }
    due
}

/// Returns mean and variance.
fn moments(samples: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = samples.clone().count().max(1) as f64;
    let mean = samples.clone().sum::<f64>() / n;
    let variance = samples.map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, variance)
}

#[cfg(test)]
mod tests;
