use weft_units::{Instant, Rng};

use super::{Bbr1, PACING_MARGIN};
use crate::traffic::tcp::congestion::sample::{RTT, Rounds};
use crate::traffic::tcp::congestion::{AckSample, CongestionControl};
use crate::traffic::tcp::rate::Limit;

struct Connection {
    rounds: Rounds,
    bbr: Bbr1,
}

impl Connection {
    fn new() -> Connection {
        Connection {
            rounds: Rounds::default(),
            bbr: Bbr1::new(Instant::ZERO, RTT, Rng::new(1)),
        }
    }

    /// Feeds one acknowledgement per round trip; returns the pacing rate after each.
    fn run(&mut self, rounds: u32, delivered: u32, lost: u32) -> Vec<f64> {
        let paced = (0..rounds).map(|_| {
            let ack = self.rounds.next(delivered, lost, Limit::Network);
            self.bbr.on_ack(&ack);
            self.bbr.pacing
        });
        paced.collect()
    }
}

/// 40 segments in 50 ms.
const RATE: f64 = 800.0;

#[test]
fn a_policed_connection_paces_at_what_is_left_and_then_probes_again() {
    let mut connection = Connection::new();
    connection.run(30, 40, 0);
    // Two intervals of high loss.
    connection.run(8, 30, 10);
    let policed = connection.run(40, 30, 0);
    let expected = 600.0 * PACING_MARGIN;
    assert!(
        policed.iter().all(|rate| (rate - expected).abs() < 1.0),
        "{policed:?}"
    );
    let probing = connection.run(40, 30, 0);
    let most = probing.iter().copied().fold(0.0, f64::max);
    assert!((most - 1.25 * expected).abs() < 1.0, "{probing:?}");
}

/// Late, aggregated acknowledgements enlarge the window, which includes the 40 segments
/// of every acknowledgement; by at most 100 ms of the rate.
#[test]
fn gathered_acknowledgements_enlarge_the_window() {
    let window = |late: u32| {
        let mut connection = Connection::new();
        connection.run(30, 40, 0);
        let ack = connection.rounds.next(40, 0, Limit::Network);
        let delivered = 40 + late;
        connection.bbr.on_ack(&AckSample { delivered, ..ack });
        connection.run(3, 40, 0);
        connection.bbr.window()
    };
    let usual = window(0);
    assert_eq!(window(20), usual + 20);
    assert_eq!(window(39), usual + 40, "even");
    assert_eq!(window(200), usual + (RATE / 10.0) as u32 - 40);
}
