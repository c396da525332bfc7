use super::marks::Marking;
use weft_units::{Duration, Instant};

/// `MSS` in bytes.
pub(super) const MSS: f64 = 1000.0;
/// `MIN_REF_WND` in bytes.
pub(super) const MIN_WINDOW: f64 = 3000.0;
/// `BETA_LOSS` and `BETA_ECN`.
const BETA_LOSS: f64 = 0.7;
const BETA_ECN: f64 = 0.8;
/// `BYTES_IN_FLIGHT_HEAD_ROOM`.
const HEAD_ROOM: f64 = 1.5;
/// `POST_CONGESTION_DELAY_RTT`, round trips.
const POST_CONGESTION_RTTS: f64 = 100.0;
/// `MUL_INCREASE_FACTOR`, per round trip.
const MULTIPLICATIVE: f64 = 0.02;
/// `VIRTUAL_RTT`.
pub(super) const VIRTUAL_RTT: Duration = Duration::from_millis(25);
/// Number of round trips after which the inflection point is updated.
const INFLECTION_RTTS: u64 = 10;
/// Number of round trips without congestion after which the window counts as inflated.
const CALM_RTTS: u64 = 100;
/// Scale of the distance to the inflection point, and the smallest factors there.
const INFLECTION_SCALE: f64 = 8.0;
const INFLECTION_LEAST: f64 = 0.1;
const INFLECTION_LEAST_STEP: f64 = 0.25;
/// Smallest factor of both steps for a window of few segments.
const SMALL_LEAST: f64 = 0.5;
/// Shares of the queue's target: below the first, the back-off shrinks near the
/// inflection point; a queue of the second share slows growth.
const SHORT_QUEUE: f64 = 0.25;
const QUEUED_LEAST: f64 = 0.1;
/// Share of marks below which L4S does nothing.
const UNMARKED: f64 = 1e-4;

/// Feedback for the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    pub(super) now: Instant,
    pub(super) rtt: Duration,
    /// Newly acknowledged bytes without a mark.
    pub(super) unmarked_bytes: f64,
    pub(super) lost: bool,
    pub(super) marked: bool,
    pub(super) marking: Marking,
    /// `l4s_alpha`.
    pub(super) mark_share: f64,
    /// `qdelay`, `qdelay_avg`, `qdelay_target` in ms.
    pub(super) queue_ms: f64,
    pub(super) average_ms: f64,
    pub(super) target_ms: f64,
    /// `max_bytes_in_flight_prev`, and the maximum of both round trips.
    pub(super) flight_before: f64,
    pub(super) flight: f64,
    /// Whether the target rate is at its limit.
    pub(super) at_limit: bool,
    /// `target_bitrate` in bit/s.
    pub(super) target_bps: f64,
}

/// Reference window ("Reference Window Update").
#[derive(Debug)]
pub(super) struct Window {
    /// `ref_wnd` and `ref_wnd_i` in bytes.
    bytes: f64,
    inflection: f64,
    inflected: Option<Instant>,
    /// Whether a loss or mark occurred since the last reaction.
    lost: bool,
    marked: bool,
    congested: Option<Instant>,
    reacted: Option<Instant>,
}

impl Window {
    pub(super) fn new() -> Window {
        Window {
            bytes: MIN_WINDOW,
            inflection: 1.0,
            inflected: None,
            lost: false,
            marked: false,
            congested: None,
            reacted: None,
        }
    }

