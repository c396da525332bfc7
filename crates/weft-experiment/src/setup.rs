//! What a run consists of: links, and flows over them.

use weft_links::{LinkSpec, MediumSpec};
use weft_units::Duration;

use crate::traffic::{CallSetup, FlowKind, Traffic};

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

    /// What it carries, to be asked what it has.
    #[must_use]
    pub fn traffic(&self) -> &dyn Traffic {
        self.kind.traffic()
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
