//! Runs that measure the simulator's speed, for all programs that measure it.

use weft_links::{
    LteSignal, LteSpec, LteTerminal, MediumSpec, StationId, WifiSpec, WifiStandard, WifiStation,
};
use weft_session::Level;
use weft_units::{Bytes, Codec, Duration, Rate};

use weft_experiment::{
    CallSetup, CameraSetup, ConferenceSetup, CongestionKind, FlowKind, FlowSetup, Hop, LinkSetup,
    MicrophoneSetup, ModelSetup, Route, Screen, Setup, SideSetup, SimulcastSetup, TcpSetup,
    TileSizes, UdpSetup,
};

/// Named run of any length.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// Name in tables.
    pub name: &'static str,
    /// Goal in simulated seconds per second of one core; chosen by us: at least ten times
    /// the speed of ns-3, which has no conferences.
    pub goal: f64,
    setup: fn(Duration) -> Setup,
}

/// Every workload.
pub const WORKLOADS: [Workload; 10] = [
    Workload::new("wired-2m", 4000.0, |d| wired(d, "2mbit")),
    Workload::new("wired-10m", 500.0, |d| wired(d, "10mbit")),
    Workload::new("wired-50m", 60.0, |d| wired(d, "50mbit")),
    Workload::new("call-1x", 500.0, |d| call(d, 1)),
    Workload::new("call-3x", 150.0, |d| call(d, 3)),
    Workload::new("conference-25", 20.0, conference),
    Workload::new("wifi-16", 300.0, saturated_cell),
    Workload::new("wifi-16-cbr", 200.0, busy_cell),
    Workload::new("wifi-16-calls", 40.0, calling_cell),
    Workload::new("lte-16", 300.0, full_buffers),
];

impl Workload {
    const fn new(name: &'static str, goal: f64, setup: fn(Duration) -> Setup) -> Workload {
        Workload { name, goal, setup }
    }

    /// Returns the setup of a run of this length.
    #[must_use]
    pub fn setup(&self, duration: Duration) -> Setup {
        (self.setup)(duration)
    }
}

/// Creates one TCP CUBIC upload with 1 Mbps of UDP.
fn wired(duration: Duration, rate: &str) -> Setup {
    let mut setup = Setup::new(duration);
    let link = format!("rate={rate},delay=25ms,queue=2bdp");
    let link = link.parse().expect("a link");
    setup.links.push(LinkSetup::symmetric("bottleneck", &link));
    let tcp = FlowKind::Tcp(TcpSetup::long_lived(CongestionKind::Cubic));
    let udp = FlowKind::Udp(UdpSetup::new(Rate::from_mbps(1)));
    for (name, kind) in [("tcp", tcp), ("udp", udp)] {
        let flow = FlowSetup::new(name, Route::forward(&[0]), kind);
        setup.flows.push(flow);
    }
    setup
}

/// Creates a call with cameras of at most 10 Mbps each over two links of 10 Mbps.
fn call(duration: Duration, cameras: usize) -> Setup {
    let mut setup = Setup::new(duration);
    for (name, delay) in [("one", "20ms"), ("two", "35ms")] {
        let link = format!("rate=10mbit,delay={delay},queue=300ms");
        let link = link.parse().expect("a link");
        setup.links.push(LinkSetup::symmetric(name, &link));
    }
    let cameras = vec![CameraSetup::synthetic(30.0, Rate::from_mbps(10)); cameras];
    let call = CallSetup::one_way(SideSetup::filming(cameras));
    let routes = vec![Route::forward(&[0]), Route::forward(&[1])];
    setup.flows.push(FlowSetup::call("call", routes, call));
    setup
}

/// Creates a room of 25 pages: 20 have cable, and five a line that carries a part of the
/// pictures.
fn conference(duration: Duration) -> Setup {
    const GROUPS: [(&str, usize, &str); 2] = [
        ("cable", 20, "rate=50mbit,delay=12ms,queue=100ms"),
        ("slow", 5, "rate=1500kbit,delay=30ms,queue=200ms"),
    ];
    let mut setup = Setup::new(duration);
    for (group, people, link) in GROUPS {
        let (link, first) = (link.parse().expect("a link"), setup.links.len());
        let links = (0..people).map(|n| LinkSetup::symmetric(&format!("{group}-{n}"), &link));
        setup.links.extend(links);
        let routes = (first..first + people).map(|link| Route::forward(&[link]));
        let routes: Vec<Route> = routes.collect();
        let kind = FlowKind::Conference(Box::new(pages(people)));
        let flow = FlowSetup::new(group, routes[0].clone(), kind);
        setup.flows.push(FlowSetup { routes, ..flow });
    }
    setup
}

