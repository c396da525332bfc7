use weft_units::{Duration, Instant, Rate};

use super::{Health, Signs};
use crate::preference::Preference;
use crate::schedule::Caution;

const RATE: Rate = Rate::from_mbps(4);

fn at(seconds: f64) -> Instant {
    Instant::ZERO + Duration::from_secs_f64(seconds)
}

fn queue_of(ms: u64) -> Signs {
    Signs {
        gone: false,
        excess: Some(Duration::from_millis(ms)),
        rate: RATE,
        carried: None,
    }
}

const GONE: Signs = Signs {
    gone: true,
    excess: None,
    rate: RATE,
    carried: None,
};

/// Applies `signs` ten times a second during `seconds`. Returns how often the path became
/// degraded.
fn examine(health: &mut Health, seconds: std::ops::Range<u64>, signs: Signs) -> usize {
    let caution = Caution::of(Preference::Balanced);
    let tenths = seconds.start * 10..seconds.end * 10;
    let degraded = tenths.filter(|n| health.examine(at(*n as f64 / 10.0), signs, &caution));
    degraded.count()
}

#[test]
fn a_path_with_a_queue_is_degraded_until_it_has_drained() {
    let mut health = Health::new();
    assert_eq!(examine(&mut health, 0..1, queue_of(99)), 0);
    assert!(!health.is_degraded());
    assert_eq!(examine(&mut health, 1..2, queue_of(100)), 1, "once");
    examine(&mut health, 2..3, queue_of(31));
    assert!(health.is_degraded(), "not drained");
    examine(&mut health, 3..4, queue_of(30));
    assert!(!health.is_degraded());
    assert_eq!(examine(&mut health, 4..5, GONE), 1);
    // Without measurements, as during a suspicion, the state does not change.
    let unknown = Signs {
        excess: None,
        ..queue_of(0)
    };
    examine(&mut health, 5..6, unknown);
    assert!(health.is_degraded());
}

#[test]
fn the_safe_rate_grows_in_calm_to_the_tried_one_and_falls_with_each_danger() {
    let mut health = Health::new();
    let mbps = |health: &Health| health.safe_rate().map_or(0.0, |r| r.as_bps() as f64 / 1e6);
    // It starts at 3 Mbit/s and grows by half each second, up to the controller's rate.
    examine(&mut health, 0..5, queue_of(0));
    assert!((mbps(&health) - 4.0).abs() < 0.01, "{}", mbps(&health));
    // Two seconds of danger count as four events of half a second: 4 * 0.7^4 is 0.96, and
    // 1 is always safe.
    examine(&mut health, 5..7, queue_of(100));
    assert!((mbps(&health) - 1.0).abs() < 0.01, "{}", mbps(&health));
    assert!(health.was_in_danger(at(16.0), Duration::from_secs(10)));
    assert!(!health.was_in_danger(at(17.0), Duration::from_secs(10)));
    // From half a second after the danger, it grows by 3 % a second.
    examine(&mut health, 7..17, queue_of(0));
    let grown = mbps(&health);
    assert!((1.30..1.36).contains(&grown), "{grown}");
}

#[test]
fn an_outage_is_one_danger_however_long_it_lasts() {
    let mut health = Health::new();
    examine(&mut health, 0..5, queue_of(0));
    examine(&mut health, 5..65, GONE);
    let safe = health.safe_rate().map_or(0, |rate| rate.as_bps() / 1000);
    assert_eq!(safe, 2800, "0.7 of 4 Mbit/s");
}

#[test]
fn a_preference_for_pixels_teaches_nothing() {
    let mut health = Health::new();
    let caution = Caution::of(Preference::Pixels);
    health.examine(at(0.0), queue_of(500), &caution);
    assert_eq!(health.safe_rate(), None);
    assert!(health.is_degraded());
}

#[test]
fn a_queue_is_harmless_while_the_link_carries_a_safe_rate() {
    let carrying = |mbps: f64| Signs {
        carried: Some(Rate::from_mbps(1).mul_f64(mbps)),
        ..queue_of(150)
    };
    let mut health = Health::new();
    examine(&mut health, 0..5, queue_of(0));
    examine(&mut health, 5..7, carrying(4.0));
    assert!(!health.was_in_danger(at(7.0), Duration::from_secs(10)));
    assert!(
        health.is_degraded(),
        "pictures over it are late all the same"
    );
    examine(&mut health, 7..8, carrying(3.9));
    assert!(health.was_in_danger(at(8.0), Duration::from_secs(10)));
    // The preference `Calm` counts every queue as a danger.
    let mut health = Health::new();
    let caution = Caution::of(Preference::Calm);
    health.examine(at(0.0), queue_of(0), &caution);
    health.examine(at(1.0), carrying(100.0), &caution);
    assert!(health.was_in_danger(at(1.0), Duration::from_secs(30)));
}

#[test]
fn a_silence_that_was_the_feedbacks_leaves_what_was_safe() {
    let mbps = |health: &Health| health.safe_rate().map_or(0.0, |r| r.as_bps() as f64 / 1e6);
    let mut health = Health::new();
    examine(&mut health, 0..5, queue_of(0));
    examine(&mut health, 5..6, GONE);
    assert!((mbps(&health) - 2.8).abs() < 0.01, "0.7 of 4");
    health.excuse();
    assert!((mbps(&health) - 4.0).abs() < 0.01, "{}", mbps(&health));
    // A later queue is a danger of its own.
    examine(&mut health, 10..11, GONE);
    examine(&mut health, 12..13, queue_of(100));
    let fallen = mbps(&health);
    health.excuse();
    assert!((mbps(&health) - fallen).abs() < 0.01, "{}", mbps(&health));
}

#[test]
fn a_repair_that_comes_too_late_is_a_danger_to_pictures_and_none_to_the_rate() {
    let mut health = Health::new();
    examine(&mut health, 0..5, queue_of(0));
    let safe = health.safe_rate();
    health.on_late_repair(at(5.0));
    assert!(health.was_in_danger(at(14.9), Duration::from_secs(10)));
    assert!(!health.was_in_danger(at(15.0), Duration::from_secs(10)));
    assert_eq!(health.safe_rate(), safe);
}
