use weft_units::{Duration, Instant};

use super::Policed;
use crate::tcp::congestion::{AckSample, Phase};
use crate::tcp::rate::{Limit, RateSample};

const ROUND: Duration = Duration::from_millis(50);

/// A connection of which every round one acknowledgement tells.
#[derive(Default)]
struct Rounds {
    policed: Policed,
    at: Instant,
    delivered: u64,
    lost: u64,
}

impl Rounds {
    /// Rounds that deliver and lose so much each; whether one of them asks for
    /// new probing.
    fn run(&mut self, rounds: u32, delivered: u32, lost: u32, limit: Limit) -> bool {
        (0..rounds).fold(false, |probe, _| {
            self.round(delivered, lost, limit) || probe
        })
    }

    fn round(&mut self, delivered: u32, lost: u32, limit: Limit) -> bool {
        self.at += ROUND;
        self.delivered += u64::from(delivered);
        self.lost += u64::from(lost);
        let rate = RateSample {
            prior_delivered: self.delivered,
            delivered: u64::from(delivered),
            interval: ROUND,
            sent_in_flight: delivered,
            lost: u64::from(lost),
            limit,
        };
        let ack = AckSample {
            now: self.at,
            delivered,
            lost,
            total_delivered: self.delivered,
            total_lost: self.lost,
            in_flight: delivered,
            rtt: Some(ROUND),
            min_rtt: Some(ROUND),
            rate: Some(rate),
            lost_sample: None,
            phase: Phase::Recovery,
            window_was_full: true,
        };
        self.policed.on_ack(&ack, true, true)
    }
}

/// The first loss begins an interval, of which its round is one; a loss in the
/// fourth ends it.
#[test]
fn two_alike_intervals_of_much_loss_are_believed_for_48_rounds() {
    let mut rounds = Rounds::default();
    rounds.run(7, 40, 10, Limit::Network);
    assert_eq!(rounds.policed.bandwidth(), None);
    rounds.run(1, 40, 10, Limit::Network);
    // 40 segments in 50 ms.
    assert_eq!(rounds.policed.bandwidth(), Some(800.0));
    assert!(!rounds.run(47, 40, 0, Limit::Network));
    assert!(rounds.run(1, 40, 0, Limit::Network), "probes again");
    assert_eq!(rounds.policed.bandwidth(), None);
}

#[test]
fn less_than_a_fifth_lost_is_no_policer() {
    let mut rounds = Rounds::default();
    rounds.run(200, 40, 7, Limit::Network);
    assert_eq!(rounds.policed.bandwidth(), None);
    rounds.run(40, 40, 8, Limit::Network);
    assert_eq!(rounds.policed.bandwidth(), Some(800.0));
}

#[test]
fn intervals_that_differ_are_no_policer() {
    let mut rounds = Rounds::default();
    rounds.run(4, 40, 10, Limit::Network);
    rounds.run(4, 30, 10, Limit::Network);
    assert_eq!(rounds.policed.bandwidth(), None);
    // As the one before: the mean of the two.
    rounds.run(4, 32, 10, Limit::Network);
    assert_eq!(rounds.policed.bandwidth(), Some(620.0));
}

#[test]
fn an_application_without_data_and_losses_far_apart_begin_anew() {
    let mut rounds = Rounds::default();
    rounds.run(4, 40, 10, Limit::Network);
    rounds.run(1, 40, 10, Limit::Application);
    rounds.run(7, 40, 10, Limit::Network);
    assert_eq!(rounds.policed.bandwidth(), None);
    let mut rounds = Rounds::default();
    rounds.run(4, 40, 10, Limit::Network);
    rounds.run(17, 40, 0, Limit::Network);
    rounds.run(7, 40, 10, Limit::Network);
    assert_eq!(rounds.policed.bandwidth(), None);
}
