use proptest::prelude::*;

use super::*;

#[test]
fn a_clock_of_100_ppm_gains_a_tenth_of_a_millisecond_a_second() {
    let begun_at = Instant::ZERO + Duration::from_secs(5);
    let now = begun_at + Duration::from_secs(120);
    let ms = |instant: Instant| instant.signed_nanos_since(now) as f64 / 1e6;
    assert_eq!(ms(Clock::new(begun_at, 100).at(now)), 12.0);
    assert_eq!(ms(Clock::new(begun_at, -100).at(now)), -12.0);
    assert_eq!(Clock::new(begun_at, 100).at(begun_at), begun_at);
}

proptest! {
    #[test]
    fn an_alarm_never_goes_off_before_its_time(
        ppm in -1_000..=1_000_i32,
        nanos in 0..10_000_000_000_000_u64,
    ) {
        let clock = Clock::new(Instant::from_nanos(1_000_000_007), ppm);
        let shown = Instant::from_nanos(1_000_000_007 + nanos);
        let at = clock.when(shown);
        prop_assert!(clock.at(at) >= shown);
        prop_assert!(clock.at(at).saturating_since(shown) <= Duration::from_nanos(2));
        if ppm == 0 {
            prop_assert_eq!(at, shown);
        }
    }
}
