//! Congestion control: the amount in flight and the pacing rate.
//!
//! To add an algorithm, add a file here and a variant of
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

/// Initial window (RFC 6928).
pub(crate) const INITIAL_WINDOW: u32 = 10;

/// Congestion control algorithm of one connection. Windows count segments.
pub(crate) trait CongestionControl: Send {
    /// Processes an acknowledgement, including the losses that it showed.
    fn on_ack(&mut self, ack: &AckSample);

    /// Reacts to loss or a mark found outside recovery: at most once per round trip.
    /// `in_flight` is the amount before the acknowledgement that showed it.
    fn on_congestion(&mut self, now: Instant, in_flight: u32);

    /// Reacts to the first of consecutive retransmission timeouts.
    fn on_timeout(&mut self, now: Instant, in_flight: u32);

    /// Ends the recovery: everything that was outstanding at its beginning is
    /// acknowledged.
    fn on_recovered(&mut self, now: Instant);

    /// Returns the largest number of segments in flight.
    fn window(&self) -> u32;

    /// Returns the pacing rate, including headers; `None`: no pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Returns the number of segments that leave together when the pacer allows one: the
    /// size of an offload burst.
    fn burst(&self) -> u32 {
        1
    }

    /// Returns whether few segments are in flight in order to measure the round trip:
    /// deliveries during this time say nothing about the bandwidth.
    fn is_probing_rtt(&self) -> bool {
        false
    }

    /// Returns the algorithm that sets the window during recovery.
    fn recovery(&self) -> RecoveryWindow {
        RecoveryWindow::Proportional
    }
}

/// Algorithm that sets the window during recovery.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RecoveryWindow {
    /// Proportional rate reduction to [`CongestionControl::window`] (RFC 6937).
    Proportional,
    /// [`CongestionControl::window`] applies during recovery, too.
    Own,
}

/// Phase of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// No loss is known.
    Open,
    /// The rate is reduced because of marks.
    Reduced,
    /// Lost segments are retransmitted.
    Recovery,
    /// Everything outstanding is retransmitted.
    Timeout,
}

/// Data of one acknowledgement for the algorithm.
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
    /// Segments in flight after this acknowledgement.
    pub in_flight: u32,
    pub rtt: Option<Duration>,
    pub min_rtt: Option<Duration>,
    pub rate: Option<RateSample>,
    pub lost_sample: Option<LostSample>,
    pub phase: Phase,
    /// Whether only the window limited the sender.
    pub window_was_full: bool,
}

/// Newest lost segment of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostSample {
    /// Segments in flight when it was sent.
    pub sent_in_flight: u32,
    /// Segments lost since then, including itself.
    pub lost: u64,
}

/// Creates the algorithm of this kind at the start of a connection; `handshake` is the
/// round trip of its handshake.
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

/// Returns the rate of this many segments a second, above zero.
fn on_the_link(segments_per_second: f64) -> Rate {
    let bits = segments_per_second * f64::from(HEADERS + PAYLOAD) * 8.0;
    Rate::from_bps((bits as u64).max(1))
}

/// Returns the size of an offload burst in Linux at this rate: segments of a millisecond
/// (`sk_pacing_shift`), up to 64 KB, and at least two, or one below 1.2 Mbps
/// (`bbr_tso_segs_goal`).
fn offload(segments_per_second: f64) -> u32 {
    const SLOW: f64 = 1.2e6 / 8.0 / PAYLOAD as f64;
    let least = if segments_per_second < SLOW { 1 } else { 2 };
    ((segments_per_second / 1024.0) as u32).clamp(least, 45)
}

/// Counter of round trips: a round ends when a segment that was sent after its start is
/// delivered.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Rounds {
    ends_at: u64,
    pub count: u64,
}

impl Rounds {
    /// Returns whether this acknowledgement starts a round.
    pub fn on_ack(&mut self, ack: &AckSample) -> bool {
        let begins = ack.rate.is_some_and(|r| r.prior_delivered >= self.ends_at);
        if begins {
            self.ends_at = ack.total_delivered;
            self.count += 1;
        }
        begins
    }

    /// Starts a round with this acknowledgement.
    pub fn restart(&mut self, ack: &AckSample) {
        self.ends_at = ack.total_delivered;
    }
}
