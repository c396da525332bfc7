use super::*;

/// Returns the estimate in kbps after an interval with this many of 100 packets lost,
/// starting at 1000 kbps.
fn after(lost: u32) -> f64 {
    let mut loss = LossBased::new(Limits {
        min: Rate::from_kbps(50),
        start: Rate::from_kbps(1000),
        max: Rate::from_mbps(20),
    });
    loss.update(Instant::ZERO, Rate::from_mbps(20));
    for n in 0..100 {
        loss.on_packet(n < lost);
    }
    loss.update(Instant::ZERO + INTERVAL, Rate::from_mbps(20));
    loss.estimate().as_kbps()
}

#[test]
fn the_three_cases_of_section_6() {
    assert_eq!(after(1), 1050.0);
    assert_eq!(after(2), 1000.0);
    assert_eq!(after(10), 1000.0);
    assert_eq!(after(20), 900.0);
}

#[test]
fn the_delay_based_estimate_bounds_it() {
    let limits = Limits {
        min: Rate::from_kbps(50),
        start: Rate::from_kbps(1000),
        max: Rate::from_mbps(20),
    };
    let mut loss = LossBased::new(limits);
    loss.update(Instant::ZERO, Rate::from_kbps(800));
    assert_eq!(loss.estimate(), Rate::from_kbps(800));
}
