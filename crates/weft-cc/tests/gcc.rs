//! Google congestion control on one link: libwebrtc's behaviour and our repairs.

mod testbed;

use testbed::Testbed;
use weft_cc::ControllerKind::{Gcc, GccDeployed};
use weft_cc::{ControllerKind, Limits, SentPacket, build};
use weft_units::{Bytes, Duration, Instant, Rate};

const LIMITS: Limits = Limits {
    min: Rate::from_kbps(50),
    start: Rate::from_kbps(300),
    max: Rate::from_mbps(20),
};

fn on(kind: ControllerKind, link: Rate) -> Testbed {
    let mut bed = Testbed::with(build(kind, LIMITS, Instant::ZERO), link);
    bed.source.demand = LIMITS.max;
    bed
}

/// Returns the rate that delay alone would allow, in Mbps.
fn delay_based(bed: &Testbed) -> f64 {
    let internals = bed.controller.internals();
    let found = internals.iter().find(|i| i.name == "delay_based");
    found.expect("it is always told").value
}

/// Asserts lower and upper bound of a value, with the run's trace.
#[track_caller]
fn within(what: &str, value: f64, low: f64, high: f64, bed: &Testbed) {
    assert!(
        (low..=high).contains(&value),
        "{what} is {value:.3}, not {low} to {high}\n{}",
        bed.trace()
    );
}

#[test]
fn probing_finds_5_mbps_within_3_seconds() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(6.0);
    let (low, mean, high) = bed.targets_mbps(3.0, 6.0);
    within("lowest target", low, 4.0, 5.2, &bed);
    within("mean target", mean, 4.0, 5.0, &bed);
    within("highest target", high, 4.0, 5.5, &bed);
    let first: Vec<f64> = bed.probes[..2].iter().map(|p| p.1.rate.as_kbps()).collect();
    assert_eq!(first, [900.0, 1800.0]);

    // Without probes the same link takes much longer: 8 % per second.
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.probing = false;
    bed.run(3.0);
    within(
        "target",
        bed.controller.target_rate().as_mbps(),
        0.3,
        0.5,
        &bed,
    );
}

#[test]
fn the_target_follows_a_halved_capacity_within_a_second() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(10.0);
    bed.link.set_rate(bed.now, Rate::from_kbps(2500));
    bed.run(20.0);
    let (low, _, high) = bed.targets_mbps(11.0, 15.0);
    within("lowest target", low, 1.8, 2.5, &bed);
    within("highest target", high, 1.8, 2.5, &bed);
    let (_, p95) = bed.queue_ms(15.0, 30.0);
    within("queue afterwards", p95, 0.0, 60.0, &bed);
    within(
        "target at the end",
        bed.controller.target_rate().as_mbps(),
        2.0,
        2.6,
        &bed,
    );
}

/// Returns the seconds to reach 4 Mbps after 10 s at 1 Mbps.
fn recovery(kind: ControllerKind) -> (f64, Testbed) {
    let mut bed = on(kind, Rate::from_mbps(5));
    bed.run(10.0);
    bed.link.set_rate(bed.now, Rate::from_kbps(1000));
    bed.run(10.0);
    within(
        "target below",
        bed.controller.target_rate().as_mbps(),
        0.75,
        1.05,
        &bed,
    );
    bed.link.set_rate(bed.now, Rate::from_mbps(5));
    bed.run(40.0);
    within(
        "target again",
        bed.controller.target_rate().as_mbps(),
        3.9,
        5.5,
        &bed,
    );
    let found = |s: &&testbed::Sample| s.target >= Rate::from_mbps(4);
    let found = bed.between(20.0, 60.0).iter().find(found).map(|s| s.at);
    (found.unwrap().as_secs_f64() - 20.0, bed)
}

#[test]
fn a_capacity_that_comes_back_is_found_again() {
    let (time, bed) = recovery(Gcc);
    within("recovery in s", time, 0.2, 12.0, &bed);
    // The known weakness: additive and then 8 % per second.
    let (time, bed) = recovery(GccDeployed);
    within("recovery as deployed in s", time, 15.0, 40.0, &bed);
}

