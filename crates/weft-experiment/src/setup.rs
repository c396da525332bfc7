//! What a run consists of: links, and flows over them.

use weft_links::{LinkSpec, MediumSpec, StationId, TrafficClass, WiredDirection};
use weft_session::Policy;
use weft_units::{Duration, Rate};

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

/// A link: a medium with a name, on which stations send to each other.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSetup {
    /// Unique among the links of the run.
    pub name: String,
    /// What carries its packets.
    pub medium: MediumSpec,
    /// What results call that which each of its stations sends, in the
    /// medium's order.
    pub stations: Vec<String>,
    /// Where it is: the generated traces of links at one place have in common
    /// what the two directions of each have. None: with no other link.
    pub place: Option<String>,
}

/// One link of a route, and the stations between which the source's packets
/// cross it. What comes back crosses it from the second to the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Position in [`Setup::links`].
    pub link: usize,
    /// The station that sends the source's packets.
    pub from: StationId,
    /// The one that they are for.
    pub to: StationId,
}

/// The way from a flow's source to its sink; back it is the same in reverse.
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    /// The links in the order of the source's packets; at least one.
    pub hops: Vec<Hop>,
    /// One-way delay between the source and the first hop, each way: an access
    /// link without queue, loss and limit of rate. Default zero.
    pub access_delay: Duration,
    /// How much that delay varies from packet to packet, as a standard deviation;
    /// they keep their order. Gaussian, cut off at three deviations and at no
    /// delay at all: with an access delay of zero every other packet has none.
    /// Default zero.
    pub access_jitter: Duration,
    /// How the caller of a call may use it beside its other routes. Default: as
    /// it comes.
    pub policy: Policy,
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
    /// What it takes where nobody competes, if that is known without a run of it
    /// alone: what harm is measured from.
    pub demand: Option<Rate>,
    /// A call takes one route for each path; every other flow has one.
    pub routes: Vec<Route>,
    /// How urgent its packets are, both ways, to media that keep classes apart.
    pub class: TrafficClass,
    /// What runs between source and sink, with its own set-up.
    pub kind: FlowKind,
}

/// RFC 8868 section 3: rates in windows of 200 ms.
const DEFAULT_SAMPLE: Duration = Duration::from_millis(200);

impl Setup {
    /// What files call the link that is crossed at this hop: a wired one has
    /// one name, and of a cell it is the station's.
    ///
    /// # Panics
    /// When there is no such link or station.
    #[must_use]
    pub fn link_name(&self, hop: &Hop) -> &str {
        // The access point comes last, and of two the first has the link's
        // name.
        self.links[hop.link].station(hop.from.min(hop.to))
    }

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

    /// The beginning of the first period that is measured as a whole.
    #[must_use]
    pub fn first_measured_period(&self) -> Duration {
        let period = self.sample_every;
        let before = self.measure_from.as_nanos();
        period * before.div_ceil(period.as_nanos().max(1))
    }
}

impl LinkSetup {
    /// A pair of links, one from left to right and one from right to left.
    #[must_use]
    pub fn wired(name: &str, forward: LinkSpec, backward: LinkSpec) -> LinkSetup {
        LinkSetup {
            name: name.to_owned(),
            medium: MediumSpec::wired(forward, backward),
            stations: LinkSetup::there_and_back(name),
            place: None,
        }
    }

    /// The names of two stations: what the first one sends is called as the
    /// link is, what comes back says so.
    #[must_use]
    pub fn there_and_back(name: &str) -> Vec<String> {
        vec![name.to_owned(), format!("{name}-back")]
    }

    /// What results call that which the station sends.
    ///
    /// # Panics
    /// When the link has no such station.
    #[must_use]
    pub fn station(&self, station: StationId) -> &str {
        &self.stations[usize::from(station.0)]
    }

    /// A pair that is the same in both directions.
    #[must_use]
    pub fn symmetric(name: &str, spec: &LinkSpec) -> LinkSetup {
        LinkSetup::wired(name, spec.clone(), spec.clone())
    }
}

impl Hop {
    /// Over a wired link in this direction.
    #[must_use]
    pub const fn wired(link: usize, direction: WiredDirection) -> Hop {
        Hop {
            link,
            from: direction.station(),
            to: direction.reversed().station(),
        }
    }

    /// The same way back.
    #[must_use]
    pub const fn reversed(self) -> Hop {
        Hop {
            link: self.link,
            from: self.to,
            to: self.from,
        }
    }
}

impl Route {
    /// Over these wired links from left to right, without access delay.
    #[must_use]
    pub fn forward(links: &[usize]) -> Route {
        Route::wired(links, WiredDirection::Forward)
    }

    /// Over these wired links from right to left, the first one named first.
    #[must_use]
    pub fn backward(links: &[usize]) -> Route {
        Route::wired(links, WiredDirection::Backward)
    }

    fn wired(links: &[usize], direction: WiredDirection) -> Route {
        let hops = links.iter().map(|&link| Hop::wired(link, direction));
        Route {
            hops: hops.collect(),
            access_delay: Duration::ZERO,
            access_jitter: Duration::ZERO,
            policy: Policy::default(),
        }
    }

    /// The same with an access delay.
    #[must_use]
    pub fn with_access(self, access_delay: Duration) -> Route {
        Route {
            access_delay,
            ..self
        }
    }

    /// The same with jitter of the access delay.
    #[must_use]
    pub fn with_access_jitter(self, access_jitter: Duration) -> Route {
        Route {
            access_jitter,
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
            demand: None,
            routes: vec![route],
            class: TrafficClass::default(),
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
            demand: None,
            routes,
            class: TrafficClass::default(),
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
