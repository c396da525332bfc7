use weft_experiment::{
    AllocatorKind, ConferenceRecord, ConferenceSetup, FlowDetail, FlowKind, FlowSetup, Hop,
    LinkSetup, MicrophoneSetup, PersonRecord, Record, Route, Screen, Setup, TileRecord, TileSizes,
};
use weft_links::WiredDirection;
use weft_units::{Duration, Instant};

use crate::run;

mod servers;

const GOOD: &str = "rate=20mbit,delay=15ms,queue=200ms";

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn group(people: usize, arrangement: TileSizes) -> ConferenceSetup {
    let pages = crate::workload::pages(people);
    ConferenceSetup {
        joining: Duration::from_millis(500),
        microphone: Some(MicrophoneSetup::default()),
        screen: Screen {
            arrangement,
            ..pages.screen
        },
        ..pages
    }
}

/// Adds a group in which each person has these links.
fn add(setup: &mut Setup, name: &str, mut group: ConferenceSetup, links: &[&str]) {
    group.routes_each = links.len();
    let mut routes = Vec::new();
    for person in 0..group.people {
        for (place, spec) in links.iter().enumerate() {
            let link = setup.links.len();
            let spec = spec.parse().expect("a link");
            let of = format!("{name} {person} {place}");
            setup.links.push(LinkSetup::symmetric(&of, &spec));
            routes.push(Route {
                hops: vec![Hop::wired(link, WiredDirection::Backward)],
                ..Route::backward(&[link])
            });
        }
    }
    let kind = FlowKind::Conference(Box::new(group));
    let flow = FlowSetup::new(name, routes[0].clone(), kind);
    setup.flows.push(FlowSetup { routes, ..flow });
}

fn people(record: &Record, flow: usize) -> &[PersonRecord] {
    match &record.flows[flow].detail {
        FlowDetail::Conference(ConferenceRecord { people }) => people,
        other => panic!("{other:?}"),
    }
}

/// Returns the pictures per second from then on, and the longest time without one.
fn seen(tile: &TileRecord, from: Instant, end: Instant) -> (f64, Duration) {
    let shown = tile.pictures.iter().map(|p| p.shown_at);
    let mut times: Vec<Instant> = shown.filter(|at| *at >= from).collect();
    let span = end.saturating_since(from).as_secs_f64();
    let fps = times.len() as f64 / span;
    times.insert(0, from);
    times.push(end);
    let gaps = times
        .windows(2)
        .map(|pair| pair[1].saturating_since(pair[0]));
    (fps, gaps.max().unwrap_or_default())
}

fn mean_height(tile: &TileRecord, from: Instant) -> f64 {
    let late = tile.pictures.iter().filter(|p| p.shown_at >= from);
    let heights: Vec<f64> = late.map(|p| f64::from(p.height)).collect();
    heights.iter().sum::<f64>() / heights.len().max(1) as f64
}

/// Runs a room of four people with good links, and one with a slow one.
fn weak_room(down: &str, length: u64) -> (Setup, Record) {
    let mut setup = Setup::new(seconds(length));
    add(&mut setup, "strong", group(4, TileSizes::Grid), &[GOOD]);
    add(&mut setup, "weak", group(1, TileSizes::Grid), &[down]);
    let record = run(&setup, 1, &mut ()).expect("it can be run");
    (setup, record)
}

#[test]
fn a_weak_viewer_gets_small_pictures_and_the_others_keep_theirs() {
    let (_, record) = weak_room("rate=1500kbit,delay=30ms,queue=300ms", 40);
    let (from, end) = (Instant::ZERO + seconds(15), record.ended_at);
    for person in people(&record, 0) {
        assert_eq!(person.tiles.len(), 4, "{}", person.name);
        for tile in person.tiles.iter().filter(|tile| tile.of != "weak") {
            let (fps, gap) = seen(tile, from, end);
            let height = mean_height(tile, from);
            let of = (&person.name, &tile.of);
            assert!(
                (29.0..31.0).contains(&fps),
                "{of:?}: {fps} pictures a second"
            );
            assert!(gap < Duration::from_millis(300), "{of:?}: {gap:?}");
            // For tiles of 416 x 234, the middle encoding is enough.
            assert!((355.0..=360.0).contains(&height), "{of:?}: {height} lines");
            assert_eq!(tile.pauses, []);
        }
    }
    let weak = &people(&record, 1)[0];
    assert_eq!((weak.name.as_str(), weak.tiles.len()), ("weak", 4));
    for tile in &weak.tiles {
        let (fps, gap) = seen(tile, from, end);
        let height = mean_height(tile, from);
        assert!(
            (6.0..31.0).contains(&fps),
            "{}: {fps} pictures a second",
            tile.of
        );
        assert!(gap < seconds(2), "{}: {gap:?}", tile.of);
        assert!(
            (180.0..300.0).contains(&height),
            "{}: {height} lines",
            tile.of
        );
    }
}

