use proptest::prelude::*;
use weft_units::{PathId, Ssrc};

use super::{Found, StreamNumbers};

const A: Ssrc = Ssrc(1);
const B: Ssrc = Ssrc(2);

#[test]
fn a_number_is_found_under_its_stream_in_any_order() {
    let mut numbers = StreamNumbers::default();
    // Path 1 has the shorter queue: packets that were packed later leave first.
    for (number, path, count) in [(65_535, 1, 0), (2, 1, 1), (65_534, 0, 0), (0, 0, 1)] {
        numbers.insert(A, number, (PathId(path), count));
    }
    numbers.insert(B, 0, (PathId(1), 2));
    let found = [65_534, 65_535, 0, 1, 2, 3].map(|n| numbers.find(A, n));
    let sent = |path, number| Found::Sent(PathId(path), number);
    let expected = [
        sent(0, 0),
        sent(1, 0),
        sent(0, 1),
        Found::Unaccounted,
        sent(1, 1),
        Found::Unknown,
    ];
    assert_eq!(found, expected);
    assert_eq!(numbers.find(B, 0), sent(1, 2));
    assert_eq!(numbers.find(Ssrc(3), 0), Found::Unknown);
}

proptest! {
    #[test]
    fn the_newest_thousands_are_remembered_and_no_more(
        steps in proptest::collection::vec(-30..60_i32, 1..2000),
        jump in any::<u16>(),
    ) {
        let mut numbers = StreamNumbers::default();
        let mut last = jump;
        let mut sent = std::collections::BTreeMap::new();
        for (index, step) in (0_u64..).zip(steps) {
            last = last.wrapping_add_signed(step as i16);
            numbers.insert(A, last, (PathId(0), index));
            sent.insert(last, index);
        }
        let log = &numbers.streams[0];
        prop_assert!(log.sent.len() <= StreamNumbers::MEMORY);
        prop_assert_eq!(numbers.find(A, last), Found::Sent(PathId(0), sent[&last]));
        for number in sent.keys() {
            if let Found::Sent(_, found) = numbers.find(A, *number) {
                prop_assert_eq!(found, sent[number]);
            }
        }
    }
}
