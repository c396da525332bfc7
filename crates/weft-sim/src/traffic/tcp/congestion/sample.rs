//! Constructed acknowledgements for tests.

use weft_units::{Duration, Instant};

use super::{AckSample, Phase};
use crate::traffic::tcp::rate::{Limit, RateSample};

pub(super) const RTT: Duration = Duration::from_millis(50);

/// Returns an acknowledgement that delivers this many segments without loss and without a
/// rate.
pub(super) fn ack(at: Duration, delivered: u32) -> AckSample {
    AckSample {
        now: Instant::ZERO + at,
        delivered,
        lost: 0,
        total_delivered: 0,
        total_lost: 0,
        in_flight: 0,
        rtt: None,
        min_rtt: Some(RTT),
        rate: None,
        lost_sample: None,
        phase: Phase::Open,
        window_was_full: true,
    }
}

/// Connection with one acknowledgement per round trip.
#[derive(Default)]
pub(super) struct Rounds {
    at: Duration,
    delivered: u64,
    lost: u64,
}

impl Rounds {
    /// Returns the next acknowledgement, of this many segments.
    pub fn next(&mut self, delivered: u32, lost: u32, limit: Limit) -> AckSample {
        self.at += RTT;
        let rate = RateSample {
            prior_delivered: self.delivered,
            delivered: u64::from(delivered),
            interval: RTT,
            sent_in_flight: delivered,
            lost: u64::from(lost),
            limit,
        };
        self.delivered += u64::from(delivered);
        self.lost += u64::from(lost);
        AckSample {
            lost,
            total_delivered: self.delivered,
            total_lost: self.lost,
            in_flight: delivered,
            rtt: Some(RTT),
            rate: Some(rate),
            ..ack(self.at, delivered)
        }
    }
}
