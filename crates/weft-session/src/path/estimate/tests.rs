use weft_units::{Duration, Instant};

use super::Recent;

#[test]
fn the_longest_is_remembered_for_ten_to_twenty_seconds() {
    let at = |seconds| Instant::ZERO + Duration::from_secs(seconds);
    let ms = Duration::from_millis;
    let mut recent = Recent::default();
    assert_eq!(recent.longest(), Duration::ZERO);
    recent.on_sample(at(9), ms(80));
    recent.on_sample(at(9), ms(50));
    assert_eq!(recent.longest(), ms(80));
    recent.on_sample(at(19), ms(20));
    assert_eq!(recent.longest(), ms(80), "of the ten seconds before");
    recent.on_sample(at(20), ms(10));
    assert_eq!(recent.longest(), ms(20));
    recent.on_sample(at(50), ms(5));
    assert_eq!(recent.longest(), ms(5), "nothing came for long");
}
