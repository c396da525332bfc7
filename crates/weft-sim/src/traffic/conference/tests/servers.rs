//! Room that spans two servers.

use weft_experiment::{
    FlowKind, FlowSetup, Hop, InterconnectSetup, LinkSetup, Record, Route, Setup, SetupError,
    TileRecord, TileSizes,
};
use weft_links::{Capacity, LinkSpec, Schedule, WiredDirection};
use weft_units::{Duration, Instant, Rate};

use super::{GOOD, add, group, people, seconds, seen};
use crate::run;

const BETWEEN: [&str; 2] = [
    "rate=100mbit,delay=40ms,queue=100ms",
    "rate=50mbit,delay=60ms,queue=100ms",
];
const SERVERS: [&str; 2] = ["east", "west"];

/// Creates two people at each server, and these links between the servers.
fn room(length: u64, between: &[LinkSpec]) -> Setup {
    let mut setup = Setup::new(seconds(length));
    for server in SERVERS {
        let mut group = group(2, TileSizes::Grid);
        group.server = server.to_owned();
        add(&mut setup, server, group, &[GOOD]);
    }
    let mut routes = Vec::new();
    for (place, spec) in between.iter().enumerate() {
        let link = setup.links.len();
        let name = format!("between {place}");
        setup.links.push(LinkSetup::symmetric(&name, spec));
        routes.push(Route {
            hops: vec![Hop::wired(link, WiredDirection::Forward)],
            ..Route::forward(&[link])
        });
    }
    let servers = SERVERS.map(str::to_owned);
    let kind = FlowKind::Interconnect(InterconnectSetup { servers });
    let flow = FlowSetup::new("between", routes[0].clone(), kind);
    setup.flows.push(FlowSetup { routes, ..flow });
    setup
}

fn specs() -> [LinkSpec; 2] {
    BETWEEN.map(|spec| spec.parse().expect("a link"))
}

/// Returns the tiles of people at one server that show people at the other.
fn across(record: &Record) -> impl Iterator<Item = &TileRecord> {
    let of = |flow: usize| people(record, flow).iter().flat_map(|p| &p.tiles);
    let [east, west] = SERVERS;
    let from_west = of(0).filter(move |tile| tile.of.starts_with(west));
    from_west.chain(of(1).filter(move |tile| tile.of.starts_with(east)))
}

#[test]
fn a_tile_shows_somebody_at_another_server() {
    let setup = room(20, &specs());
    let record = run(&setup, 1, &mut ()).expect("it can be run");
    let from = Instant::ZERO + seconds(8);
    assert_eq!(across(&record).count(), 8);
    for tile in across(&record) {
        let first = tile.pictures[0].shown_at.saturating_since(tile.since);
        assert!(first < seconds(2), "{}: {first:?}", tile.of);
        let (fps, gap) = seen(tile, from, record.ended_at);
        assert!((29.0..31.0).contains(&fps), "{}: {fps}", tile.of);
        assert!(gap < Duration::from_millis(300), "{}: {gap:?}", tile.of);
        let late = tile.pictures.iter().filter(|p| p.shown_at >= from);
        let least = late.map(|p| p.latency).min().expect("it shows pictures");
        // Two links of 15 ms to the people, and one of 40 ms between the servers.
        let bounds = Duration::from_millis(70)..Duration::from_millis(150);
        assert!(bounds.contains(&least), "{}: {least:?}", tile.of);
    }
    // Each camera crosses only once for both viewers there: less than 2.5 Mbit/s, plus
    // sound.
    let [ref first, ref second] = record.flows[2].routes[..] else {
        panic!("{:?}", record.flows[2].routes.len());
    };
    let crossed = first.there.delivered.bytes + second.there.delivered.bytes;
    let rate = crossed / setup.duration;
    let bounds = Rate::from_mbps(1)..Rate::from_mbps(6);
    assert!(bounds.contains(&rate), "{rate:?}");
}

#[test]
fn a_link_between_servers_dies_and_nobody_notices() {
    for cut in [0, 1] {
        let mut links = specs();
        let Capacity::Constant(rate) = links[cut].capacity else {
            panic!("{:?}", links[cut]);
        };
        let steps = vec![
            (Duration::ZERO, rate),
            (seconds(10), Rate::ZERO),
            (seconds(16), rate),
        ];
        links[cut].capacity = Capacity::Schedule(Schedule::new(steps).expect("in order"));
        let record = run(&room(20, &links), 1, &mut ()).expect("it can be run");
        let (from, until) = (Instant::ZERO + seconds(9), Instant::ZERO + seconds(16));
        for tile in across(&record) {
            let shown = tile.pictures.iter().map(|p| p.shown_at);
            let mut times: Vec<Instant> = shown.filter(|at| (from..until).contains(at)).collect();
            times.push(until);
            let gaps = times.windows(2).map(|two| two[1].saturating_since(two[0]));
            let gap = gaps.max().expect("it shows pictures");
            assert!(
                gap < Duration::from_millis(500),
                "{} without {cut}: {gap:?}",
                tile.of
            );
        }
        let [ref first, ref second] = record.flows[2].routes[..] else {
            panic!("{:?}", record.flows[2].routes.len());
        };
        let other = [first, second][1 - cut].there.delivered.bytes;
        assert!(other.0 > 100_000, "{other:?}");
    }
}

#[test]
fn servers_without_links_or_people_are_refused() {
    let wrong = |setup: &Setup| match run(setup, 1, &mut ()) {
        Err(SetupError::Servers { flow, what }) => (flow, what),
        other => panic!("{:?}", other.map(drop)),
    };
    let mut apart = room(5, &specs());
    apart.flows.pop();
    let (flow, what) = wrong(&apart);
    assert_eq!(flow, "west");
    assert!(what.contains("kind \"interconnect\""), "{what}");
    let mut empty = room(5, &specs());
    empty.flows.remove(1);
    let (flow, what) = wrong(&empty);
    assert_eq!(flow, "between");
    assert!(
        what.contains("no group of the conference is at server 'west'"),
        "{what}"
    );
    let mut twice = room(5, &specs());
    let again = FlowSetup {
        name: "again".to_owned(),
        ..twice.flows[2].clone()
    };
    twice.flows.push(again);
    let (flow, what) = wrong(&twice);
    assert_eq!(flow, "again");
    assert!(what.contains("joined already"), "{what}");
}
