use super::Policed;
use crate::traffic::tcp::congestion::sample::Rounds;
use crate::traffic::tcp::rate::Limit;

#[derive(Default)]
struct Connection {
    rounds: Rounds,
    policed: Policed,
}

impl Connection {
    /// Feeds round trips with these deliveries and losses each; returns whether one of
    /// them requests new probing.
    fn run(&mut self, rounds: u32, delivered: u32, lost: u32) -> bool {
        (0..rounds).fold(false, |probe, _| {
            let ack = self.rounds.next(delivered, lost, Limit::Network);
            self.policed.on_ack(&ack, true, true) || probe
        })
    }
}

/// The first loss starts an interval that includes its round; a loss in the fourth round
/// ends it.
#[test]
fn two_similar_intervals_of_much_loss_count_as_a_policer_for_48_rounds() {
    let mut connection = Connection::default();
    connection.run(7, 40, 10);
    assert_eq!(connection.policed.bandwidth(), None);
    connection.run(1, 40, 10);
    // 40 segments in 50 ms.
    assert_eq!(connection.policed.bandwidth(), Some(800.0));
    // Acknowledgements that start no round, and those outside of probing, do not count.
    for (begins, probes) in [(false, true), (true, false)] {
        for _ in 0..50 {
            let ack = connection.rounds.next(40, 0, Limit::Network);
            assert!(!connection.policed.on_ack(&ack, begins, probes));
        }
    }
    assert!(!connection.run(47, 40, 0));
    assert!(connection.run(1, 40, 0), "probes again");
    assert_eq!(connection.policed.bandwidth(), None);
}

#[test]
fn less_than_a_fifth_lost_is_not_a_policer() {
    let mut connection = Connection::default();
    connection.run(200, 40, 7);
    assert_eq!(connection.policed.bandwidth(), None);
    connection.run(40, 40, 8);
    assert_eq!(connection.policed.bandwidth(), Some(800.0));
}

#[test]
fn intervals_that_differ_are_not_a_policer() {
    let mut connection = Connection::default();
    connection.run(4, 40, 10);
    connection.run(4, 30, 10);
    assert_eq!(connection.policed.bandwidth(), None);
    // Similar to the previous one: the mean of the two.
    connection.run(4, 32, 10);
    assert_eq!(connection.policed.bandwidth(), Some(620.0));
}

#[test]
fn an_application_without_data_restarts() {
    let mut connection = Connection::default();
    connection.run(4, 40, 10);
    let ack = connection.rounds.next(40, 10, Limit::Application);
    connection.policed.on_ack(&ack, true, true);
    connection.run(7, 40, 10);
    assert_eq!(connection.policed.bandwidth(), None);
    connection.run(1, 40, 10);
    assert_eq!(connection.policed.bandwidth(), Some(800.0));
}

/// After 16 rounds, the second interval is abandoned together with the first.
#[test]
fn an_interval_without_an_end_restarts() {
    let mut connection = Connection::default();
    connection.run(4, 40, 10);
    connection.run(17, 40, 0);
    connection.run(7, 40, 10);
    assert_eq!(connection.policed.bandwidth(), None);
    connection.run(1, 40, 10);
    assert_eq!(connection.policed.bandwidth(), Some(800.0));
}
