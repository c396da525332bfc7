use weft_units::{Duration, Instant};

use super::Aggregation;
use crate::traffic::tcp::congestion::sample::ack;

/// Returns the excess for segments acknowledged at these times in ms, at 1,000 segments
/// per second; a round is 50 ms.
fn most(acknowledged: &[(u64, u32)], window: f64) -> f64 {
    let mut aggregation = Aggregation::new(Instant::ZERO);
    for &(ms, delivered) in acknowledged {
        let ack = ack(Duration::from_millis(ms), delivered);
        aggregation.on_ack(&ack, 1000.0, ms / 50, window);
    }
    aggregation.most()
}

#[test]
fn a_steady_stream_has_no_more_than_one_acknowledgement_brings() {
    let steady: Vec<_> = (1..=100).map(|n| (2 * n, 2)).collect();
    assert_eq!(most(&steady, 100.0), 2.0);
}

#[test]
fn delayed_packets_come_on_top() {
    // Nothing for 20 ms, then everything in two acknowledgements.
    assert_eq!(most(&[(2, 2), (22, 11), (22, 9), (24, 2)], 100.0), 20.0);
    assert_eq!(most(&[(2, 2), (22, 11), (22, 9), (24, 2)], 15.0), 15.0);
}

#[test]
fn it_adds_up_until_the_stream_is_behind_again() {
    // 15 in the 8 ms that start after the first six; behind at 40 ms.
    assert_eq!(most(&[(2, 2), (7, 6), (12, 6), (15, 3)], 100.0), 7.0);
    assert_eq!(most(&[(2, 2), (7, 6), (40, 6), (45, 5)], 100.0), 6.0);
}

#[test]
fn it_is_forgotten_after_ten_rounds() {
    let mut acknowledged = vec![(2, 30)];
    acknowledged.extend((20..250).map(|n| (2 * n, 2)));
    assert_eq!(most(&acknowledged, 100.0), 30.0);
    acknowledged.push((500, 2));
    assert_eq!(most(&acknowledged, 100.0), 2.0);
}
