use crate::path::Content;
use weft_cc::SentPacket;
use weft_units::{Bytes, Duration, Ecn, Instant, StreamId};

use super::{Arrival, Carried, History};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn came(ms: u64) -> Arrival {
    Arrival {
        at: at(ms),
        ecn: Ecn::Ect1,
    }
}

fn history(packets: u64) -> History {
    let mut history = History::beginning_at(0);
    for number in 0..packets {
        let sent = SentPacket {
            number,
            sent_at: at(number),
            size: Bytes(1000),
            probe: None,
        };
        let carried = Carried {
            content: Content::Media,
            stream: StreamId(0),
            sequence: 100 + number,
        };
        history.push(sent, Ecn::Ect1, carried, Bytes::ZERO);
    }
    history
}

fn lost(history: &mut History, reports: &[(u64, Option<Arrival>)]) -> Vec<u64> {
    history
        .on_feedback(reports.iter().copied())
        .lost
        .iter()
        .map(|(n, _)| *n)
        .collect()
}

#[test]
fn a_packet_is_lost_once_a_later_one_of_its_path_has_come() {
    let mut h = history(4);
    let first = [(0, Some(came(50))), (1, None)];
    assert_eq!(
        lost(&mut h, &first),
        Vec::<u64>::new(),
        "nothing later has come"
    );
    assert_eq!(h.in_flight(), Bytes(3000));
    assert_eq!(lost(&mut h, &[(2, Some(came(52)))]), vec![1]);
    assert_eq!(
        lost(&mut h, &[(3, Some(came(53)))]),
        Vec::<u64>::new(),
        "lost only once"
    );
    assert_eq!(h.in_flight(), Bytes::ZERO);
}

#[test]
fn a_packet_that_no_feedback_mentions_is_not_lost() {
    let mut h = history(3);
    assert_eq!(lost(&mut h, &[(2, Some(came(52)))]), Vec::<u64>::new());
    assert!(h.overtaken(1), "but a NACK for it may be answered");
}

#[test]
fn a_spurious_loss_widens_the_reordering_window() {
    let mut h = history(10);
    assert_eq!(lost(&mut h, &[(0, None), (1, Some(came(51)))]), vec![0]);
    assert_eq!(lost(&mut h, &[(0, Some(came(60)))]), Vec::<u64>::new());
    assert_eq!(
        lost(&mut h, &[(2, None), (3, Some(came(61)))]),
        Vec::<u64>::new()
    );
    assert_eq!(
        lost(&mut h, &[(4, Some(came(62)))]),
        vec![2],
        "two later ones have come"
    );
}

#[test]
fn the_controller_hears_of_each_packet_once_and_in_order() {
    let mut h = history(4);
    let reports = [
        (3, Some(came(53))),
        (1, Some(came(51))),
        (2, None),
        (0, Some(came(50))),
    ];
    let numbers = |h: &mut History, r: &[(u64, Option<Arrival>)]| -> Vec<u64> {
        h.on_feedback(r.iter().copied())
            .results
            .iter()
            .map(|r| r.sent.number)
            .collect()
    };
    assert_eq!(numbers(&mut h, &reports), vec![0, 1, 2, 3]);
    assert_eq!(
        numbers(&mut h, &reports),
        Vec::<u64>::new(),
        "repeated feedback is no news"
    );
    assert_eq!(
        numbers(&mut h, &[(99, Some(came(9)))]),
        Vec::<u64>::new(),
        "never sent"
    );
}

#[test]
fn abandoning_gives_back_what_was_in_flight_newest_first() {
    let mut h = history(4);
    h.on_feedback([(1, Some(came(51)))]);
    let numbers: Vec<u64> = h.abandon().iter().map(|(n, _)| *n).collect();
    assert_eq!(numbers, vec![3, 2, 0]);
    assert_eq!(h.in_flight(), Bytes::ZERO);
}

#[test]
fn old_records_are_forgotten() {
    let mut h = history(4);
    h.prune(at(3002));
    assert_eq!(h.in_flight(), Bytes(2000));
    assert_eq!(h.next_number(), 4);
}