    /// Returns `ref_wnd` in bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    pub(super) fn set_bytes(&mut self, bytes: f64) {
        self.bytes = bytes.max(MIN_WINDOW);
    }

    /// Returns `ref_wnd_ratio`.
    pub(super) fn ratio(&self) -> f64 {
        (MSS / self.bytes).min(1.0)
    }

    pub(super) fn update(&mut self, update: &Update) {
        let near = (self.bytes - self.inflection) / self.inflection * INFLECTION_SCALE;
        let near = (near * near).clamp(INFLECTION_LEAST, 1.0);
        self.reduce(update, near);
        self.increase(update, near);
    }

    /// Returns whether the window was reduced within this time.
    pub(super) fn reacted_within(&self, now: Instant, time: Duration) -> bool {
        self.reacted
            .is_some_and(|at| now.saturating_since(at) < time)
    }

    fn reduce(&mut self, update: &Update, near: f64) {
        let now = update.now;
        self.lost |= update.lost;
        self.marked |= update.marked;
        if update.lost || update.marked {
            self.congested = Some(now);
        }
        let pause = VIRTUAL_RTT.min(update.rtt);
        if self.reacted_within(now, pause) {
            return;
        }
        let lost = std::mem::take(&mut self.lost);
        let marked = std::mem::take(&mut self.marked);
        let queued = (!lost && !marked).then(|| delay_share(update)).flatten();
        if !lost && !marked && queued.is_none() {
            return;
        }
        let inflected = self
            .inflected
            .is_some_and(|at| now.saturating_since(at) <= update.rtt * INFLECTION_RTTS);
        if !inflected {
            self.inflected = Some(now);
            self.inflection = self.bytes.max(1.0);
        }
        if lost {
            self.bytes *= BETA_LOSS;
        }
        if marked {
            match update.marking {
                Marking::Classic => self.bytes *= BETA_ECN,
                Marking::L4s => self.back_off(update, near),
            }
        }
        if let Some(share) = queued {
            self.bytes *= 1.0 - share / 2.0 / reactions(update.rtt) * self.small();
        }
        self.bytes = self.bytes.max(MIN_WINDOW);
        self.reacted = Some(now);
    }

    /// Reduces the window in proportion to the marks.
    fn back_off(&mut self, update: &Update, near: f64) {
        let mut share = update.mark_share / 2.0 / reactions(update.rtt) * self.small();
        if update.queue_ms < update.target_ms * SHORT_QUEUE {
            share *= near.max(INFLECTION_LEAST_STEP);
        }
        let calm = VIRTUAL_RTT.max(update.rtt) * CALM_RTTS;
        if !self.reacted_within(update.now, calm) {
            self.bytes = self.bytes.min(update.flight_before.max(MIN_WINDOW));
        }
        self.bytes *= 1.0 - share;
    }

    /// Returns the factor for a window of few segments, which moves less.
    fn small(&self) -> f64 {
        (1.0 - self.ratio()).max(SMALL_LEAST)
    }

    fn increase(&mut self, update: &Update, near: f64) {
        let longer = VIRTUAL_RTT.max(update.rtt).as_secs_f64();
        let calm = self.congested.map_or(1.0, |at| {
            let elapsed = update.now.saturating_since(at).as_secs_f64();
            (elapsed / (POST_CONGESTION_RTTS * longer)).min(1.0)
        });
        let shorter = (update.rtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).min(1.0);
        let mut increment = update.unmarked_bytes * self.ratio();
        increment *= shorter * shorter;
        increment *= near.max(INFLECTION_LEAST_STEP);
        increment *= self.small();
        if update.mark_share < UNMARKED {
            let queued = update.average_ms / (update.target_ms * SHORT_QUEUE);
            increment *= (1.0 - queued).max(QUEUED_LEAST);
        }
        increment *= 1.0 + MULTIPLICATIVE * self.bytes / MSS * calm * near;
        let bytes = self.bytes + increment;
        if bytes <= MSS + update.flight * HEAD_ROOM && !update.at_limit {
            self.bytes = bytes;
        }
    }
}

/// Returns the number of reactions per round trip; they share the back-off.
fn reactions(rtt: Duration) -> f64 {
    (rtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).max(1.0)
}

/// Returns `l4s_alpha_v`: a queue above half of its target counts as marks, unless there
/// are real marks.
fn delay_share(update: &Update) -> Option<f64> {
    let half = update.target_ms / 2.0;
    let limit = 2.0 / update.target_bps.max(1.0) * MSS * 8.0 / update.rtt.as_secs_f64();
    if update.queue_ms <= half || update.mark_share >= limit {
        return None;
    }
    let excess = ((update.average_ms - half) / half).max(0.0);
    Some((2.0 * limit * excess).min(1.0))
}

#[cfg(test)]
mod tests;
