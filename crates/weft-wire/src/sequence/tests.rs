use super::extend;
use proptest::prelude::*;

#[test]
fn the_first_number_leaves_room_for_older_ones() {
    assert_eq!(extend(None, 0), 65_536);
    assert_eq!(extend(Some(65_536), 0xffff), 65_535);
}

#[test]
fn numbers_cross_the_wrap_in_both_directions() {
    assert_eq!(extend(Some(0x1_fffe), 1), 0x2_0001);
    assert_eq!(extend(Some(0x2_0001), 0xfffe), 0x1_fffe);
}

#[test]
fn half_a_cycle_away_is_the_older_one() {
    assert_eq!(extend(Some(0x2_0000), 0x8000), 0x1_8000);
    assert_eq!(extend(Some(0x2_0000), 0x7fff), 0x2_7fff);
}

proptest! {
    #[test]
    fn the_low_bits_are_kept_and_the_distance_is_at_most_half_a_cycle(
        highest in 32_768..u64::MAX - 32_768,
        sequence: u16,
    ) {
        let extended = extend(Some(highest), sequence);
        prop_assert_eq!(extended as u16, sequence);
        prop_assert!(extended.abs_diff(highest) <= 32_768);
    }

    #[test]
    fn no_input_panics(highest: Option<u64>, sequence: u16) {
        prop_assert_eq!(extend(highest, sequence) as u16, sequence);
    }
}
