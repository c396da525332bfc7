//! Validation of setups.

use std::collections::BTreeSet;

use weft_units::Duration;

use super::{FlowSetup, Hop, Setup};

mod servers;

/// Error: a setup cannot be run; the message gives the place and the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// A time that must be positive is zero.
    #[error("{place} is zero: give a time above zero")]
    Zero {
        /// Field of the setup, as in its type.
        place: &'static str,
    },
    /// A time that exceeds the limits of the clock and of memory.
    #[error("{place} is {time:?}: give at most {most:?}")]
    TooLong {
        /// Field of the setup, as in its type.
        place: &'static str,
        /// Given time.
        time: Duration,
        /// Maximum time.
        most: Duration,
    },
    /// Time series with too many samples for memory.
    #[error("a sample every {period:?} makes {samples} samples: give a longer period")]
    TooManySamples {
        /// Period of the time series, as given.
        period: Duration,
        /// Number of samples.
        samples: u64,
    },
    /// Two links or flows have the same name.
    #[error("two {place} are called '{name}': rename one")]
    Repeated {
        /// Links or flows.
        place: &'static str,
        /// Name that both have.
        name: String,
    },
    /// A route over a link that does not exist.
    #[error("flow '{flow}' uses link {link}, but the setup has {links}, counted from 0")]
    UnknownLink {
        /// Name in the setup.
        flow: String,
        /// Link that the route names.
        link: usize,
        /// Number of links.
        links: usize,
    },
    /// A hop from a station to itself, or over a station that the link does not have.
    #[error(
        "flow '{flow}' crosses link '{link}' from station {from} to station {to}: give two of its {stations} stations, counted from 0"
    )]
    Stations {
        /// Name in the setup.
        flow: String,
        /// Name of the link in the setup.
        link: String,
        /// Sending station.
        from: u16,
        /// Receiving station.
        to: u16,
        /// Number of stations.
        stations: u16,
    },
    /// A route without links, or with too many.
    #[error("a route of flow '{flow}' has {links} links: give 1 to 100")]
    RouteLength {
        /// Name in the setup.
        flow: String,
        /// Number of links in the route.
        links: usize,
    },
    /// The number of routes does not fit the kind of flow.
    #[error("flow '{flow}' has {routes} routes: give its kind {wanted}")]
    Routes {
        /// Name in the setup.
        flow: String,
        /// Number of routes.
        routes: usize,
        /// Number of routes that the kind accepts.
        wanted: &'static str,
    },
    /// A flow that never runs.
    #[error("flow '{flow}' starts at {start:?} and ends at {end:?}: it must start earlier")]
    NeverRuns {
        /// Name in the setup.
        flow: String,
        /// Start, from the start of the run.
        start: Duration,
        /// Its stop, or the end of the run.
        end: Duration,
    },
    /// Servers of a conference are not connected, have no people, or several allocators.
    #[error("flow '{flow}': {what}")]
    Servers {
        /// Name in the setup.
        flow: String,
        /// Error with its remedy.
        what: String,
    },
    /// A value of the flow's kind is out of range.
    #[error("flow '{flow}': {what}")]
    BadFlow {
        /// Name in the setup.
        flow: String,
        /// Error with its remedy.
        what: &'static str,
    },
}

/// Bounds on plausible setups; chosen by us so that clock arithmetic stays far from
/// overflow, and the series of a link stay below 100 MB.
const LONGEST_RUN: Duration = Duration::from_secs(366 * 86_400);
const LONGEST_DELAY: Duration = Duration::from_secs(3_600);
const MOST_SAMPLES: u64 = 1_000_000;
const MOST_HOPS: usize = 100;

impl Setup {
    /// Checks that the setup can be run.
    ///
    /// # Errors
    /// The first error found.
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
        self.flows.iter().try_for_each(|f| self.check_flow(f))?;
        servers::check(&self.flows)
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
            at_most(
                "jitter of an access delay",
                route.access_jitter,
                LONGEST_DELAY,
            )?;
            let links = self.links.len();
            if let Some(hop) = route.hops.iter().find(|h| h.link >= links) {
                let (flow, link) = (name(), hop.link);
                return Err(SetupError::UnknownLink { flow, link, links });
            }
            route
                .hops
                .iter()
                .try_for_each(|hop| self.check_hop(flow, hop))?;
        }
        let end = flow.stops_at(self.duration);
        if flow.start >= end {
            let (flow, start) = (name(), flow.start);
            return Err(SetupError::NeverRuns { flow, start, end });
        }
        let wrong = flow.traffic().wrong();
        if let Some(what) = wrong {
            return Err(SetupError::BadFlow { flow: name(), what });
        }
        let routes = flow.routes.len();
        let (allowed, wanted) = flow.traffic().routes();
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

    fn check_hop(&self, flow: &FlowSetup, hop: &Hop) -> Result<(), SetupError> {
        let link = &self.links[hop.link];
        let stations = link.medium.station_count();
        if hop.from == hop.to || hop.from.0.max(hop.to.0) >= stations {
            return Err(SetupError::Stations {
                flow: flow.name.clone(),
                link: link.name.clone(),
                from: hop.from.0,
                to: hop.to.0,
                stations,
            });
        }
        if !flow.traffic().has_packets() && link.medium.link(hop.from).is_none() {
            let what = "the floor is computed from the capacity of each link, which is unknown where \
                        stations share a medium: use a wired link";
            let flow = flow.name.clone();
            return Err(SetupError::BadFlow { flow, what });
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

#[cfg(test)]
mod tests;
