use super::*;
use weft_experiment::{CongestionKind, FlowKind, FlowSetup, LinkSetup, Route, TcpSetup};
use weft_links::{MediumSpec, StationId};
use weft_units::Duration;

/// Creates an upload from left to right and one from right to left.
fn two_uploads() -> Setup {
    let mut setup = Setup::new(Duration::from_secs(30));
    let link = "rate=2mbit,delay=25ms,queue=2bdp".parse().expect("a link");
    setup.links.push(LinkSetup::symmetric("medium", &link));
    for (name, route) in [
        ("up", Route::forward(&[0])),
        ("down", Route::backward(&[0])),
    ] {
        let tcp = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Cubic));
        setup.flows.push(FlowSetup::new(name, route, tcp));
    }
    setup
}

fn delivered_mbps(record: &Record, flow: usize) -> f64 {
    let bytes = record.flows[flow].routes[0].there.delivered.bytes;
    bytes.0 as f64 * 8.0 / 1e6 / 30.0
}

#[test]
fn flows_run_over_a_medium_that_stations_share() {
    let setup = two_uploads();
    let station = setup.links[0].medium.link(StationId(0)).expect("wired");
    let mut shared = setup.clone();
    shared.links[0].medium = MediumSpec::token_ring(station.clone(), Duration::from_micros(500));
    let record = run(&shared, 1, &mut ()).expect("a setup that can be run");
    assert_eq!(
        Ok(&record),
        run(&shared, 1, &mut ()).as_ref(),
        "the same seed"
    );

    let link = &record.links[0];
    let [up, down] = [link.forward(), link.backward()].map(|way| {
        let counters = way.counters;
        let ended = counters.delivered + counters.dropped();
        assert_eq!(counters.sent, ended + way.in_flight);
        way.service.expect("the simulator knows")
    });
    for time in [up, down] {
        assert_eq!(time.elapsed(), setup.duration);
        assert!(time.idle < Duration::from_secs(3), "it is busy: {time:?}");
    }
    // Only one station sends at a time, so its use blocks the other.
    assert!(up.used <= down.blocked && down.used <= up.blocked);
    let passing = setup.duration - up.used - down.used - up.idle.max(down.idle);
    assert!(passing > Duration::from_secs(1), "turns cost: {passing:?}");

    // Both uploads, their acknowledgements and the turns share two megabits; over a wired
    // medium, each upload has as much alone.
    let both = delivered_mbps(&record, 0) + delivered_mbps(&record, 1);
    assert!((1.4..1.9).contains(&both), "{both} Mbit/s together");
    let wired = run(&setup, 1, &mut ()).expect("a setup that can be run");
    let both = delivered_mbps(&wired, 0) + delivered_mbps(&wired, 1);
    assert!((3.2..4.0).contains(&both), "{both} Mbit/s together");
}

#[test]
fn a_run_that_pauses_leaves_the_same_record() {
    let setup = two_uploads();
    let whole = run(&setup, 3, &mut ()).expect("a setup that can be run");
    for step in [1, 60, 333, 40_000].map(Duration::from_millis) {
        let mut simulation = Simulation::new(setup.clone(), 3).expect("a setup that can be run");
        let (mut now, mut pauses) = (Instant::ZERO, 0);
        while !simulation.has_ended() {
            now += step;
            pauses += 1;
            simulation.advance(now, &mut ());
        }
        assert_eq!(pauses, 30_000_u64.div_ceil(step.as_nanos() / 1_000_000));
        assert!(simulation.finish() == whole, "steps of {step:?}");
    }
    let mut half = Simulation::new(setup, 3).expect("a setup that can be run");
    half.advance(Instant::ZERO + Duration::from_secs(15), &mut ());
    assert!(!half.has_ended());
    assert!(half.finish().events < whole.events);
}
