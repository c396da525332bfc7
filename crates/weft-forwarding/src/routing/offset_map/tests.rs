use super::{MAX_SEGMENTS, OffsetMap, Place, Seen};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn numbers_close_up_over_what_was_dropped_and_not_over_what_is_missing() {
    let mut map = OffsetMap::new(100, 7);
    map.keep_to(101); // 100 -> 7, 101 -> 8
    map.drop_range(102, 104);
    map.keep_to(107); // 105, 106 missing so far: 9, 10; 107 -> 11
    assert_eq!(map.place(101), Place::Out(8));
    assert_eq!(map.place(103), Place::Dropped);
    assert_eq!(map.place(105), Place::Out(9));
    assert_eq!(map.place(107), Place::Out(11));
    assert_eq!(map.place(99), Place::Forgotten);
    assert_eq!(map.place(108), Place::New);
    assert_eq!(map.next_out(), 12);
}

#[test]
fn a_gap_before_a_drop_keeps_its_place() {
    let mut map = OffsetMap::new(0, 0);
    map.keep_to(0);
    map.drop_range(3, 3);
    map.keep_to(4);
    assert_eq!(map.place(1), Place::Out(1));
    assert_eq!(map.place(2), Place::Out(2));
    assert_eq!(map.place(3), Place::Dropped);
    assert_eq!(map.place(4), Place::Out(3));
}

#[test]
fn memory_is_bounded() {
    let mut map = OffsetMap::new(0, 0);
    for n in 0..10_000 {
        map.keep_to(2 * n);
        map.drop_range(2 * n + 1, 2 * n + 1);
    }
    assert_eq!(map.segments.len(), MAX_SEGMENTS);
    assert_eq!(map.place(2), Place::Forgotten);
    assert_eq!(map.place(19_998), Place::Out(9_999));
}

proptest! {
    #[test]
    fn outgoing_numbers_are_unique_and_without_holes(
        steps in prop::collection::vec((any::<bool>(), 0_u64..5), 1..80)
    ) {
        let mut map = OffsetMap::new(50, 1000);
        for (keep, ahead) in steps {
            let n = map.next() + ahead;
            if keep { map.keep_to(n) } else { map.drop_range(n, n) }
        }
        let out: Vec<u64> = (50..map.next()).filter_map(|n| match map.place(n) {
            Place::Out(out) => Some(out),
            _ => None,
        }).collect();
        let expected: Vec<u64> = (1000..map.next_out()).collect();
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn a_number_is_new_once(numbers in prop::collection::vec(0_u64..3000, 1..300)) {
        let (mut seen, mut model, mut top) = (Seen::new(), BTreeSet::new(), 0);
        for n in numbers {
            let first = model.insert(n);
            top = top.max(n);
            if seen.insert(n) {
                prop_assert!(first, "{} taken twice", n);
            } else {
                prop_assert!(!first || n + Seen::WINDOW <= top, "{} refused", n);
            }
        }
    }
}
