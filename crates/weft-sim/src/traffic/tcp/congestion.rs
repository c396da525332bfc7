//! Congestion control: how much may be under way, and how fast it leaves.
//!
//! To add an algorithm: a file here, a variant in
//! [`CongestionKind`](crate::CongestionKind).

mod aggregation;
mod bbr;
mod bbr1;
mod cubic;
mod filter;
mod hystart;
mod reno;
#[cfg(test)]
mod sample;

use weft_experiment::CongestionKind;
use weft_units::{Duration, Instant, Rate, Rng};

use super::rate::RateSample;
use crate::packet::tcp::{HEADERS, PAYLOAD};

/// RFC 6928.
pub(crate) const INITIAL_WINDOW: u32 = 10;

/// One algorithm at work on one connection. Windows count segments.
pub(crate) trait CongestionControl {
    /// An acknowledgement was taken in, losses that it showed included.
    fn on_ack(&mut self, ack: &AckSample);

    /// Loss or a mark was found while not recovering: once per round trip at
    /// most. `in_flight` is as before the acknowledgement that showed it.
    fn on_congestion(&mut self, now: Instant, in_flight: u32);

    /// The retransmission timer ran out, for the first time in a row.
    fn on_timeout(&mut self, now: Instant, in_flight: u32);

    /// Everything that was outstanding at the beginning of the recovery is
    /// acknowledged.
    fn on_recovered(&mut self, now: Instant);

    /// How much may be in flight.
    fn window(&self) -> u32;

    /// How fast segments may leave, headers included; `None`: as they come.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// How many segments leave at once when the pacer lets one go: what offload
    /// hands to the device together.
    fn burst(&self) -> u32 {
        1
    }

    /// Whether little is in flight to measure the round trip: what is delivered
    /// meanwhile says nothing of the bandwidth.
    fn is_probing_rtt(&self) -> bool {
        false
    }

    /// Who sets the window during recovery.
    fn recovery(&self) -> RecoveryWindow {
        RecoveryWindow::Proportional
    }
}

/// Who sets the window during recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RecoveryWindow {
    /// Proportional rate reduction to [`CongestionControl::window`] (RFC 6937).
    Proportional,
    /// [`CongestionControl::window`] holds throughout.
    Own,
}

/// What the sender is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing is missing.
    Open,
    /// Less is sent because of marks.
    Reduced,
    /// Lost segments are sent again.
    Recovery,
    /// Everything outstanding is sent again.
    Timeout,
}

/// What one acknowledgement tells the algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckSample {
    pub now: Instant,
    /// Segments newly known to be delivered.
    pub delivered: u32,
    /// Segments newly found to be lost.
    pub lost: u32,
    /// All segments delivered on the connection, and all found to be lost.
    pub total_delivered: u64,
    pub total_lost: u64,
    /// As of after it.
    pub in_flight: u32,
    pub rtt: Option<Duration>,
    pub min_rtt: Option<Duration>,
    pub rate: Option<RateSample>,
    pub lost_sample: Option<LostSample>,
    pub phase: Phase,
    /// Whether the window was all that held the sender back.
    pub window_was_full: bool,
}

/// The newest lost segment of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostSample {
    /// In flight when it was sent.
    pub sent_in_flight: u32,
    /// Segments lost since then, itself included.
    pub lost: u64,
}

/// The algorithm of this kind at the beginning of a connection, whose
/// handshake took one round trip of `handshake`.
pub(crate) fn build(
    kind: CongestionKind,
    now: Instant,
    handshake: Duration,
    rng: &Rng,
) -> Box<dyn CongestionControl> {
    match kind {
        CongestionKind::Bbr1 => Box::new(bbr1::Bbr1::new(now, handshake, rng.stream("bbr"))),
        CongestionKind::Bbr2 => Box::new(bbr::Bbr::new(
            bbr::Version::TWO,
            now,
            handshake,
            rng.stream("bbr"),
        )),
        CongestionKind::Bbr3 => Box::new(bbr::Bbr::new(
            bbr::Version::THREE,
            now,
            handshake,
            rng.stream("bbr"),
        )),
        CongestionKind::Reno => Box::new(reno::Reno::new()),
        CongestionKind::Cubic => Box::new(cubic::Cubic::new()),
    }
}

/// The rate of so many segments a second, above zero.
fn on_the_link(segments_per_second: f64) -> Rate {
    let bits = segments_per_second * f64::from(HEADERS + PAYLOAD) * 8.0;
    Rate::from_bps((bits as u64).max(1))
}

/// Segments that Linux hands to the device together at so many a second: a
/// millisecond's (`sk_pacing_shift`), up to 64 KB, and at least two, at less
/// than 1.2 Mbps one (`bbr_tso_segs_goal`).
fn offload(segments_per_second: f64) -> u32 {
    const SLOW: f64 = 1.2e6 / 8.0 / PAYLOAD as f64;
    let least = if segments_per_second < SLOW { 1 } else { 2 };
    ((segments_per_second / 1024.0) as u32).clamp(least, 45)
}

/// Counts round trips: one is over when a segment that was sent after its
/// beginning is delivered.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Rounds {
    ends_at: u64,
    pub count: u64,
}

impl Rounds {
    /// Whether this acknowledgement begins a round.
    pub fn on_ack(&mut self, ack: &AckSample) -> bool {
        let begins = ack.rate.is_some_and(|r| r.prior_delivered >= self.ends_at);
        if begins {
            self.ends_at = ack.total_delivered;
            self.count += 1;
        }
        begins
    }

    /// A round begins with this acknowledgement, whatever the last one.
    pub fn restart(&mut self, ack: &AckSample) {
        self.ends_at = ack.total_delivered;
    }
}
