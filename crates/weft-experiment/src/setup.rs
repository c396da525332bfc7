//! What a run consists of: links, and flows over them.

use weft_links::{LinkSpec, MediumSpec};
use weft_units::{Bytes, Duration, Rate};

use crate::traffic::call::CallSetup;

mod check;

pub use check::SetupError;

/// One run, whichever engine does it. [`Setup::check`] says what is wrong with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// How long the run lasts.
    pub duration: Duration,
    /// Periods that begin earlier are in the time series only, not in
    /// distributions of the run. Default zero.
    pub measure_from: Duration,
    /// The period of every time series. RFC 8868 section 3 computes its
    /// metrics from rates per 200 ms.
    pub sample_every: Duration,
    /// The links, which routes name by their position here.
    pub links: Vec<LinkSetup>,
    /// The flows. Their order breaks ties of time, nothing else.
    pub flows: Vec<FlowSetup>,
}

/// A link with its two directions, which share nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSetup {
    /// Unique among the links of the run.
    pub name: String,
    /// From left to right.
    pub forward: LinkSpec,
    /// From right to left.
    pub backward: LinkSpec,
}

/// A direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// From left to right.
    Forward,
    /// From right to left.
    Backward,
}

/// One link of a route, and the direction in which the source's packets
/// cross it. What comes back crosses it the other way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Position in [`Setup::links`].
    pub link: usize,
    /// The way of the source's packets.
    pub direction: Direction,
}

/// The way from a flow's source to its sink; back it is the same in reverse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Route {
    /// The links in the order of the source's packets; at least one.
    pub hops: Vec<Hop>,
    /// One-way delay between the source and the first hop, each way: an access
    /// link without queue, loss and limit of rate. Default zero.
    pub access_delay: Duration,
}

/// One flow: a source, a sink, and what runs between them.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSetup {
    /// Unique among the flows of the run. Randomness of the flow depends on
    /// the seed and this name only.
    pub name: String,
    /// When it begins, from the beginning of the run.
    pub start: Duration,
    /// When its source stops sending anything new, from the beginning of the
    /// run; `None`: with the run.
    pub stop: Option<Duration>,
    /// A call takes one route for each path; every other flow has one.
    pub routes: Vec<Route>,
    /// What runs.
    pub kind: FlowKind,
}

/// What a flow carries and how.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowKind {
    /// TCP connections.
    Tcp(TcpSetup),
    /// Packets of one size at a constant rate.
    Udp(UdpSetup),
    /// A weft call, one path for each route.
    Call(Box<CallSetup>),
}

/// TCP connections that do the same, side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpSetup {
    /// Congestion control of the sender.
    pub congestion: CongestionKind,
    /// What the connections have to send.
    pub application: Application,
    /// How many connections; each has its own randomness. Default one.
    pub connections: u32,
    /// Whether data packets can be marked in place of dropped (RFC 3168).
    pub ecn: EcnMode,
}

/// Use of explicit congestion notification.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnMode {
    /// Packets are not ECN-capable.
    #[default]
    Off,
    /// Data packets are ECT(0), marks are echoed and answered like a loss.
    On,
}

/// The congestion control algorithms, by their names in files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionKind {
    /// `reno`: RFC 5681.
    Reno,
    /// `cubic`: RFC 9438.
    Cubic,
    /// `bbr1`: BBR as Linux has it, draft-cardwell-iccrg-bbr-congestion-control-00.
    Bbr1,
    /// `bbr3`: draft-ietf-ccwg-bbr-01.
    Bbr3,
}

/// What a TCP connection has to send.
#[derive(Clone, PartialEq, Debug)]
pub enum Application {
    /// As much as the network takes.
    LongLived,
    /// So many bytes, once.
    Upload(Bytes),
    /// Transfers with pauses between them, each on a new connection: sizes
    /// uniform within the bounds, pauses exponential, the first one before the
    /// first transfer (RFC 8867 section 5.7).
    OnOff {
        /// Smallest and largest transfer.
        size: (Bytes, Bytes),
        /// Mean of the pauses.
        mean_pause: Duration,
    },
}

/// Packets of one size at a constant rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpSetup {
    /// Rate on the link, IP and UDP headers included.
    pub rate: Rate,
    /// Size of a packet on the link. Default 1500 bytes.
    pub packet: Bytes,
}

/// RFC 8868 section 3: rates in windows of 200 ms.
const DEFAULT_SAMPLE: Duration = Duration::from_millis(200);

impl Setup {
    /// A run of this length without links and flows, sampled every 200 ms.
    #[must_use]
    pub fn new(duration: Duration) -> Setup {
        Setup {
            duration,
            measure_from: Duration::ZERO,
            sample_every: DEFAULT_SAMPLE,
            links: Vec::new(),
            flows: Vec::new(),
        }
    }
}

impl LinkSetup {
    /// A link that is the same in both directions.
    #[must_use]
    pub fn symmetric(name: &str, spec: &LinkSpec) -> LinkSetup {
        LinkSetup {
            name: name.to_owned(),
            forward: spec.clone(),
            backward: spec.clone(),
        }
    }

