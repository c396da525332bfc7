use super::fair_shares;
use proptest::prelude::*;
use weft_units::Rate;

fn shares(total_kbps: u64, demands: &[Option<u64>]) -> Vec<u64> {
    let demands: Vec<Option<Rate>> = demands.iter().map(|d| d.map(Rate::from_kbps)).collect();
    let shares = fair_shares(Rate::from_kbps(total_kbps), &demands);
    shares.iter().map(|s| s.as_bps() / 1000).collect()
}

#[test]
fn equal_demands_get_equal_shares() {
    assert_eq!(shares(1500, &[Some(1000), Some(1000)]), [750, 750]);
    assert_eq!(shares(1500, &[None, None, None]), [500, 500, 500]);
}

#[test]
fn other_streams_get_what_a_small_one_leaves() {
    // 200 and a quarter for the small one; the rest halved.
    assert_eq!(
        shares(2000, &[Some(1000), Some(200), Some(4000)]),
        [875, 250, 875]
    );
    assert_eq!(shares(2000, &[Some(200), None]), [250, 1750]);
}

#[test]
fn spare_rate_is_divided_among_all() {
    // Needs 500 and 250; 1250 are left.
    assert_eq!(shares(2000, &[Some(400), Some(200)]), [1125, 875]);
}

#[test]
fn one_stream_gets_all_and_none_get_nothing() {
    assert_eq!(shares(700, &[Some(10)]), [700]);
    assert_eq!(shares(700, &[]), [0; 0]);
}

proptest! {
    #[test]
    fn shares_never_exceed_the_total_and_lose_nothing_but_rounding(
        total in 0_u64..100_000_000_000,
        demands in proptest::collection::vec(proptest::option::of(0_u64..10_000_000_000), 1..6),
    ) {
        let demands: Vec<Option<Rate>> =
            demands.iter().map(|d| d.map(Rate::from_bps)).collect();
        let shares = fair_shares(Rate::from_bps(total), &demands);
        let sum: u64 = shares.iter().map(|s| s.as_bps()).sum();
        prop_assert!(sum <= total);
        prop_assert!(total - sum <= demands.len() as u64);
    }

    #[test]
    fn nobody_gets_less_than_somebody_who_needs_less(
        total in 0_u64..100_000_000,
        mut demands in proptest::collection::vec(0_u64..10_000_000, 2..6),
    ) {
        demands.sort_unstable();
        let demands: Vec<Option<Rate>> =
            demands.iter().map(|d| Some(Rate::from_bps(*d))).collect();
        let shares = fair_shares(Rate::from_bps(total), &demands);
        prop_assert!(shares.windows(2).all(|pair| pair[0] <= pair[1]), "{shares:?}");
    }
}
