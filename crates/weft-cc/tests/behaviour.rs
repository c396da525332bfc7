//! Behaviour of every controller on one bottleneck, with a lower and an upper bound for
//! each value. `cargo run -p weft-cc --example controllers` prints them all.

mod testbed;

use testbed::Testbed;
use weft_cc::ControllerKind;
use weft_units::{Duration, Ecn, Rate};

const LINK: f64 = 2.5;

fn bed(kind: ControllerKind) -> Testbed {
    Testbed::new(kind, Rate::from_kbps(2500))
}

#[track_caller]
fn within(what: &str, value: f64, (low, high): (f64, f64), bed: &Testbed) {
    assert!(
        (low..=high).contains(&value),
        "{what} is {value:.3}, not {low} to {high}\n{}",
        bed.trace()
    );
}

/// Checks the seconds to reach 90 % of the link from 0.3 Mbps, then the share used and
/// the 95th percentile of the queue from 60 to 120 s.
#[track_caller]
fn ramp_and_steady(kind: ControllerKind, ramp: (f64, f64), used: (f64, f64), queue: (f64, f64)) {
    let mut bed = bed(kind);
    bed.run(120.0);
    let reached = bed.settles(0.0, |mbps| mbps >= 0.9 * LINK);
    within("ramp-up in s", reached.unwrap_or(f64::MAX), ramp, &bed);
    within("use", bed.delivered_mbps(60.0, 120.0) / LINK, used, &bed);
    within("queue p95 in ms", bed.queue_ms(60.0, 120.0).1, queue, &bed);
}

#[test]
fn gcc_ramps_up_by_probing_and_keeps_the_queue_short() {
    ramp_and_steady(ControllerKind::Gcc, (0.5, 12.0), (0.85, 1.0), (5.0, 80.0));
    ramp_and_steady(
        ControllerKind::GccDeployed,
        (0.5, 15.0),
        (0.85, 1.0),
        (5.0, 80.0),
    );
    ramp_and_steady(
        ControllerKind::Gcc2022,
        (0.5, 15.0),
        (0.85, 1.0),
        (5.0, 80.0),
    );
}

/// From 0.3 to 2.25 Mbps takes 26 s at 8 % a second.
#[test]
fn gcc_draft_ramps_up_slowly_and_fills_the_queue() {
    ramp_and_steady(
        ControllerKind::GccDraft,
        (24.0, 30.0),
        (0.95, 1.0),
        (200.0, 300.0),
    );
}

/// At equilibrium the queue is 10 ms times 10 Mbps over 2.5 Mbps.
#[test]
fn nada_ramps_up_fast_and_keeps_its_reference_queue() {
    ramp_and_steady(ControllerKind::Nada, (2.0, 8.0), (0.95, 1.01), (35.0, 50.0));
}

#[test]
fn scream_ramps_up_fast_and_keeps_the_queue_near_its_target() {
    ramp_and_steady(
        ControllerKind::Scream,
        (0.5, 4.0),
        (0.95, 1.01),
        (40.0, 110.0),
    );
}

/// RFC 8298 ramps up by 200 kbps a second; its target for the queue is 100 ms.
#[test]
fn scream_v1_ramps_up_steadily_and_keeps_a_longer_queue() {
    ramp_and_steady(
        ControllerKind::ScreamV1,
        (9.0, 14.0),
        (0.95, 1.01),
        (90.0, 220.0),
    );
}

#[test]
fn everybody_follows_a_halved_capacity() {
    for (kind, settled) in [
        (ControllerKind::Gcc, (0.1, 1.5)),
        (ControllerKind::GccDeployed, (0.1, 1.5)),
        (ControllerKind::Gcc2022, (0.1, 1.5)),
        (ControllerKind::GccDraft, (0.5, 8.0)),
        (ControllerKind::Nada, (0.5, 5.0)),
        (ControllerKind::Scream, (0.5, 5.0)),
        (ControllerKind::ScreamV1, (0.5, 8.0)),
    ] {
        let mut bed = bed(kind);
        bed.run(60.0);
        bed.link.set_rate(bed.now, Rate::from_kbps(1250));
        bed.run(30.0);
        let half = LINK / 2.0;
        let time = bed.settles(60.0, |mbps| mbps >= 0.75 * half && mbps <= 1.1 * half);
        within(&kind.to_string(), time.unwrap_or(f64::MAX), settled, &bed);
    }
}

#[test]
fn marks_keep_the_queue_shorter_than_delay_does() {
    for kind in [ControllerKind::Nada, ControllerKind::Scream] {
        for ecn in [Ecn::Ect0, Ecn::Ect1] {
            let mut bed = bed(kind);
            bed.ecn = ecn;
            bed.link.mark_above = Some(Duration::from_millis(5));
            bed.run(60.0);
            within(
                "queue p95 in ms",
                bed.queue_ms(30.0, 60.0).1,
                (1.0, 15.0),
                &bed,
            );
            assert_eq!(bed.lost(30.0, 60.0), 0);
        }
    }
}

#[test]
fn l4s_marks_cost_scream_less_than_classic_ones() {
    let used = [Ecn::Ect0, Ecn::Ect1].map(|ecn| {
        let mut bed = bed(ControllerKind::Scream);
        bed.ecn = ecn;
        bed.link.mark_above = Some(Duration::from_millis(5));
        bed.run(60.0);
        bed.delivered_mbps(30.0, 60.0)
    });
    assert!(
        used[1] > 1.05 * used[0] && used[1] < 2.0 * used[0],
        "{used:?}"
    );
}

#[test]
fn a_longer_route_is_not_taken_for_a_queue_for_ever() {
    for kind in [ControllerKind::Nada, ControllerKind::Scream] {
        let mut bed = bed(kind);
        bed.link.delay = Duration::from_millis(5);
        bed.run(60.0);
        bed.link.delay = Duration::from_millis(60);
        bed.run(60.0);
        let used = bed.delivered_mbps(110.0, 120.0) / LINK;
        within(&kind.to_string(), used, (0.5, 1.01), &bed);
    }
}
