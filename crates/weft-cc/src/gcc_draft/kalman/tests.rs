use super::*;

fn variation(departure_ms: f64, arrival_ms: f64) -> Variation {
    Variation {
        departure_ms,
        arrival_ms,
    }
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
}

#[test]
fn the_first_steps_by_hand() {
    let mut filter = Kalman::new();
    // At 30 groups a second alpha = 1 - chi = 0.99. z = 2 is within three
    // deviations of 1: var = 0.99 + 0.01 * 4 = 1.03;
    // k = 0.101 / (1.03 + 0.101), m = 2k, e = (1 - k) 0.101.
    filter.update(&variation(1000.0 / 30.0, 1000.0 / 30.0 + 2.0));
    let k = 0.101 / 1.131;
    near(filter.noise, 1.03);
    near(filter.gradient_ms(), 2.0 * k);
    near(filter.error, (1.0 - k) * 0.101);
    // z = 20 - m counts as 3 sqrt(1.03) for the noise, and fully for the gradient.
    let before = filter.gradient_ms();
    let predicted = filter.error + 1e-3;
    filter.update(&variation(1000.0 / 30.0, 1000.0 / 30.0 + 20.0));
    near(filter.noise, 0.99 * 1.03 + 0.01 * 9.0 * 1.03);
    let k = predicted / (filter.noise + predicted);
    near(filter.gradient_ms(), before + k * (20.0 - before));
}

#[test]
fn faster_groups_weigh_less_in_the_noise() {
    let mut filter = Kalman::new();
    // 300 groups a second: alpha = 0.99^(1/10).
    filter.update(&variation(10.0 / 3.0, 10.0 / 3.0 + 3.0));
    let alpha = 0.99_f64.powf(0.1);
    near(filter.noise, alpha + (1.0 - alpha) * 9.0);
}

#[test]
fn a_steady_gradient_is_found_and_noise_without_one_is_not() {
    let mut filter = Kalman::new();
    for _ in 0..300 {
        filter.update(&variation(10.0, 14.0));
    }
    assert!((3.8..=4.0).contains(&filter.gradient_ms()), "{filter:?}");
    let mut filter = Kalman::new();
    for n in 0..300 {
        let noise = if n % 2 == 0 { 5.0 } else { -5.0 };
        filter.update(&variation(10.0, 10.0 + noise));
    }
    assert!(filter.gradient_ms().abs() < 0.5, "{filter:?}");
}
