use super::Receiver;
use crate::packet::tcp::{Acknowledgement, Segment};
use weft_links::Ecn;
use weft_units::{Duration, Instant};

struct Line {
    receiver: Receiver,
    now: Instant,
}

impl Line {
    /// Creates a receiver past its quick acknowledgements, waiting for segment 16.
    fn settled() -> Line {
        let mut line = Line {
            receiver: Receiver::new(0),
            now: Instant::ZERO,
        };
        for n in 0..16 {
            line.take(n);
        }
        line.receiver.due = None;
        line.receiver.unacknowledged = 0;
        line
    }

    fn take(&mut self, number: u32) -> Option<Acknowledgement> {
        self.mark(number, Ecn::NotEct, false)
    }

    fn mark(&mut self, number: u32, ecn: Ecn, reduced: bool) -> Option<Acknowledgement> {
        self.now += Duration::from_millis(1);
        let segment = Segment { number, reduced };
        self.receiver.on_segment(self.now, segment, ecn)
    }
}

#[test]
fn every_second_segment_is_acknowledged_or_the_first_one_after_40_ms() {
    let mut line = Line::settled();
    assert_eq!(line.take(16), None);
    assert_eq!(line.take(17).map(|a| a.next), Some(18));
    assert_eq!(line.take(18), None);
    let due = line.now + Duration::from_millis(40);
    assert_eq!(line.receiver.due(), Some(due));
    let early = due.saturating_sub(Duration::from_nanos(1));
    assert_eq!(line.receiver.on_timer(early), None);
    assert_eq!(line.receiver.on_timer(due).map(|a| a.next), Some(19));
    assert_eq!(line.receiver.due(), None);
}

#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    let mut line = Line {
        receiver: Receiver::new(0),
        now: Instant::ZERO,
    };
    let count = (0..16).filter(|n| line.take(*n).is_some()).count();
    assert!((15..=16).contains(&count), "{count} acknowledgements");
}

#[test]
fn blocks_are_reported_newest_first_as_in_rfc_2018() {
    // Like RFC 2018 section 6, case 3: every second segment is lost.
    let mut line = Line::settled();
    assert_eq!(
        line.take(17).map(|a| a.blocks),
        Some([(17, 18), (0, 0), (0, 0)])
    );
    assert_eq!(
        line.take(19).map(|a| a.blocks),
        Some([(19, 20), (17, 18), (0, 0)])
    );
    line.take(21);
    let last = line.take(23).expect("at once");
    assert_eq!(last.blocks, [(23, 24), (21, 22), (19, 20)]);
    assert_eq!(last.next, 16);
    // Filling a gap joins two blocks and moves them to the front.
    let joined = line.take(20).expect("at once");
    assert_eq!(joined.blocks, [(19, 22), (23, 24), (0, 0)]);
    let all = line.take(16).expect("at once");
    assert_eq!((all.next, all.duplicate), (18, false));
}

#[test]
fn repeated_packets_are_reported_as_duplicates() {
    let mut line = Line::settled();
    assert!(line.take(3).is_some_and(|a| a.duplicate && a.next == 16));
    assert!(line.take(20).is_some_and(|a| !a.duplicate));
    assert!(line.take(20).is_some_and(|a| a.duplicate));
}

#[test]
fn a_mark_is_echoed_until_the_sender_has_reduced() {
    let mut line = Line::settled();
    assert!(line.mark(16, Ecn::Ce, false).is_some_and(|a| a.echo));
    line.mark(17, Ecn::Ect0, false);
    assert!(line.mark(18, Ecn::Ect0, false).is_some_and(|a| a.echo));
    line.mark(19, Ecn::Ect0, true);
    assert!(line.mark(20, Ecn::Ect0, false).is_some_and(|a| !a.echo));
}
