use super::{Progress, Scoreboard};
use crate::packet::tcp::Acknowledgement;
use crate::traffic::tcp::rate::DeliveryRate;
use weft_units::{Duration, Instant};

struct Line {
    board: Scoreboard,
    rate: DeliveryRate,
    now: Instant,
}

const RTT: Duration = Duration::from_millis(50);

impl Line {
    /// Creates a line with ten segments, 0 to 9, sent one per millisecond.
    fn of_ten() -> Line {
        let mut line = Line {
            board: Scoreboard::new(0),
            rate: DeliveryRate::new(),
            now: Instant::ZERO,
        };
        (0..10).for_each(|n| line.send(n));
        line.now = Instant::ZERO + RTT;
        line
    }

    fn send(&mut self, segment: u32) {
        self.now += Duration::from_millis(1);
        let state = self.rate.on_sent(self.now, self.board.in_flight());
        self.board.on_sent(self.now, segment, state);
    }

    fn acknowledge(&mut self, next: u32, blocks: &[(u32, u32)]) -> Progress {
        self.now += Duration::from_millis(1);
        let mut ack = Acknowledgement {
            next,
            blocks: [(0, 0); 3],
            duplicate: false,
            echo: false,
        };
        ack.blocks[..blocks.len()].copy_from_slice(blocks);
        self.board.on_acknowledgement(self.now, &ack, Some(RTT))
    }

    fn lose(&mut self, recovering: bool) -> u32 {
        let window = self
            .board
            .reordering_window(recovering, Some(RTT), Some(RTT));
        self.board.detect_losses(self.now, window).count
    }

    fn lost(&mut self) -> Vec<u32> {
        let mut lost = Vec::new();
        while let Some(segment) = self.board.next_lost() {
            lost.push(segment);
            self.send(segment);
        }
        lost
    }
}

#[test]
fn three_segments_above_a_gap_show_a_loss() {
    let mut line = Line::of_ten();
    line.acknowledge(2, &[]);
    for top in [4, 5] {
        line.acknowledge(2, &[(3, top)]);
        assert_eq!(line.lose(false), 0, "two segments may be reordered");
    }
    line.acknowledge(2, &[(3, 6)]);
    assert_eq!(line.lose(false), 1);
    // 0, 1, 3, 4, 5 arrived, 2 is lost.
    assert_eq!(line.board.in_flight(), 4);
    assert_eq!(line.lost(), [2]);
    assert_eq!(line.board.in_flight(), 5);
}

#[test]
fn a_gap_of_two_segments_is_lost_after_a_quarter_of_the_round_trip() {
    let mut line = Line::of_ten();
    line.acknowledge(2, &[(3, 5)]);
    let window = line.board.reordering_window(false, Some(RTT), Some(RTT));
    assert_eq!(window, RTT / 4);
    let losses = line.board.detect_losses(line.now, window);
    assert_eq!(losses.count, 0);
    // Segment 2 left at 3 ms; segment 4 left at 5 ms and took 46 ms.
    let expected = Instant::ZERO + Duration::from_millis(3 + 46) + RTT / 4;
    assert_eq!(losses.due, Some(expected));
    assert_eq!(line.board.detect_losses(expected, window).count, 1);
}

#[test]
fn a_lost_retransmission_is_found_by_what_left_after_it() {
    let mut line = Line::of_ten();
    line.acknowledge(0, &[(2, 10)]);
    assert_eq!(line.lose(false), 2);
    assert_eq!(line.lost(), [0, 1]);
    line.send(10);
    line.now += RTT;
    // 1 and 10 arrive, but not 0, although it was sent before them.
    line.acknowledge(0, &[(1, 11)]);
    assert_eq!(line.lose(true), 1);
    assert_eq!(line.lost(), [0]);
    line.now += RTT;
    let progress = line.acknowledge(11, &[]);
    assert_eq!((progress.advanced, progress.delivered), (11, 1));
    assert!(line.board.is_empty());
    assert_eq!(line.board.in_flight(), 0);
}

#[test]
fn after_a_timeout_everything_missing_goes_out_again_in_order() {
    let mut line = Line::of_ten();
    line.acknowledge(1, &[(4, 6)]);
    assert_eq!(line.board.lose_all(), 7);
    assert_eq!(line.board.in_flight(), 0);
    assert_eq!(line.lost(), [1, 2, 3, 6, 7, 8, 9]);
}

#[test]
fn a_segment_sent_twice_gives_no_round_trip() {
    let mut line = Line::of_ten();
    line.board.lose_all();
    line.send(0);
    line.now += RTT;
    assert_eq!(line.acknowledge(1, &[]).rtt, None);
    let progress = line.acknowledge(3, &[]);
    // They were marked as lost but arrive: sent once, at 2 ms.
    assert_eq!((progress.delivered, progress.advanced), (2, 2));
    let expected = line.now - (Instant::ZERO + Duration::from_millis(2));
    assert_eq!(progress.rtt, Some(expected));
}
