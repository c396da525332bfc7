//! Delivery rate estimation (draft-cheng-iccrg-delivery-rate-estimation-02).

use weft_units::{Duration, Instant};

/// State of the connection when a segment was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentState {
    pub delivered: u64,
    pub delivered_at: Instant,
    pub first_sent_at: Instant,
    pub in_flight: u32,
    pub lost: u64,
    pub limit: Limit,
}

/// Limit of the sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Limit {
    Network,
    Application,
}

/// Counters of deliveries on one connection.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRate {
    pub delivered: u64,
    pub lost: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Count of deliveries up to which samples are limited by the application.
    limited_until: u64,
}

/// Delivery rate between two acknowledgements, one round trip apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateSample {
    /// `P.delivered` of the newest segment that was delivered.
    pub prior_delivered: u64,
    /// Segments delivered over `interval`; the interval is zero without a valid rate.
    pub delivered: u64,
    pub interval: Duration,
    /// Segments in flight when the newest delivered segment was sent.
    pub sent_in_flight: u32,
    /// Segments lost since then.
    pub lost: u64,
    pub limit: Limit,
}

impl RateSample {
    /// Returns segments per second, zero without a valid rate.
    pub fn per_second(&self) -> f64 {
        if self.interval == Duration::ZERO {
            return 0.0;
        }
        self.delivered as f64 / self.interval.as_secs_f64()
    }
}

/// Newest segment of one acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Newest {
    pub sent_at: Instant,
    pub state: SentState,
}

impl DeliveryRate {
    pub fn new() -> DeliveryRate {
        DeliveryRate {
            delivered: 0,
            lost: 0,
            delivered_at: Instant::ZERO,
            first_sent_at: Instant::ZERO,
            limited_until: 0,
        }
    }

    /// Records a segment that leaves while `in_flight` others are in flight.
    pub fn on_sent(&mut self, now: Instant, in_flight: u32) -> SentState {
        if in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SentState {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            in_flight: in_flight + 1,
            lost: self.lost,
            limit: if self.limited_until > self.delivered {
                Limit::Application
            } else {
                Limit::Network
            },
        }
    }

    /// Records that there was no data although the window had room.
    pub fn on_application_limited(&mut self, in_flight: u32) {
        self.limited_until = (self.delivered + u64::from(in_flight)).max(1);
    }

    /// Returns the sample of an acknowledgement that delivered `count` segments.
    pub fn on_delivered(
        &mut self,
        now: Instant,
        count: u32,
        newest: &Newest,
        min_rtt: Option<Duration>,
    ) -> RateSample {
        self.delivered += u64::from(count);
        self.delivered_at = now;
        let state = newest.state;
        self.first_sent_at = newest.sent_at;
        let sending = newest.sent_at.saturating_since(state.first_sent_at);
        let acknowledging = now.saturating_since(state.delivered_at);
        let interval = sending.max(acknowledging);
        // An interval shorter than any round trip is not a valid sample (section 3.3).
        let valid = min_rtt.is_none_or(|min| interval >= min);
        RateSample {
            prior_delivered: state.delivered,
            delivered: self.delivered - state.delivered,
            interval: if valid { interval } else { Duration::ZERO },
            sent_in_flight: state.in_flight,
            lost: self.lost.saturating_sub(state.lost),
            limit: state.limit,
        }
    }
}
