use proptest::prelude::*;
use weft_units::Bytes;

use super::{BURST, Budget, SHARE};

proptest! {
    #[test]
    fn no_more_than_the_share_and_the_burst_is_spent(
        steps in prop::collection::vec((0_u64..40_000, 0_usize..60), 1..200)
    ) {
        let (mut budget, mut media, mut spent) = (Budget::new(), 0, 0);
        for (frame, wanted) in steps {
            budget.earn(Bytes(frame));
            media += frame;
            for _ in 0..wanted {
                spent += if budget.spend(Bytes(1200)) { 1200 } else { 0 };
            }
            prop_assert!(spent <= BURST.0 + media / SHARE);
        }
    }
}

#[test]
fn unused_allowance_is_bounded() {
    let mut budget = Budget::new();
    budget.earn(Bytes(100_000_000));
    let sent = (0..100).filter(|_| budget.spend(Bytes(1000))).count();
    assert_eq!(sent, 50);
}
