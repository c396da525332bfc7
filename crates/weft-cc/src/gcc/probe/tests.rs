use super::*;
use weft_units::Bytes;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn kbps(n: u64) -> Rate {
    Rate::from_kbps(n)
}

fn limits() -> Limits {
    Limits {
        min: kbps(50),
        start: kbps(300),
        max: kbps(5000),
    }
}

fn poll(probes: &mut ProbeController) -> Vec<u64> {
    let polled = std::iter::from_fn(|| probes.poll_probe());
    polled.map(|cluster| cluster.rate.as_bps() / 1000).collect()
}

#[test]
fn it_continues_while_it_succeeds_up_to_the_limit() {
    let mut probes = ProbeController::new(limits(), at(0));
    let first = probes.poll_probe().unwrap();
    assert_eq!((first.rate, first.packets), (kbps(900), 5));
    assert_eq!(first.bytes, Bytes(1687)); // 15 ms of it
    assert_eq!(poll(&mut probes), [1800]);
    probes.set_estimate(at(100), kbps(900));
    assert_eq!(poll(&mut probes), [0; 0]); // at most 0.7 * 1800
    probes.set_estimate(at(150), kbps(1700));
    assert_eq!(poll(&mut probes), [3400]);
    probes.set_estimate(at(250), kbps(3000));
    assert_eq!(poll(&mut probes), [5000]);
    probes.set_estimate(at(350), kbps(4900));
    assert_eq!(poll(&mut probes), [0; 0]);
}

#[test]
fn a_late_result_leads_no_further() {
    let mut probes = ProbeController::new(limits(), at(0));
    poll(&mut probes);
    let deadline = probes.poll_timeout().unwrap();
    assert_eq!(deadline.reason, "probe result overdue");
    probes.on_timeout(deadline.at, Reason::None, false);
    probes.set_estimate(at(1100), kbps(1700));
    assert_eq!(poll(&mut probes), [0; 0]);
}

/// Handles every timeout until 30 s; returns the times in seconds and the rates of the
/// probes.
fn periodic(reason: Reason, loss_limited: bool, estimate: u64) -> Vec<(f64, u64)> {
    let mut probes = ProbeController::new(limits(), at(0));
    poll(&mut probes);
    let mut out = Vec::new();
    while let Some(deadline) = probes.poll_timeout().filter(|d| d.at < at(30_000)) {
        probes.on_timeout(deadline.at, reason, loss_limited);
        probes.set_estimate(deadline.at, kbps(estimate));
        let now = deadline.at.as_secs_f64();
        out.extend(poll(&mut probes).into_iter().map(|rate| (now, rate)));
    }
    out
}

#[test]
fn it_probes_periodically_where_media_cannot_tell_the_capacity() {
    for reason in [Reason::ApplicationLimited(at(0)), Reason::Growing(PERIOD)] {
        let probes = periodic(reason, false, 500);
        assert_eq!(probes.len(), 5, "{probes:?}");
        for (i, (time, rate)) in probes.iter().enumerate() {
            assert_eq!(*rate, 1000);
            let late = time - 5.0 * (i + 1) as f64;
            assert!((0.0..2.6).contains(&late), "{probes:?}");
        }
    }
    assert_eq!(periodic(Reason::None, false, 500), []);
    assert_eq!(periodic(Reason::Growing(PERIOD), false, 5000), []);
}

#[test]
fn under_loss_a_periodic_probe_does_not_go_above_the_estimate() {
    let probes = periodic(Reason::ApplicationLimited(at(0)), true, 500);
    assert_eq!(probes.first().map(|p| p.1), Some(500));
}

#[test]
fn a_passing_drop_is_probed_once() {
    let mut probes = ProbeController::new(limits(), at(0));
    poll(&mut probes);
    probes.set_estimate(at(2000), kbps(2000));
    poll(&mut probes);
    probes.on_timeout(at(4000), Reason::None, false);
    probes.set_estimate(at(5000), kbps(1000));
    probes.on_recovered(at(5500));
    probes.on_recovered(at(5600));
    assert_eq!(poll(&mut probes), [1700]); // 0.85 * 2000
    probes.set_estimate(at(20_000), kbps(500));
    probes.on_recovered(at(25_000));
    assert_eq!(poll(&mut probes), [0; 0]); // too long ago
}

#[test]
fn more_demand_is_probed_while_the_application_limits() {
    let mut probes = ProbeController::new(limits(), at(0));
    poll(&mut probes);
    probes.on_timeout(at(1500), Reason::None, false);
    probes.set_demand(at(1500), kbps(400), true);
    assert_eq!(poll(&mut probes), [0; 0]); // the first demand is not a rise
    probes.set_demand(at(2500), kbps(1200), false);
    assert_eq!(poll(&mut probes), [0; 0]);
    probes.set_demand(at(3500), kbps(1500), true);
    assert_eq!(poll(&mut probes), [1500]);
}
