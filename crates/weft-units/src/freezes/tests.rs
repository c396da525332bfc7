use super::Freezes;
use crate::{Duration, Instant};

fn shown(intervals_ms: &[u64]) -> Freezes {
    let mut freezes = Freezes::new();
    let mut now = Instant::ZERO;
    freezes.on_picture(now);
    for ms in intervals_ms {
        now += Duration::from_millis(*ms);
        freezes.on_picture(now);
    }
    freezes
}

#[test]
fn a_freeze_is_an_interval_of_mean_plus_150_ms_at_high_frame_rates() {
    // Mean 40 ms: the bound is max(120, 190) = 190 ms.
    let mut intervals = [40; 31];
    intervals[30] = 189;
    assert_eq!(shown(&intervals).count(), 0);
    intervals[30] = 190;
    let freezes = shown(&intervals);
    assert_eq!(
        (freezes.count(), freezes.total()),
        (1, Duration::from_millis(190))
    );
}

#[test]
fn a_freeze_is_three_mean_intervals_at_low_frame_rates() {
    // Mean 100 ms: the bound is max(300, 250) = 300 ms.
    let mut intervals = [100; 31];
    intervals[30] = 299;
    assert_eq!(shown(&intervals).count(), 0);
    intervals[30] = 300;
    assert_eq!(shown(&intervals).count(), 1);
}

#[test]
fn a_standing_picture_is_frozen_before_the_next_one_comes() {
    let freezes = shown(&[40; 10]);
    let last = Instant::ZERO + Duration::from_millis(400);
    assert!(!freezes.is_frozen(last + Duration::from_millis(189)));
    assert!(freezes.is_frozen(last + Duration::from_millis(190)));
    assert_eq!(freezes.count(), 0);
}
