//! Capacity of the links.

use weft_experiment::Setup;
use weft_links::{
    Capacity, GeneratedRates, LinkSpec, MediumSpec, Schedule, ServiceTime, StationId,
};
use weft_units::{Duration, Instant, Rate, Rng};

/// Capacity over a whole run, by link and station, if it is known beforehand. It is
/// unknown if stations share a medium.
#[derive(Clone, Debug)]
pub struct Capacities(Vec<Vec<Option<Known>>>);

#[derive(Clone, Debug)]
enum Known {
    Constant(Rate),
    Steps(Schedule),
}

impl Capacities {
    /// Returns the capacities of a setup. Generated traces must have their own seeds.
    #[must_use]
    pub fn of(setup: &Setup) -> Capacities {
        let known = |spec: &LinkSpec| Known::of(&spec.capacity, setup.duration);
        let stations = |medium: &MediumSpec| {
            let stations = medium.stations();
            stations.map(|id| medium.link(id).map(known)).collect()
        };
        Capacities(setup.links.iter().map(|l| stations(&l.medium)).collect())
    }

    /// Returns the bits that the station could have sent over the link within the window;
    /// `None` if this is unknown beforehand.
    #[must_use]
    pub fn bits(
        &self,
        link: usize,
        station: StationId,
        window: (Duration, Duration),
    ) -> Option<f64> {
        let mut at = Instant::ZERO + window.0;
        let end = Instant::ZERO + window.1;
        let mut bits = 0.0;
        while at < end {
            let (rate, next) = self.at(link, station, at)?;
            let until = next.unwrap_or(end).min(end);
            bits += rate.as_bps() as f64 * until.saturating_since(at).as_secs_f64();
            at = until;
        }
        Some(bits)
    }

    /// Returns the rate at this time, and the time of its next change; `None` if it is
    /// unknown beforehand.
    #[must_use]
    pub fn at(
        &self,
        link: usize,
        station: StationId,
        at: Instant,
    ) -> Option<(Rate, Option<Instant>)> {
        match self.0[link].get(usize::from(station.0))?.as_ref()? {
            Known::Constant(rate) => Some((*rate, None)),
            Known::Steps(schedule) => {
                let (rate, next) = schedule.at(at);
                Some((rate, next.map(|(at, _)| at)))
            }
        }
    }
}

/// Returns the time for which a station used its medium, as a share of the time for which
/// it could have used it; `None` if it never could.
#[must_use]
pub fn share_used(service: &ServiceTime) -> Option<f64> {
    let could = service.used + service.idle;
    (could > Duration::ZERO).then(|| service.used.as_secs_f64() / could.as_secs_f64())
}

impl Known {
    fn of(capacity: &Capacity, duration: Duration) -> Known {
        match capacity {
            Capacity::Constant(rate) => Known::Constant(*rate),
            Capacity::Schedule(schedule) => Known::Steps(schedule.clone()),
            Capacity::Trace(trace) => Known::Steps(trace.schedule().clone()),
            Capacity::Generated(generated) => {
                // The generator is unused, because the trace has its own seed.
                let rates = generated.rates(&Rng::new(0));
                let slots = duration.as_nanos() / GeneratedRates::SLOT.as_nanos() + 1;
                let at = |slot| GeneratedRates::SLOT * slot;
                let steps = (0..slots).zip(rates).map(|(slot, rate)| (at(slot), rate));
                let drawn = Schedule::new(steps.collect());
                drawn.map_or(Known::Constant(generated.typical()), Known::Steps)
            }
        }
    }
}

/// Returns the setup for this seed. Generated traces without seeds get seeds that depend
/// on the run's seed, the link's name and the direction; the component shared by links at
/// one place depends on the place.
#[must_use]
pub fn seeded(mut setup: Setup, seed: u64) -> Setup {
    let rng = Rng::new(seed).stream("traces");
    for link in &mut setup.links {
        let own = rng.stream(&link.name);
        let place = link
            .place
            .as_ref()
            .map(|name| rng.stream("place").stream(name));
        link.medium
            .seed_traces(&own, place.as_ref().unwrap_or(&own));
    }
    setup
}

#[cfg(test)]
mod tests;
