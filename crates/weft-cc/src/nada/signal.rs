use super::loss_intervals::LossIntervals;
use crate::PacketResult;
use crate::measure::{BaseDelay, TEN_MINUTES};
use std::collections::VecDeque;
use weft_units::{Duration, Ecn, Instant};

/// `LOGWIN`, the window of the receiver's statistics (section 6.3, table 2).
pub(super) const LOGWIN: Duration = Duration::from_millis(500);

/// Taps of the minimum filter over delay samples (section 5.1.1).
const TAPS: usize = 15;
/// `QEPS`: queueing delay in ms below which there is no queue (section 6.3, table 2).
const QEPS_MS: f64 = 10.0;
/// `QTH` in ms and `LAMBDA`: start of the non-linear warping and its decay (section 4.2,
/// table 2).
const QTH_MS: f64 = 50.0;
const LAMBDA: f64 = 0.5;
/// `MULTILOSS`: number of mean loss intervals for which a loss counts as recent (section
/// 4.2, table 2).
const MULTILOSS: f64 = 7.0;
/// `PLRREF`, `PMRREF`, and the equivalent delays `DLOSS` and `DMARK` in ms (section 4.2,
/// table 2).
const REFERENCE_LOSS: f64 = 0.01;
const REFERENCE_MARKS: f64 = 0.01;
const DLOSS_MS: f64 = 10.0;
const DMARK_MS: f64 = 2.0;
/// `ALPHA`, the weight of a new loss or marking ratio (section 5.1.2,
/// table 2).
const ALPHA: f64 = 0.1;
/// Most packets in `LOGWIN`; more would only use memory.
const MAX_PACKETS: usize = 4096;

/// Report that RFC 8698's receiver would send (section 4.2).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Report {
    /// `x_curr` in ms.
    pub(super) congestion_ms: f64,
    /// `rmode`.
    pub(super) mode: Mode,
}

/// Mode of the rate update (section 4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// Neither loss nor queue for a whole window: accelerated ramp-up.
    RampUp,
    /// Otherwise: gradual update.
    Gradual,
}

/// Aggregate congestion signal (section 4.2).
#[derive(Debug)]
pub(super) struct CongestionSignal {
    base: BaseDelay,
    taps_ms: VecDeque<f64>,
    /// Packets reported during `LOGWIN`.
    window: VecDeque<Observation>,
    /// `p_loss` and `p_mark`.
    loss: f64,
    marks: f64,
    losses: LossIntervals,
    congestion_ms: f64,
}

#[derive(Clone, Copy, Debug)]
struct Observation {
    at: Instant,
    lost: bool,
    marked: bool,
    queue_ms: f64,
}

impl Default for CongestionSignal {
    fn default() -> CongestionSignal {
        CongestionSignal {
            // "Tens of minutes" (section 5.1.1), but clocks drift apart.
            base: BaseDelay::new(TEN_MINUTES),
            taps_ms: VecDeque::with_capacity(TAPS),
            window: VecDeque::new(),
            loss: 0.0,
            marks: 0.0,
            losses: LossIntervals::default(),
            congestion_ms: 0.0,
        }
    }
}

impl CongestionSignal {
    pub(super) fn on_packet(&mut self, now: Instant, result: &PacketResult) {
        let sent = result.sent.sent_at;
        if let Some(arrival) = result.arrival {
            if self.taps_ms.len() == TAPS {
                self.taps_ms.pop_front();
            }
            self.taps_ms
                .push_back(self.base.queue_ms(now, sent, arrival));
            self.losses.on_delivered();
        } else {
            self.losses.on_lost();
        }
        self.window.push_back(Observation {
            at: now,
            lost: result.arrival.is_none(),
            marked: result.arrival.is_some() && result.ecn == Ecn::Ce,
            queue_ms: self.queue_ms(),
        });
        while let Some(oldest) = self.window.front() {
            let old = now.saturating_since(oldest.at) > LOGWIN;
            if !old && self.window.len() <= MAX_PACKETS {
                break;
            }
            self.window.pop_front();
        }
    }

    /// Returns `p_mark`, 0 to 1.
    pub(super) fn marks(&self) -> f64 {
        self.marks
    }

    /// Returns `d_queue` in ms after the minimum filter.
    pub(super) fn queue_ms(&self) -> f64 {
        let least = self.taps_ms.iter().copied().fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }

    /// Returns `p_loss`, 0 to 1.
    pub(super) fn loss(&self) -> f64 {
        self.loss
    }

    /// Returns the last `x_curr` in ms.
    pub(super) fn congestion_ms(&self) -> f64 {
        self.congestion_ms
    }

    /// Ends a feedback interval and returns its report.
    pub(super) fn report(&mut self) -> Report {
        let packets = self.window.len().max(1) as f64;
        let lost = self.window.iter().filter(|o| o.lost).count();
        let marked = self.window.iter().filter(|o| o.marked).count();
        self.loss += ALPHA * (lost as f64 / packets - self.loss);
        self.marks += ALPHA * (marked as f64 / packets - self.marks);
        self.congestion_ms = tilde_ms(self.queue_ms(), self.losses.age())
            + penalty_ms(DMARK_MS, self.marks / REFERENCE_MARKS)
            + penalty_ms(DLOSS_MS, self.loss / REFERENCE_LOSS);
        // The RFC names only losses and delay, but a mark is a congestion signal too.
        let queued = self.window.iter().any(|o| o.queue_ms >= QEPS_MS);
        let mode = match lost == 0 && marked == 0 && !queued {
            true => Mode::RampUp,
            false => Mode::Gradual,
        };
        Report {
            congestion_ms: self.congestion_ms,
            mode,
        }
    }
}

/// Returns `d_tilde`: while there are losses, a long queue belongs to other traffic and
/// counts less. `age` is the age of the last loss in mean intervals; after it expires,
/// the queue regains its full weight over one more interval.
fn tilde_ms(queue_ms: f64, age: Option<f64>) -> f64 {
    let unwarped = age.map_or(1.0, |age| (age - MULTILOSS).clamp(0.0, 1.0));
    unwarped * queue_ms + (1.0 - unwarped) * warped_ms(queue_ms)
}

/// Returns the delay warped by equation 1.
fn warped_ms(queue_ms: f64) -> f64 {
    if queue_ms < QTH_MS {
        return queue_ms;
    }
    QTH_MS * (-LAMBDA * (queue_ms - QTH_MS) / QTH_MS).exp()
}

/// Returns the penalty of a ratio relative to its reference.
fn penalty_ms(delay_ms: f64, relative: f64) -> f64 {
    delay_ms * relative * relative
}

#[cfg(test)]
mod tests;
