//! TCP in a WiFi cell.

mod world;

use weft_experiment::{
    CongestionKind, FlowKind, FlowSetup, Hop, LinkSetup, Record, Route, Setup, TcpSetup,
};
use weft_links::{ApQueue, MediumSpec, StationId, WifiSpec, WifiStandard, WifiStation};
use weft_units::{Bytes, Duration};
use world::{goodput, run, seconds};

/// Creates a cell whose stations have these rates.
fn cell(standard: WifiStandard, rates: &[&str]) -> WifiSpec {
    let rate = |name: &&str| standard.rate(name).expect("a rate");
    let stations = rates.iter().map(rate).map(WifiStation::new);
    WifiSpec::new(standard, stations.collect())
}

fn setup(spec: WifiSpec, duration: u64) -> Setup {
    let mut setup = Setup::new(seconds(duration));
    let stations = 0..=spec.stations.len();
    setup.links.push(LinkSetup {
        name: "cell".into(),
        stations: stations.map(|id| format!("station-{id}")).collect(),
        place: None,
        medium: MediumSpec::wifi(spec).expect("a cell"),
    });
    setup
}

/// Creates a CUBIC flow with the window of the GCC thesis's downloads, between two
/// stations.
fn tcp(name: &str, from: u16, to: u16) -> FlowSetup {
    let hop = Hop {
        link: 0,
        from: StationId(from),
        to: StationId(to),
    };
    let route = Route {
        hops: vec![hop],
        access_delay: Duration::ZERO,
        access_jitter: Duration::ZERO,
        policy: weft_session::Policy::default(),
    };
    let tcp = TcpSetup {
        receive_window: Some(Bytes(1_500_000)),
        ..TcpSetup::long_lived(CongestionKind::Cubic)
    };
    FlowSetup::new(name, route, FlowKind::Tcp(tcp))
}

/// Checks that exchanges, collisions and idle time add up to the run, and that every
/// packet ends once.
fn check(record: &Record) {
    let link = &record.links[0];
    let channel = link.channels[0];
    let end = record.ended_at.saturating_since(weft_units::Instant::ZERO);
    assert_eq!(channel.elapsed(), end);
    let used = link.stations.iter().filter_map(|s| s.service);
    let used = used.fold(Duration::ZERO, |all, one| all + one.used);
    assert_eq!(used, channel.used);
    for station in &link.stations {
        let counters = &station.counters;
        let ended = counters.delivered + counters.dropped();
        assert_eq!(counters.sent, ended + station.in_flight);
    }
}

/// Payload of one connection of one station without errors, in Mbit/s, computed from
/// frame exchanges with an acknowledgement for every second segment.
#[test]
fn one_download_or_upload_has_what_its_frames_and_acknowledgements_leave() {
    for (standard, rate, expected) in [
        (WifiStandard::B, "11mbit", 5.1),
        (WifiStandard::G, "54mbit", 24.2),
        (WifiStandard::N, "mcs4", 34.0),
        (WifiStandard::N, "mcs7", 57.0),
        (WifiStandard::N, "mcs15", 113.0),
    ] {
        for (from, to) in [(0, 1), (1, 0)] {
            let mut setup = setup(cell(standard, &[rate]), 30);
            setup.flows.push(tcp("tcp", from, to));
            let record = run(&setup, 1);
            check(&record);
            let off = goodput(&record, 0) / expected - 1.0;
            println!(
                "{rate} {from}: {:.2} Mbit/s, {:+.1} %",
                goodput(&record, 0),
                off * 100.0
            );
            assert!(
                off.abs() < 0.05,
                "{rate}: {} of {expected}",
                goodput(&record, 0)
            );
        }
    }
}

/// The window of one connection fills the queue, except for the frames on the air:
/// bufferbloat by arithmetic.
#[test]
fn a_window_fills_the_queue_of_the_access_point() {
    let mut setup = setup(cell(WifiStandard::N, &["mcs4"]), 40);
    setup.flows.push(tcp("download", 1, 0));
    setup.measure_from = seconds(10);
    let record = run(&setup, 1);
    let wait = record.links[0].stations[1]
        .queue_delay
        .mean()
        .as_millis_f64();
    assert!((320.0..370.0).contains(&wait), "{wait} ms");
}

/// The second part of the GCC thesis's wifi-4, *near*, without its call: both
/// stations download (38.3 and 45.5 Mbit/s there).
#[test]
fn two_downloads_over_one_access_point_share_its_airtime() {
    for queue in ApQueue::ALL {
        let spec = WifiSpec {
            ap_queue: queue,
            ..cell(WifiStandard::N, &["mcs13"; 2])
        };
        let mut setup = setup(spec, 30);
        setup.flows.push(tcp("first", 2, 0));
        setup.flows.push(tcp("second", 2, 1));
        let record = run(&setup, 1);
        check(&record);
        let (first, second) = (goodput(&record, 0), goodput(&record, 1));
        let total = first + second;
        println!("{}: {first:.1} + {second:.1} Mbit/s", queue.name());
        assert!((80.0..95.0).contains(&total), "{total}");
        assert!((0.8..1.25).contains(&(first / second)), "{first} {second}");
    }
}
