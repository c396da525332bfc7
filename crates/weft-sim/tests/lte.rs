//! TCP in an LTE cell.

mod world;

use weft_experiment::{
    CongestionKind, FlowKind, FlowSetup, Hop, LinkSetup, Record, Route, Setup, TcpSetup,
};
use weft_links::{
    LteBandwidth, LteQuality, LteSignal, LteSpec, LteTerminal, MediumSpec, StationId,
};
use weft_units::{Bytes, Duration, Instant};
use world::{goodput, run, seconds};

/// Creates the cell of the GCC thesis, *near*: 5 MHz, two parallel blocks on the
/// downlink.
fn near(terminals: usize) -> LteSpec {
    let down = LteSignal {
        quality: LteQuality::Cqi(14),
        rank: 2,
    };
    let terminal = LteTerminal::new(LteSignal::of_cqi(12), down);
    LteSpec {
        bandwidth: LteBandwidth::Mhz5,
        ..LteSpec::new(vec![terminal; terminals])
    }
}

fn setup(spec: LteSpec, duration: u64) -> Setup {
    let mut setup = Setup::new(seconds(duration));
    let stations = 0..=spec.terminals.len();
    setup.links.push(LinkSetup {
        name: "cell".into(),
        stations: stations.map(|id| format!("station-{id}")).collect(),
        place: None,
        medium: MediumSpec::lte(spec).expect("a cell"),
    });
    setup
}

/// Creates a CUBIC flow with this window, between two stations.
fn tcp(from: u16, to: u16, window: u64) -> FlowSetup {
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
        receive_window: Some(Bytes(window)),
        ..TcpSetup::long_lived(CongestionKind::Cubic)
    };
    let name = format!("{from} to {to}");
    FlowSetup::new(&name, route, FlowKind::Tcp(tcp))
}

/// Checks that used and idle resource blocks add up to the run in each direction, and
/// that every packet ends once.
fn check(record: &Record) {
    let link = &record.links[0];
    let end = record.ended_at.saturating_since(Instant::ZERO);
    let [up, down] = &link.channels[..] else {
        panic!("{:?}", link.channels)
    };
    assert_eq!((up.elapsed(), down.elapsed()), (end, end));
    let used = link.stations.iter().filter_map(|s| s.service);
    let used = used.fold(Duration::ZERO, |all, one| all + one.used);
    assert_eq!(used, up.used + down.used);
    for station in &link.stations {
        let counters = &station.counters;
        let ended = counters.delivered + counters.dropped();
        assert_eq!(counters.sent, ended + station.in_flight);
    }
}

/// One connection reaches the thesis's measurement of the whole cell (24.6 and 6.8 Mbit/s
/// next to a call of 2.5 each way), and its window fills the queue.
#[test]
fn a_window_fills_the_queue_and_sets_the_round_trip_time() {
    for (from, to, low, high) in [(1, 0, 24.5, 27.5), (0, 1, 8.5, 10.5)] {
        let mut setup = setup(near(1), 60);
        setup.flows.push(tcp(from, to, 3_000_000));
        setup.measure_from = seconds(30);
        let record = run(&setup, 1);
        let rate = goodput(&record, 0);
        let station = &record.links[0].stations[usize::from(from)];
        let wait = station.queue_delay.mean().as_secs_f64();
        let window = 3.0 * 8.0 / rate;
        println!("{from} to {to}: {rate:.2} Mbit/s, {wait:.3} of {window:.3} s");
        assert!((low..high).contains(&rate), "{rate}");
        assert_eq!(station.counters.dropped().packets, 0);
        // Packets in flight in both directions do not wait in the queue.
        assert!((wait / window - 1.0).abs() < 0.08, "{wait} {window}");
    }
}

/// Two terminals share equally, each with its own queue: 12.4 and 13.4 Mbit/s down in the
/// thesis.
#[test]
fn two_downloads_share_by_halves() {
    let mut setup = setup(near(2), 30);
    setup.flows.push(tcp(2, 0, 3_000_000));
    setup.flows.push(tcp(2, 1, 1_000_000));
    let record = run(&setup, 1);
    check(&record);
    let (first, second) = (goodput(&record, 0), goodput(&record, 1));
    println!("{first:.2} and {second:.2} Mbit/s");
    assert!((24.0..27.0).contains(&(first + second)));
    assert!((0.9..1.1).contains(&(first / second)));
}