    /// What carries its packets: forward is the first station's, backward the
    /// second one's.
    #[must_use]
    pub fn medium(&self) -> MediumSpec {
        MediumSpec::wired(self.forward.clone(), self.backward.clone())
    }
}

impl Direction {
    /// The other one.
    #[must_use]
    pub const fn reversed(self) -> Direction {
        match self {
            Direction::Forward => Direction::Backward,
            Direction::Backward => Direction::Forward,
        }
    }
}

impl Route {
    /// Over these links from left to right, without access delay.
    #[must_use]
    pub fn forward(links: &[usize]) -> Route {
        let hop = |&link| Hop {
            link,
            direction: Direction::Forward,
        };
        Route {
            hops: links.iter().map(hop).collect(),
            access_delay: Duration::ZERO,
        }
    }

    /// Over these links from right to left, the first one named first.
    #[must_use]
    pub fn backward(links: &[usize]) -> Route {
        let mut route = Route::forward(links);
        for hop in &mut route.hops {
            hop.direction = Direction::Backward;
        }
        route
    }

    /// The same with an access delay.
    #[must_use]
    pub fn with_access(self, access_delay: Duration) -> Route {
        Route {
            access_delay,
            ..self
        }
    }
}

impl FlowSetup {
    /// A flow over one route for the whole run.
    #[must_use]
    pub fn new(name: &str, route: Route, kind: FlowKind) -> FlowSetup {
        FlowSetup {
            name: name.to_owned(),
            start: Duration::ZERO,
            stop: None,
            routes: vec![route],
            kind,
        }
    }

    /// When it stops in a run that ends then.
    #[must_use]
    pub fn stops_at(&self, end: Duration) -> Duration {
        self.stop.unwrap_or(end).min(end)
    }

    /// A call over these routes for the whole run.
    #[must_use]
    pub fn call(name: &str, routes: Vec<Route>, call: CallSetup) -> FlowSetup {
        FlowSetup {
            name: name.to_owned(),
            start: Duration::ZERO,
            stop: None,
            routes,
            kind: FlowKind::Call(Box::new(call)),
        }
    }

    /// The same from `start` to `stop`, counted from the beginning of the run.
    #[must_use]
    pub fn between(self, start: Duration, stop: Duration) -> FlowSetup {
        let stop = Some(stop);
        FlowSetup {
            start,
            stop,
            ..self
        }
    }
}

impl TcpSetup {
    /// One long-lived connection without ECN.
    #[must_use]
    pub fn long_lived(congestion: CongestionKind) -> TcpSetup {
        TcpSetup {
            congestion,
            application: Application::LongLived,
            connections: 1,
            ecn: EcnMode::Off,
        }
    }

    fn wrong(&self) -> Option<&'static str> {
        /// Chosen by us: more than any experiment of the literature, and what
        /// fits in memory.
        const MOST_CONNECTIONS: u32 = 100_000;
        if !(1..=MOST_CONNECTIONS).contains(&self.connections) {
            return Some("give it 1 to 100,000 connections");
        }
        match self.application {
            Application::LongLived => None,
            Application::Upload(size) => (size == Bytes::ZERO).then_some("an upload needs bytes"),
            Application::OnOff { size, .. } => (size.0 == Bytes::ZERO || size.1 < size.0)
                .then_some("transfer sizes need bytes, and the larger bound second"),
        }
    }
}

impl UdpSetup {
    /// This rate in packets of 1500 bytes.
    #[must_use]
    pub fn new(rate: Rate) -> UdpSetup {
        UdpSetup {
            rate,
            packet: Bytes(1500),
        }
    }

    fn wrong(&self) -> Option<&'static str> {
        // IPv4 and UDP headers at least, and what fits 16 bits of length.
        if !(28..=65_535).contains(&self.packet.0) {
            return Some("UDP packets have 28 to 65,535 bytes, headers included");
        }
        (self.rate == Rate::ZERO).then_some("give it a rate above zero")
    }
}

impl CongestionKind {
    /// All of them, for help texts.
    pub const ALL: [CongestionKind; 4] = [
        CongestionKind::Reno,
        CongestionKind::Cubic,
        CongestionKind::Bbr1,
        CongestionKind::Bbr3,
    ];

    /// The name in files and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CongestionKind::Reno => "reno",
            CongestionKind::Cubic => "cubic",
            CongestionKind::Bbr1 => "bbr1",
            CongestionKind::Bbr3 => "bbr3",
        }
    }
}

impl std::fmt::Display for CongestionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no congestion control of this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("no congestion control is called `{0}`: there are reno, cubic, bbr1, bbr3")]
pub struct UnknownCongestion(String);

impl std::str::FromStr for CongestionKind {
    type Err = UnknownCongestion;
    fn from_str(s: &str) -> Result<CongestionKind, UnknownCongestion> {
        let found = CongestionKind::ALL.into_iter().find(|k| k.name() == s);
        found.ok_or_else(|| UnknownCongestion(s.to_owned()))
    }
}