#[test]
fn a_decrease_does_not_repeat_while_the_queue_drains() {
    let lowest = |kind| {
        let mut bed = on(kind, Rate::from_mbps(15));
        bed.link.delay = Duration::from_millis(10);
        bed.run(20.0);
        (bed.targets_mbps(3.0, 20.0).0, bed)
    };
    let (low, bed) = lowest(Gcc);
    within("lowest target", low, 12.0, 14.0, &bed);
    let (low, bed) = lowest(GccDeployed);
    within("lowest target as deployed", low, 8.0, 11.5, &bed);
}

#[test]
fn the_target_comes_down_to_150_kbps() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(10.0);
    bed.link.set_rate(bed.now, Rate::from_kbps(150));
    bed.link.queue = Bytes(9_000); // 480 ms
    bed.run(50.0);
    let (_, _, high) = bed.targets_mbps(13.0, 60.0);
    within("highest target", high, 0.1, 0.19, &bed);
    let (low, mean, _) = bed.targets_mbps(30.0, 60.0);
    within("lowest target", low, 0.08, 0.15, &bed);
    within("mean target", mean, 0.1, 0.15, &bed);
}

#[test]
fn a_start_above_the_capacity_settles() {
    let mut bed = on(Gcc, Rate::from_kbps(150));
    bed.link.queue = Bytes(9_000);
    bed.run(40.0);
    let (_, mean, high) = bed.targets_mbps(10.0, 40.0);
    within("mean target", mean, 0.09, 0.15, &bed);
    within("highest target", high, 0.1, 0.19, &bed);
}

#[test]
fn nothing_is_stuck_after_60_seconds_without_any_delivery() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(10.0);
    bed.link.loss = 1.0;
    bed.run(60.0);
    assert_eq!(bed.controller.target_rate(), Rate::from_kbps(50));
    bed.link.loss = 0.0;
    bed.run(5.0);
    within(
        "target",
        bed.controller.target_rate().as_mbps(),
        3.0,
        5.5,
        &bed,
    );
}

#[test]
fn one_lost_packet_on_an_idle_path_costs_nothing() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(10.0);
    let before = bed.controller.target_rate();
    bed.source.demand = Rate::ZERO;
    bed.probing = false;
    bed.run(1.0);
    let lost = SentPacket {
        number: u64::MAX,
        sent_at: bed.now,
        size: Bytes(1200),
        probe: None,
    };
    bed.controller.on_packet_sent(&lost);
    bed.run(60.0);
    within(
        "kept",
        bed.controller.target_rate().as_mbps() / before.as_mbps(),
        0.95,
        1.05,
        &bed,
    );
}

#[test]
fn nothing_is_stuck_after_60_seconds_below_the_minimum() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(10.0);
    bed.link.set_rate(bed.now, Rate::from_kbps(20));
    bed.link.queue = Bytes(5_000);
    bed.run(60.0);
    assert_eq!(bed.controller.target_rate(), Rate::from_kbps(50));
    bed.link.set_rate(bed.now, Rate::from_mbps(5));
    bed.link.queue = Bytes(180_000);
    bed.run(20.0);
    within(
        "target",
        bed.controller.target_rate().as_mbps(),
        3.0,
        5.5,
        &bed,
    );
}

#[test]
fn steady_state_is_calm_and_the_queue_short() {
    for (kbps, jitter_ms) in [(500, 0), (1_000, 0), (2_500, 5), (5_000, 0), (5_000, 10)] {
        let mut bed = on(Gcc, Rate::from_kbps(kbps));
        bed.link.jitter = Duration::from_millis(jitter_ms);
        bed.run(90.0);
        let (low, mean, high) = bed.targets_mbps(30.0, 90.0);
        let link = kbps as f64 / 1e3;
        within("mean target", mean / link, 0.8, 1.02, &bed);
        within("lowest to mean", low / mean, 0.85, 1.0, &bed);
        within("highest to mean", high / mean, 1.0, 1.15, &bed);
        let (mean, p95) = bed.queue_ms(30.0, 90.0);
        within("mean queue", mean, 0.0, 45.0, &bed);
        within("95 % queue", p95, 0.0, 130.0, &bed);
    }
}

#[test]
fn random_loss_of_2_percent_costs_little() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.link.loss = 0.02;
    bed.run(60.0);
    let (low, mean, high) = bed.targets_mbps(10.0, 60.0);
    within("lowest target", low, 3.4, 5.0, &bed);
    within("mean target", mean, 4.0, 5.0, &bed);
    within("highest target", high, 4.0, 5.6, &bed);
}

