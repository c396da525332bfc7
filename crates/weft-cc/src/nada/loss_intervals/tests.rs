use super::*;

/// For each number, delivers that many packets and then loses one.
fn lose_after(intervals: &mut LossIntervals, delivered: &[u64]) {
    for n in delivered {
        (0..*n).for_each(|_| intervals.on_delivered());
        intervals.on_lost();
    }
}

#[test]
fn the_mean_weighs_eight_intervals_and_takes_the_current_one_if_it_is_longer() {
    let mut intervals = LossIntervals::default();
    assert_eq!(intervals.age(), None);
    // Newest first 80, 70 ... 10: (80 + 70 + 60 + 50 + 0.8 * 40 + 0.6 * 30
    // + 0.4 * 20 + 0.2 * 10) / 6 = 320 / 6.
    lose_after(&mut intervals, &[5, 10, 20, 30, 40, 50, 60, 70, 80]);
    (0..20).for_each(|_| intervals.on_delivered());
    let age = intervals.age().unwrap();
    assert!((age - 20.0 * 6.0 / 320.0).abs() < 1e-9, "{age}");
    // With 200 in front of them: (200 + 80 + 70 + 60 + 0.8 * 50 + 0.6 * 40
    // + 0.4 * 30 + 0.2 * 20) / 6 = 490 / 6.
    (0..180).for_each(|_| intervals.on_delivered());
    let age = intervals.age().unwrap();
    assert!((age - 200.0 * 6.0 / 490.0).abs() < 1e-9, "{age}");
}

#[test]
fn packets_lost_in_a_row_are_one_loss() {
    let mut intervals = LossIntervals::default();
    lose_after(&mut intervals, &[100]);
    (0..50).for_each(|_| intervals.on_lost());
    (0..50).for_each(|_| intervals.on_delivered());
    assert_eq!(intervals.age(), Some(0.5));
    // Lost before anything arrived: an interval of one.
    let mut intervals = LossIntervals::default();
    intervals.on_lost();
    intervals.on_lost();
    assert_eq!(intervals.age(), Some(0.0));
}
