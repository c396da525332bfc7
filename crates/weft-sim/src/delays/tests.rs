use super::{Delays, Measured};
use weft_units::Duration;

#[test]
fn a_period_is_summed_up_by_nearest_rank() {
    let mut delays = Delays::default();
    for ms in 1..=20 {
        delays.add(Duration::from_millis(ms));
    }
    let sample = delays.take_period(Measured::Yes);
    // ceil(0.95 * 20) = 19th smallest; mean (1 + 20) / 2.
    assert_eq!(sample.p95, Duration::from_millis(19));
    assert_eq!(sample.mean, Duration::from_micros(10_500));
    assert_eq!(sample.max, Duration::from_millis(20));
    assert_eq!(sample.count, 20);
    assert_eq!(delays.take_period(Measured::Yes).count, 0);
    let all = delays.take_distribution();
    assert_eq!(all.mean(), Duration::from_micros(10_500));
}

#[test]
fn unmeasured_traffic_exists_in_its_period_only() {
    let mut delays = Delays::default();
    delays.add(Duration::from_millis(9));
    assert_eq!(delays.take_period(Measured::No).count, 1);
    delays.add(Duration::from_millis(1));
    delays.take_period(Measured::Yes);
    let all = delays.take_distribution();
    assert_eq!((all.count(), all.max()), (1, Duration::from_millis(1)));
}
