use super::Sender;
use crate::packet::tcp::Acknowledgement;
use crate::traffic::tcp::congestion;
use weft_experiment::CongestionKind;
use weft_units::{Duration, Instant, Rng};

const RTT: Duration = Duration::from_millis(50);

/// Endless sender with constructed acknowledgements.
struct Line {
    sender: Sender,
    now: Instant,
    /// Segments that announced a reduction (CWR), in order.
    told: Vec<u32>,
}

impl Line {
    /// Creates Reno with its first ten segments in flight, 0 to 9.
    fn of_ten() -> Line {
        let now = Instant::ZERO;
        let reno = congestion::build(CongestionKind::Reno, now, RTT, &Rng::new(1));
        let mut line = Line {
            sender: Sender::new(now, reno, 0, u32::MAX, u32::MAX, RTT),
            now,
            told: Vec::new(),
        };
        line.transmit();
        assert_eq!(line.sender.board.next(), 10);
        line.now += RTT;
        line
    }

    fn transmit(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(self.now) {
            if segment.reduced {
                self.told.push(segment.number);
            }
        }
    }

    /// Acknowledges everything below `next`, and the range above; returns the number of
    /// window reductions so far.
    fn acknowledge(&mut self, next: u32, above: (u32, u32), echo: bool) -> u64 {
        self.now += Duration::from_millis(1);
        let ack = Acknowledgement {
            next,
            blocks: [above, (0, 0), (0, 0)],
            duplicate: false,
            echo,
        };
        self.sender.on_acknowledgement(self.now, &ack);
        self.transmit();
        self.sender.counters.reductions
    }
}

const NONE: (u32, u32) = (0, 0);

/// RFC 3168 section 6.1.2: at most once per round trip. The mark is echoed until the
/// first segment after the reduction informs the receiver.
#[test]
fn one_mark_reduces_the_window_once() {
    let mut line = Line::of_ten();
    for next in 1..=10 {
        assert_eq!(line.acknowledge(next, NONE, true), 1, "{next}");
    }
    assert_eq!(line.told, [10]);
    // Half of the ten segments in flight.
    assert_eq!(line.sender.window(), 5);
    assert_eq!(line.acknowledge(11, NONE, false), 1);
    // The next mark belongs to the next round trip.
    let next = line.sender.board.next();
    assert_eq!(line.acknowledge(12, NONE, true), 2);
    assert_eq!(line.acknowledge(13, NONE, true), 2);
    assert_eq!(line.told, [10, next]);
}

/// From the same section: the receiver is informed of every reduction, so the reaction to
/// a loss also answers a mark next to it.
#[test]
fn a_mark_beside_a_loss_calls_for_nothing_more() {
    let mut line = Line::of_ten();
    // Segment 0 is lost, 1 was marked.
    assert_eq!(line.acknowledge(0, (1, 2), true), 0);
    assert_eq!(line.acknowledge(0, (1, 3), true), 0);
    let next = line.sender.board.next();
    for to in 4..=next {
        assert_eq!(line.acknowledge(0, (1, to), true), 1, "{to}");
    }
    assert_eq!(line.told, [next]);
    // The retransmission has arrived, and closes the gap.
    line.now += RTT;
    assert_eq!(line.acknowledge(next, NONE, true), 1);
    assert_eq!(line.acknowledge(next + 1, NONE, false), 1);
    assert_eq!(line.acknowledge(next + 2, NONE, true), 2);
}

#[test]
fn a_timeout_is_reported() {
    let mut line = Line::of_ten();
    while line.sender.counters.timeouts == 0 {
        line.now = line.sender.due().expect("a timer");
        line.sender.on_timer(line.now);
        line.transmit();
    }
    assert_eq!(line.acknowledge(10, NONE, true), 1);
    assert_eq!(line.told, [10]);
}

/// Returns the number of segments that BBR sends at once in its first round trip of this
/// length, and the wait before the next.
fn first_burst(round_trip: Duration) -> (usize, Duration) {
    let begun = Instant::ZERO;
    let bbr = congestion::build(CongestionKind::Bbr1, begun, round_trip, &Rng::new(1));
    let mut sender = Sender::new(begun, bbr, 0, u32::MAX, u32::MAX, round_trip);
    let burst = std::iter::from_fn(|| sender.poll_transmit(begun)).count();
    let next = sender.due().expect("paced");
    assert!(sender.poll_transmit(next).is_some());
    (burst, next - begun)
}

/// 2.885 times ten segments per round trip: 6.9 Mbps in 50 ms, of which Linux sends two
/// at once, and 0.69 Mbps in 500 ms, below its threshold of 1.2 Mbps. The rate stays the
/// same.
#[test]
fn paced_segments_leave_in_pairs_unless_they_are_slow() {
    let gap = |round_trip: f64| round_trip / (2.885 * 10.0 * 0.99);
    for (ms, segments) in [(50, 2), (500, 1)] {
        let round_trip = Duration::from_millis(ms);
        let (burst, wait) = first_burst(round_trip);
        assert_eq!(burst, segments);
        let expected = gap(round_trip.as_secs_f64()) * segments as f64;
        let apart = (wait.as_secs_f64() / expected - 1.0).abs();
        assert!(apart < 0.001, "{wait:?} for {segments} at {ms} ms");
    }
}
