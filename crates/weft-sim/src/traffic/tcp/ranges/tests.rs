use super::Ranges;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    /// Compares the ranges with a set of single numbers.
    #[test]
    fn ranges_agree_with_a_set(
        steps in prop::collection::vec((0_u32..60, 0_u32..12, any::<bool>()), 1..60)
    ) {
        let (mut ranges, mut set) = (Ranges::default(), BTreeSet::new());
        for (from, len, insert) in steps {
            if insert || len > 3 {
                let mut added = Vec::new();
                ranges.insert(from, from + len, |a, b| added.extend(a..b));
                let new: Vec<u32> = (from..from + len).filter(|n| set.insert(*n)).collect();
                prop_assert_eq!(added, new);
            } else {
                ranges.remove_below(from);
                set.retain(|n| *n >= from);
            }
            for n in 0..80 {
                let found = ranges.find(n);
                prop_assert_eq!(found.is_some(), set.contains(&n));
                if let Some((a, b)) = found {
                    // Complete: neither neighbour is in the set.
                    prop_assert!(!set.contains(&b) && (a == 0 || !set.contains(&(a - 1))));
                }
            }
            prop_assert_eq!(ranges.total() as usize, set.len());
            prop_assert_eq!(ranges.is_empty(), set.is_empty());
        }
    }
}