/// Creates people with the page's three encodings and sound.
pub(crate) fn pages(people: usize) -> ConferenceSetup {
    let rates = [150, 500, 2_500].map(Rate::from_kbps);
    let mut encoder = ModelSetup::new(Codec::Vp8, 1280, 720, rates[2]);
    encoder.temporal_layers = 3;
    ConferenceSetup {
        server: "server".to_owned(),
        allocator: None,
        people,
        routes_each: 1,
        joining: Duration::from_secs(3),
        camera: Some(SimulcastSetup {
            encoder,
            rates: rates.to_vec(),
        }),
        microphone: Some(MicrophoneSetup {
            rate: Rate::from_kbps(32),
            ..MicrophoneSetup::default()
        }),
        screen: Screen {
            width: 1280,
            height: 720,
            arrangement: TileSizes::Grid,
        },
        level: Level::Full,
        side: SideSetup::filming(Vec::new()),
    }
}

const STATIONS: u16 = 16;

/// Creates stations of 802.11g that always have 1500 bytes of UDP to send: 48 Mbit/s
/// offered, 26 carried.
fn saturated_cell(duration: Duration) -> Setup {
    let mut setup = cell(duration, WifiStandard::G, "54mbit");
    let udp = UdpSetup::new(Rate::from_mbps(3));
    for station in 0..STATIONS {
        let (from, to) = (StationId(station), StationId(STATIONS));
        setup.flows.push(over_cell(from, to, udp));
    }
    setup
}

/// Creates stations of 802.11n with 2 Mbit/s of UDP in both directions, 1200 bytes each.
fn busy_cell(duration: Duration) -> Setup {
    let mut setup = cell(duration, WifiStandard::N, "mcs15");
    let udp = UdpSetup {
        packet: Bytes(1200),
        ..UdpSetup::new(Rate::from_mbps(2))
    };
    for station in 0..STATIONS {
        let (station, access_point) = (StationId(station), StationId(STATIONS));
        setup.flows.push(over_cell(station, access_point, udp));
        setup.flows.push(over_cell(access_point, station, udp));
    }
    setup
}

/// Creates the same stations, each with a two-way weft call over the cell alone.
fn calling_cell(duration: Duration) -> Setup {
    let mut setup = cell(duration, WifiStandard::N, "mcs15");
    let cameras = vec![CameraSetup::synthetic(30.0, Rate::from_mbps(2))];
    let call = CallSetup::both_ways(SideSetup::filming(cameras));
    for station in 0..STATIONS {
        let route = route(StationId(station), StationId(STATIONS));
        let name = station.to_string();
        setup
            .flows
            .push(FlowSetup::call(&name, vec![route], call.clone()));
    }
    setup
}

/// Creates terminals of an overloaded LTE cell of 10 MHz: 4 Mbit/s of downlink load for
/// each; the cell carries 24 in total.
fn full_buffers(duration: Duration) -> Setup {
    let signal = LteSignal::of_cqi(12);
    let terminals = vec![LteTerminal::new(signal, signal); usize::from(STATIONS)];
    let mut spec = LteSpec::new(terminals);
    // This fills up soon, and stays full until the end.
    spec.queue = Bytes(100_000);
    let medium = MediumSpec::lte(spec).expect("a cell");
    let mut setup = over(duration, medium);
    let udp = UdpSetup::new(Rate::from_mbps(4));
    for terminal in 0..STATIONS {
        let (from, to) = (StationId(STATIONS), StationId(terminal));
        setup.flows.push(over_cell(from, to, udp));
    }
    setup
}

fn cell(duration: Duration, standard: WifiStandard, rate: &str) -> Setup {
    let rate = standard.rate(rate).expect("a rate");
    let stations = vec![WifiStation::new(rate); usize::from(STATIONS)];
    let medium = MediumSpec::wifi(WifiSpec::new(standard, stations));
    over(duration, medium.expect("a cell"))
}

/// Creates a run over a cell, without flows.
fn over(duration: Duration, medium: MediumSpec) -> Setup {
    let mut setup = Setup::new(duration);
    setup.links.push(LinkSetup {
        name: "cell".to_owned(),
        medium,
        stations: (0..=STATIONS).map(|id| id.to_string()).collect(),
        place: None,
    });
    setup
}

fn over_cell(from: StationId, to: StationId, udp: UdpSetup) -> FlowSetup {
    let name = format!("{} to {}", from.0, to.0);
    FlowSetup::new(&name, route(from, to), FlowKind::Udp(udp))
}

fn route(from: StationId, to: StationId) -> Route {
    Route {
        hops: vec![Hop { link: 0, from, to }],
        access_delay: Duration::ZERO,
        access_jitter: Duration::ZERO,
        policy: weft_session::Policy::default(),
    }
}
