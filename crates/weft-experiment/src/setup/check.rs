//! Which setups can be run.

use std::collections::BTreeSet;

use weft_units::Duration;

use super::{FlowSetup, Hop, Setup};

/// A setup that cannot be run; the message names the place and the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// A time that must be positive is not.
    #[error("{place} is zero: give a time above zero")]
    Zero {
        /// The field of the set-up, as in its type.
        place: &'static str,
    },
    /// A time beyond what the clock and memory are made for.
    #[error("{place} is {time:?}: give at most {most:?}")]
    TooLong {
        /// The field of the set-up, as in its type.
        place: &'static str,
        /// The time that was given.
        time: Duration,
        /// What it may be.
        most: Duration,
    },
    /// Time series of more samples than memory is made for.
    #[error("a sample every {period:?} makes {samples} samples: give a longer period")]
    TooManySamples {
        /// That of the time series, as given.
        period: Duration,
        /// How many it makes.
        samples: u64,
    },
    /// Two links or flows have one name.
    #[error("two {place} are called '{name}': rename one")]
    Repeated {
        /// Links or flows.
        place: &'static str,
        /// What both are called.
        name: String,
    },
    /// A route that leads nowhere.
    #[error("flow '{flow}' takes link {link}, and there are {links}, counted from 0")]
    UnknownLink {
        /// What the set-up calls it.
        flow: String,
        /// What was asked for.
        link: usize,
        /// How many there are.
        links: usize,
    },
    /// A hop between stations that its link does not have, or to the sender.
    #[error(
        "flow '{flow}' crosses link '{link}' from station {from} to station {to}: give two of its {stations} stations, counted from 0"
    )]
    Stations {
        /// What the set-up calls it.
        flow: String,
        /// What the set-up calls the link.
        link: String,
        /// Who would send.
        from: u16,
        /// Who would receive.
        to: u16,
        /// How many there are.
        stations: u16,
    },
    /// A route without links, or with too many.
    #[error("a route of flow '{flow}' has {links} links: give 1 to 100")]
    RouteLength {
        /// What the set-up calls it.
        flow: String,
        /// How many it has.
        links: usize,
    },
    /// A number of routes that does not fit the kind of flow.
    #[error("flow '{flow}' has {routes} routes, and its kind takes {wanted}")]
    Routes {
        /// What the set-up calls it.
        flow: String,
        /// How many it has.
        routes: usize,
        /// What it should have.
        wanted: &'static str,
    },
    /// A flow that never runs.
    #[error("flow '{flow}' starts at {start:?} and ends at {end:?}: it must start earlier")]
    NeverRuns {
        /// What the set-up calls it.
        flow: String,
        /// From the beginning of the run.
        start: Duration,
        /// Its stop, or the end of the run.
        end: Duration,
    },
    /// A value of the flow's kind that has no meaning.
    #[error("flow '{flow}': {what}")]
    BadFlow {
        /// What the set-up calls it.
        flow: String,
        /// What is wrong and what would be right.
        what: &'static str,
    },
}

/// Bounds on what is taken for meant; chosen by us: arithmetic on the clock
/// stays far from its range, and the series of a link within 100 MB.
const LONGEST_RUN: Duration = Duration::from_secs(366 * 86_400);
const LONGEST_DELAY: Duration = Duration::from_secs(3_600);
const MOST_SAMPLES: u64 = 1_000_000;
const MOST_HOPS: usize = 100;

impl Setup {
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
            let what = "it is computed from what links can carry, which nobody knows where \
                        stations share a medium: take a wired one";
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
