use super::WindowedMax;

#[test]
fn a_value_is_forgotten_after_its_window() {
    let mut filter = WindowedMax::new(3);
    assert_eq!(filter.max(), 0.0);
    let values = [
        (1, 5.0),
        (1, 9.0),
        (2, 4.0),
        (3, 6.0),
        (4, 2.0),
        (6, 1.0),
        (9, 0.5),
    ];
    let expected = [5.0, 9.0, 9.0, 9.0, 6.0, 2.0, 0.5];
    for ((round, value), max) in values.into_iter().zip(expected) {
        filter.update(round, value);
        assert_eq!(filter.max(), max, "in round {round}");
    }
}
