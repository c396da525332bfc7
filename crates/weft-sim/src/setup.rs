//! What a run consists of: links, and flows over them.

use std::collections::BTreeSet;

use weft_links::LinkSpec;
use weft_units::{Bytes, Duration, Rate};

use crate::call::CallSetup;

/// One run of the simulator. [`Setup::check`] says what is wrong with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// How long the run lasts in virtual time.
    pub duration: Duration,
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

/// A setup that cannot be run; the message names the place and the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// A time that must be positive is not.
    #[error("{place} is zero: give a time above zero")]
    Zero {
        /// The field.
        place: &'static str,
    },
    /// A time beyond what the clock and memory are made for.
    #[error("{place} is {time:?}: give at most {most:?}")]
    TooLong {
        /// The field.
        place: &'static str,
        /// What it is.
        time: Duration,
        /// What it may be.
        most: Duration,
    },
    /// Time series of more samples than memory is made for.
    #[error("a sample every {period:?} makes {samples} samples: give a longer period")]
    TooManySamples {
        /// The period.
        period: Duration,
        /// How many it makes.
        samples: u64,
    },
    /// Two links or flows have one name.
    #[error("two {place} are called '{name}': rename one")]
    Repeated {
        /// Links or flows.
        place: &'static str,
        /// The name.
        name: String,
    },
    /// A route that leads nowhere.
    #[error("flow '{flow}' takes link {link}, and there are {links}, counted from 0")]
    UnknownLink {
        /// The flow.
        flow: String,
        /// What was asked for.
        link: usize,
        /// How many there are.
        links: usize,
    },
    /// A route without links, or with too many.
    #[error("a route of flow '{flow}' has {links} links: give 1 to 100")]
    RouteLength {
        /// The flow.
        flow: String,
        /// How many it has.
        links: usize,
    },
    /// A number of routes that does not fit the kind of flow.
    #[error("flow '{flow}' has {routes} routes, and its kind takes {wanted}")]
    Routes {
        /// The flow.
        flow: String,
        /// How many it has.
        routes: usize,
        /// What it should have.
        wanted: &'static str,
    },
    /// A flow that never runs.
    #[error("flow '{flow}' starts at {start:?} and ends at {end:?}: it must start earlier")]
    NeverRuns {
        /// The flow.
        flow: String,
        /// Its start.
        start: Duration,
        /// Its stop, or the end of the run.
        end: Duration,
    },
    /// A value of the flow's kind that has no meaning.
    #[error("flow '{flow}': {what}")]
    BadFlow {
        /// The flow.
        flow: String,
        /// What is wrong and what would be right.
        what: &'static str,
    },
}

/// RFC 8868 section 3: rates in windows of 200 ms.
const DEFAULT_SAMPLE: Duration = Duration::from_millis(200);

/// Bounds on what is taken for meant; chosen by us: arithmetic on the clock
/// stays far from its range, and the series of a link within 100 MB.
const LONGEST_RUN: Duration = Duration::from_secs(366 * 86_400);
const LONGEST_DELAY: Duration = Duration::from_secs(3_600);
const MOST_SAMPLES: u64 = 1_000_000;
const MOST_HOPS: usize = 100;
/// Path identifiers of a call; chosen by us, with room to spare.
const MOST_PATHS: usize = 15;

impl Setup {
    /// A run of this length without links and flows, sampled every 200 ms.
    #[must_use]
    pub fn new(duration: Duration) -> Setup {
        Setup {
            duration,
            sample_every: DEFAULT_SAMPLE,
            links: Vec::new(),
            flows: Vec::new(),
        }
    }

    /// Whether the setup can be run.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), SetupError> {
        for (time, place) in [
            (self.duration, "the duration of the run"),
            (self.sample_every, "the sample period"),
        ] {
            if time == Duration::ZERO {
                return Err(SetupError::Zero { place });
            }
        }
        at_most("the duration of the run", self.duration, LONGEST_RUN)?;
        let (period, samples) = (
            self.sample_every,
            self.duration.as_nanos() / self.sample_every.as_nanos(),
        );
        if samples > MOST_SAMPLES {
            return Err(SetupError::TooManySamples { period, samples });
        }
        unique("links", self.links.iter().map(|l| &l.name))?;
        unique("flows", self.flows.iter().map(|f| &f.name))?;
        self.flows.iter().try_for_each(|f| self.check_flow(f))
    }

    fn check_flow(&self, flow: &FlowSetup) -> Result<(), SetupError> {
        let name = || flow.name.clone();
        for route in &flow.routes {
            let links = route.hops.len();
            if !(1..=MOST_HOPS).contains(&links) {
                let flow = name();
                return Err(SetupError::RouteLength { flow, links });
            }
            at_most("an access delay", route.access_delay, LONGEST_DELAY)?;
            let links = self.links.len();
            if let Some(hop) = route.hops.iter().find(|h| h.link >= links) {
                let (flow, link) = (name(), hop.link);
                return Err(SetupError::UnknownLink { flow, link, links });
            }
        }
        let end = flow.stop.unwrap_or(self.duration).min(self.duration);
        if flow.start >= end {
            let (flow, start) = (name(), flow.start);
            return Err(SetupError::NeverRuns { flow, start, end });
        }
        let wrong = match &flow.kind {
            FlowKind::Tcp(tcp) => tcp.wrong(),
            FlowKind::Udp(udp) => udp.wrong(),
            FlowKind::Call(call) => call.wrong(),
        };
        if let Some(what) = wrong {
            return Err(SetupError::BadFlow { flow: name(), what });
        }
        let routes = flow.routes.len();
        let (allowed, wanted) = match flow.kind {
            FlowKind::Call(_) => (1..=MOST_PATHS, "1 to 15"),
            FlowKind::Tcp(_) | FlowKind::Udp(_) => (1..=1, "one"),
        };
        if !allowed.contains(&routes) {
            let flow = name();
            return Err(SetupError::Routes {
                flow,
                routes,
                wanted,
            });
        }
        Ok(())
    }
}

fn at_most(place: &'static str, time: Duration, most: Duration) -> Result<(), SetupError> {
    if time > most {
        return Err(SetupError::TooLong { place, time, most });
    }
    Ok(())
}

fn unique<'a>(
    place: &'static str,
    names: impl Iterator<Item = &'a String>,
) -> Result<(), SetupError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            let name = name.clone();
            return Err(SetupError::Repeated { place, name });
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests;
