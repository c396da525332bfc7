//! Setup of a run: links, and flows over them.

use weft_links::{LinkSpec, MediumSpec, StationId, TrafficClass, WiredDirection};
use weft_session::Policy;
use weft_units::{Duration, Rate};

use crate::traffic::{CallSetup, FlowKind, Traffic};

mod check;

pub use check::SetupError;

/// Setup of one run for any engine. [`Setup::check`] reports the first error in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Setup {
    /// Length of the run.
    pub duration: Duration,
    /// Start of the measurement. Periods that begin earlier appear only in the time
    /// series, not in the run's distributions. Default zero.
    pub measure_from: Duration,
    /// Period of every time series. RFC 8868 section 3 computes its metrics from rates
    /// per 200 ms.
    pub sample_every: Duration,
    /// Links; routes refer to them by their position.
    pub links: Vec<LinkSetup>,
    /// Flows. Their order only breaks ties of time.
    pub flows: Vec<FlowSetup>,
}

/// Link: a medium with a name, on which stations send to each other.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSetup {
    /// Unique among the links of the run.
    pub name: String,
    /// Medium that carries its packets.
    pub medium: MediumSpec,
    /// Names in results of the traffic sent by each station, in the medium's order.
    pub stations: Vec<String>,
    /// Location of the link. Generated traces of links at one place share the component
    /// that the two directions of a link share. `None` if it is shared with no other
    /// link.
    pub place: Option<String>,
}

/// One link of a route, and the two stations between which the source's packets cross it.
/// Packets back to the source cross it in the opposite direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hop {
    /// Position in [`Setup::links`].
    pub link: usize,
    /// Station that sends the source's packets.
    pub from: StationId,
    /// Station that receives them.
    pub to: StationId,
}

/// Path from a flow's source to its sink; the return path is its reverse.
#[derive(Clone, PartialEq, Debug)]
pub struct Route {
    /// Links in the order of the source's packets; at least one.
    pub hops: Vec<Hop>,
    /// One-way delay between the source and the first hop in each direction: an access
    /// link without queue, loss or rate limit. Default zero.
    pub access_delay: Duration,
    /// Standard deviation of that delay from packet to packet; packets stay in order.
    /// Gaussian, truncated at three deviations and at zero. With an access delay of zero,
    /// half of the packets have no delay. Default zero.
    pub access_jitter: Duration,
    /// Policy for using this route together with the call's other routes. Default: no
    /// restriction.
    pub policy: Policy,
}

/// Flow: a source, a sink, and the traffic between them.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSetup {
    /// Unique among the flows of the run. Randomness of the flow depends only on the seed
    /// and this name.
    pub name: String,
    /// Time at which it starts, from the start of the run.
    pub start: Duration,
    /// Time at which its source stops sending new data, from the start of the run; `None`
    /// for the end of the run.
    pub stop: Option<Duration>,
    /// Rate of the flow without competition, if it is known without running the flow
    /// alone. Harm is measured against it.
    pub demand: Option<Rate>,
    /// Routes: one for each path of a call, and a single one for every other flow.
    pub routes: Vec<Route>,
    /// Priority class of its packets in both directions, for media that separate classes.
    pub class: TrafficClass,
    /// Kind of traffic between source and sink, with its own setup.
    pub kind: FlowKind,
}

/// RFC 8868 section 3: rates in windows of 200 ms.
const DEFAULT_SAMPLE: Duration = Duration::from_millis(200);

impl Setup {
    /// Returns the name in files of the link crossed at this hop: the link's name for a
    /// wired link, the station's name for a cell.
    ///
    /// # Panics
    /// If there is no such link or station.
    #[must_use]
    pub fn link_name(&self, hop: &Hop) -> &str {
        // The access point comes last in a cell. The first station of a wired link has
        // the link's name.
        self.links[hop.link].station(hop.from.min(hop.to))
    }

    /// Creates a run of this length without links and flows, sampled every 200 ms.
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

    /// Whether the link belongs to one person in a group of several. Results do not name
    /// such links, because there may be hundreds.
    #[must_use]
    pub fn is_personal(&self, link: usize) -> bool {
        self.flows.iter().any(|flow| {
            let is_group = matches!(&flow.kind, FlowKind::Conference(group) if group.people > 1);
            let mut hops = flow.routes.iter().flat_map(|route| &route.hops);
            is_group && hops.any(|hop| hop.link == link)
        })
    }

    /// Returns the start of the first period that is measured as a whole.
    #[must_use]
    pub fn first_measured_period(&self) -> Duration {
        let period = self.sample_every;
        let before = self.measure_from.as_nanos();
        period * before.div_ceil(period.as_nanos().max(1))
    }
}

impl LinkSetup {
    /// Creates a pair of links, one from left to right and one from right to left.
    #[must_use]
    pub fn wired(name: &str, forward: LinkSpec, backward: LinkSpec) -> LinkSetup {
        LinkSetup {
            name: name.to_owned(),
            medium: MediumSpec::wired(forward, backward),
            stations: LinkSetup::there_and_back(name),
            place: None,
        }
    }

    /// Returns the names of two stations: the first has the link's name, the second has
    /// `-back` appended.
    #[must_use]
    pub fn there_and_back(name: &str) -> Vec<String> {
        vec![name.to_owned(), format!("{name}-back")]
    }

    /// Returns the name in results of the traffic sent by this station.
    ///
    /// # Panics
    /// If the link has no such station.
    #[must_use]
    pub fn station(&self, station: StationId) -> &str {
        &self.stations[usize::from(station.0)]
    }

    /// Creates a pair of links with equal directions.
    #[must_use]
    pub fn symmetric(name: &str, spec: &LinkSpec) -> LinkSetup {
        LinkSetup::wired(name, spec.clone(), spec.clone())
    }
}

impl Hop {
    /// Creates a hop over a wired link in this direction.
    #[must_use]
    pub const fn wired(link: usize, direction: WiredDirection) -> Hop {
        Hop {
            link,
            from: direction.station(),
            to: direction.reversed().station(),
        }
    }

    /// Returns the hop in the opposite direction.
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
    /// Creates a route over these wired links from left to right, without access delay.
    #[must_use]
    pub fn forward(links: &[usize]) -> Route {
        Route::wired(links, WiredDirection::Forward)
    }

    /// Creates a route over these wired links from right to left, in the order given.
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

    /// Sets the access delay.
    #[must_use]
    pub fn with_access(self, access_delay: Duration) -> Route {
        Route {
            access_delay,
            ..self
        }
    }

    /// Sets the jitter of the access delay.
    #[must_use]
    pub fn with_access_jitter(self, access_jitter: Duration) -> Route {
        Route {
            access_jitter,
            ..self
        }
    }
}

impl FlowSetup {
    /// Creates a flow over one route for the whole run.
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

    /// Returns the common interface of the flow's kind.
    #[must_use]
    pub fn traffic(&self) -> &dyn Traffic {
        self.kind.traffic()
    }

    /// Returns the time at which it stops in a run that ends at `end`.
    #[must_use]
    pub fn stops_at(&self, end: Duration) -> Duration {
        self.stop.unwrap_or(end).min(end)
    }

    /// Creates a call over these routes for the whole run.
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

    /// Sets the start and the stop, counted from the beginning of the run.
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