/// The bound is 75 kbps / (loss - 5 %), that is 1.5 Mbps at 10 % loss.
#[test]
fn random_loss_of_10_percent_limits_but_does_not_collapse() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.link.loss = 0.1;
    bed.run(120.0);
    let (low, mean, high) = bed.targets_mbps(20.0, 120.0);
    within("lowest target", low, 0.3, 1.6, &bed);
    within("mean target", mean, 0.6, 2.0, &bed);
    within("highest target", high, 1.0, 4.0, &bed);
}

#[test]
fn a_restored_path_starts_cautiously_and_probes() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(10.0);
    let probes = bed.probes.len();
    bed.controller.on_path_restored(bed.now);
    assert_eq!(bed.controller.target_rate(), Rate::from_kbps(300));
    bed.run(3.0);
    within(
        "target",
        bed.controller.target_rate().as_mbps(),
        4.0,
        5.5,
        &bed,
    );
    assert_eq!(bed.probes[probes].1.rate, Rate::from_kbps(900));
    let ids: Vec<u32> = bed.probes.iter().map(|p| p.1.id.0).collect();
    let expected: Vec<u32> = (0..ids.len() as u32).collect();
    assert_eq!(ids, expected, "a probe id was used twice");
}

#[test]
fn an_idle_application_keeps_a_fresh_estimate_within_twice_its_demand() {
    let mut bed = on(Gcc, Rate::from_mbps(20));
    bed.controller.set_demand(bed.now, Rate::from_mbps(2));
    bed.source.demand = Rate::from_kbps(200);
    bed.run(40.0);
    let (low, _, high) = bed.targets_mbps(20.0, 40.0);
    within("lowest target", low, 2.0, 4.0, &bed);
    within("highest target", high, 2.0, 4.0, &bed);
    let periodic = bed.probes.iter().filter(|p| p.0.as_secs_f64() > 10.0);
    within(
        "periodic probes in 30 s",
        periodic.count() as f64,
        4.0,
        7.0,
        &bed,
    );
    for (_, probe) in &bed.probes {
        assert!(probe.rate <= Rate::from_mbps(4), "{probe:?}");
    }
}

#[test]
fn a_path_without_demand_is_not_probed() {
    let mut bed = on(Gcc, Rate::from_mbps(20));
    bed.run(3.0);
    bed.controller.set_demand(bed.now, Rate::ZERO);
    bed.source.demand = Rate::from_kbps(50);
    let probes = bed.probes.len();
    bed.run(30.0);
    assert_eq!(bed.probes.len(), probes);
}

#[test]
fn a_silence_lowers_the_deployed_target_and_not_the_delay_based_rate() {
    for kind in [GccDeployed, Gcc] {
        let mut bed = on(kind, Rate::from_mbps(5));
        bed.run(10.0);
        let before = delay_based(&bed);
        let start = bed.now;
        let sent = SentPacket {
            number: 1 << 20,
            sent_at: start,
            size: Bytes(1200),
            probe: None,
        };
        for ms in 0..8000 {
            let now = start + Duration::from_millis(ms);
            let packet = SentPacket {
                sent_at: now,
                ..sent
            };
            bed.controller.on_packet_sent(&packet);
            bed.controller.on_timeout(now);
        }
        // From 3 s after the last packets in flight, once a second: six drops.
        let target = bed.controller.target_rate().as_mbps() / before;
        assert!((target - 0.8_f64.powi(6)).abs() < 0.001, "{target}");
        let kept = delay_based(&bed) == before;
        assert_eq!(kept, kind == GccDeployed, "{kind}");
    }
}

#[test]
fn a_spurious_timeout_changes_nothing() {
    let mut bed = on(Gcc, Rate::from_mbps(5));
    bed.run(10.0);
    let before = format!("{:?}", bed.controller.snapshot());
    let deadline = bed.controller.poll_timeout();
    bed.controller.on_timeout(bed.now);
    assert_eq!(format!("{:?}", bed.controller.snapshot()), before);
    assert_eq!(bed.controller.poll_timeout(), deadline);
    assert_eq!(bed.controller.poll_probe(bed.now), None);
}
