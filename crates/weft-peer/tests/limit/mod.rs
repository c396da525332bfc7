//! The total rate of a call stays within its bound.

use weft_session::SchedulerKind;
use weft_units::{Duration, Instant, Rate};

use crate::common::TestCall;
use crate::seconds;
use crate::wires::{Family, OVERHEAD};
use crate::world::{Setup, World};

/// Step between the starts of the measured seconds.
const STEP: Duration = Duration::from_millis(20);

/// Mean rate and highest rate in any second, over all links, in bit/s.
fn rates(world: &mut World, headers: u64) -> (f64, f64) {
    let sent = world.wires.sent.take().expect("it was asked for");
    let bits = |bytes: &[u8]| (bytes.len() as u64 + headers) as f64 * 8.0;
    let (end, mut from) = (world.now(), Instant::ZERO);
    let mut peak = 0.0_f64;
    while from + seconds(1) <= end {
        let within = sent.iter();
        let within = within.filter(|(at, _)| (from..from + seconds(1)).contains(at));
        peak = peak.max(within.map(|(_, bytes)| bits(bytes)).sum());
        from += STEP;
    }
    let later = sent
        .iter()
        .filter(|(at, _)| *at >= Instant::ZERO + seconds(5));
    let all: f64 = later.map(|(_, bytes)| bits(bytes)).sum();
    let time = (end - Instant::ZERO).as_secs_f64() - 5.0;
    (all / time, peak)
}

fn call(scheduler: SchedulerKind, limit: Rate, family: Family) -> World {
    let links = [
        "rate=10mbit,delay=15ms,loss=2%",
        "rate=10mbit,delay=25ms,loss=1%",
    ];
    let mut world = World::new(&Setup {
        limit: Some(limit),
        scheduler,
        family,
        ..Setup::new(3, &links)
    });
    world.wires.sent = Some(Vec::new());
    world.run(seconds(8));
    // Danger: pictures are sent twice.
    world.cut(0);
    world.run(seconds(2));
    world.restore(0);
    world.run(seconds(10));
    world
}

#[test]
fn no_second_brings_more_than_the_bound() {
    for scheduler in SchedulerKind::ALL {
        for mbps in [0.3, 2.0, 6.0] {
            let limit = Rate::from_bps((mbps * 1e6) as u64);
            let mut world = call(scheduler, limit, Family::V4);
            let (mean, peak) = rates(&mut world, OVERHEAD);
            let (mean, peak) = (mean / 1e6, peak / 1e6);
            let shown = world.record().shown.len();
            let media = world.sender().session().target_rate();
            let call = format!(
                "{scheduler:?} at {mbps}: {mean:.3} Mbit/s, most {peak:.3}, {shown} frames, target {media:?}"
            );
            println!("{call}");
            assert!(peak <= mbps * 1.05 + 0.032, "{call}");
            assert!(mean <= mbps, "{call}");
            if scheduler == SchedulerKind::Weft {
                assert!(mean >= mbps * 0.85 && shown >= 570, "{call}");
            }
        }
    }
}

#[test]
fn the_bound_counts_the_headers_of_ipv6() {
    let limit = Rate::from_mbps(1);
    let mut world = call(SchedulerKind::Weft, limit, Family::V6);
    let (mean, peak) = rates(&mut world, 48);
    assert!(mean <= 1e6 && peak <= 1.05e6 + 32e3, "{mean}, {peak}");
}