#[test]
fn every_byte_is_delivered_dropped_or_in_flight() {
    let (setup, record) = weak_room("rate=800kbit,delay=30ms,queue=100ms", 15);
    let mut dropped = 0;
    for link in &record.links {
        for station in &link.stations {
            let counters = &station.counters;
            let all = counters.dropped();
            dropped += all.packets;
            let ended = counters.delivered.packets + all.packets + station.in_flight.packets;
            assert_eq!(counters.sent.packets, ended, "{}", link.name);
            let bytes = counters.delivered.bytes + all.bytes + station.in_flight.bytes;
            assert_eq!(counters.sent.bytes, bytes, "{}", link.name);
        }
    }
    assert!(dropped > 0, "the weak link is full at first");
    for (flow, record) in setup.flows.iter().zip(&record.flows) {
        assert_eq!(flow.routes.len(), record.routes.len());
        for route in &record.routes {
            let (there, back) = (&route.there, &route.back);
            assert!(there.delivered.bytes.0 > 0 && back.delivered.bytes.0 > 0);
            assert!(there.delivered.bytes <= there.sent.bytes);
        }
    }
}

#[test]
fn equal_seeds_give_equal_records_and_others_do_not() {
    let mut setup = Setup::new(seconds(8));
    add(&mut setup, "people", group(3, TileSizes::Speaker), &[GOOD]);
    add(
        &mut setup,
        "moving",
        group(1, TileSizes::Grid),
        &["rate=3mbit,delay=20ms,loss=1%", GOOD],
    );
    let run = |seed| run(&setup, seed, &mut ()).expect("it can be run");
    let first = run(1);
    assert_eq!(first, run(1));
    let other_thread = std::thread::scope(|scope| scope.spawn(|| run(1)).join());
    assert_eq!(first, other_thread.expect("no panic"));
    assert_ne!(first, run(2));
}

#[test]
fn the_speaker_is_large_and_leavers_disappear() {
    let mut setup = Setup::new(seconds(30));
    add(&mut setup, "people", group(3, TileSizes::Speaker), &[GOOD]);
    add(&mut setup, "guest", group(1, TileSizes::Speaker), &[GOOD]);
    setup.flows[1].stop = Some(seconds(15));
    let record = run(&setup, 3, &mut ()).expect("it can be run");
    let first = &people(&record, 0)[0];
    let guest = first.tiles.iter().find(|tile| tile.of == "guest");
    let guest = guest.expect("it was there");
    let until = guest.until.expect("it has left");
    assert_eq!(until, Instant::ZERO + seconds(15));
    let last = guest.pictures.last().expect("it was seen");
    assert!(last.shown_at <= until + Duration::from_millis(1));
    // Tiles of 1024 and of 256 pixels: large and small pictures, and none in between for
    // long.
    let heights = |person: &PersonRecord, height: u16| {
        let all = person.tiles.iter().flat_map(|tile| &tile.pictures);
        let late = all.filter(|p| p.shown_at > Instant::ZERO + seconds(8));
        late.filter(|p| p.height == height).count()
    };
    let (large, small) = (heights(first, 720), heights(first, 180));
    assert!((400..800).contains(&large), "{large} large pictures");
    assert!((500..1_400).contains(&small), "{small} small pictures");
}

/// Everybody at one link has the same rules: what a slow viewer sees depends on them.
#[test]
fn a_conference_follows_the_rules_of_another_server() {
    let of = |allocator: AllocatorKind| {
        let group = |people| ConferenceSetup {
            allocator: Some(allocator),
            ..group(people, TileSizes::Grid)
        };
        let mut setup = Setup::new(seconds(30));
        add(&mut setup, "strong", group(5), &[GOOD]);
        let slow = "rate=300kbit,delay=30ms,queue=300ms";
        add(&mut setup, "weak", group(1), &[slow]);
        let record = run(&setup, 1, &mut ()).expect("it can be run");
        let (from, end) = (Instant::ZERO + seconds(10), record.ended_at);
        for person in people(&record, 0) {
            for tile in person.tiles.iter().filter(|tile| tile.of != "weak") {
                let (fps, _) = seen(tile, from, end);
                assert!((29.0..31.0).contains(&fps), "{allocator}: {fps}");
            }
        }
        let tiles = people(&record, 1)[0].tiles.clone();
        let paused = tiles.iter().filter(|tile| !tile.pauses.is_empty()).count();
        let moving = tiles.iter().filter(|tile| seen(tile, from, end).0 > 3.0);
        (paused, moving.count())
    };
    // LiveKit pauses nothing by default; Jitsi sends no layer that does not fit.
    let (paused, _) = of(AllocatorKind::LivekitRules);
    assert_eq!(paused, 0);
    let (paused, moving) = of(AllocatorKind::JitsiRules);
    assert!(paused >= 2 && moving >= 1, "{paused} paused, {moving} move");
}

#[test]
fn spectators_are_invisible() {
    let mut setup = Setup::new(seconds(10));
    add(&mut setup, "host", group(1, TileSizes::Grid), &[GOOD]);
    let watching = ConferenceSetup {
        camera: None,
        microphone: None,
        ..group(5, TileSizes::Grid)
    };
    add(&mut setup, "audience", watching, &[GOOD]);
    let record = run(&setup, 1, &mut ()).expect("it can be run");
    assert_eq!(people(&record, 0)[0].tiles, []);
    for person in people(&record, 1) {
        let [tile] = &person.tiles[..] else {
            panic!("{:?}", person.tiles.len());
        };
        let first = tile.pictures[0].shown_at.saturating_since(tile.since);
        assert!(
            first < Duration::from_millis(700),
            "{first:?} to the first picture"
        );
        let (fps, _) = seen(tile, Instant::ZERO + seconds(5), record.ended_at);
        assert!((29.0..31.0).contains(&fps), "{fps}");
        assert!(mean_height(tile, Instant::ZERO + seconds(7)) > 700.0);
    }
}
