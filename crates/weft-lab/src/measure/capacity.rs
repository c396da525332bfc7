//! What the links could have carried.

use weft_experiment::{Direction, Setup};
use weft_links::{Capacity, GeneratedRates, LinkSpec, Schedule};
use weft_units::{Duration, Instant, Rate, Rng};

/// The capacity of every link in both directions over a whole run.
#[derive(Clone, Debug)]
pub struct Capacities(Vec<[Known; 2]>);

#[derive(Clone, Debug)]
enum Known {
    Constant(Rate),
    Steps(Schedule),
}

impl Capacities {
    /// Those of a setup. Generated ones must have a seed of their own.
    #[must_use]
    pub fn of(setup: &Setup) -> Capacities {
        let known = |spec: &LinkSpec| Known::of(&spec.capacity, setup.duration);
        let links = setup.links.iter();
        Capacities(
            links
                .map(|link| [known(&link.forward), known(&link.backward)])
                .collect(),
        )
    }

    /// Bits that the link could have carried within the window.
    #[must_use]
    pub fn bits(&self, link: usize, direction: Direction, window: (Duration, Duration)) -> f64 {
        let mut at = Instant::ZERO + window.0;
        let end = Instant::ZERO + window.1;
        let mut bits = 0.0;
        while at < end {
            let (rate, next) = self.at(link, direction, at);
            let until = next.unwrap_or(end).min(end);
            bits += rate.as_bps() as f64 * until.saturating_since(at).as_secs_f64();
            at = until;
        }
        bits
    }

    /// The rate at this time, and when it changes next.
    #[must_use]
    pub fn at(&self, link: usize, direction: Direction, at: Instant) -> (Rate, Option<Instant>) {
        let [forward, backward] = &self.0[link];
        let known = match direction {
            Direction::Forward => forward,
            Direction::Backward => backward,
        };
        match known {
            Known::Constant(rate) => (*rate, None),
            Known::Steps(schedule) => {
                let (rate, next) = schedule.at(at);
                (rate, next.map(|(at, _)| at))
            }
        }
    }
}

impl Known {
    fn of(capacity: &Capacity, duration: Duration) -> Known {
        match capacity {
            Capacity::Constant(rate) => Known::Constant(*rate),
            Capacity::Schedule(schedule) => Known::Steps(schedule.clone()),
            Capacity::Trace(trace) => Known::Steps(trace.schedule().clone()),
            Capacity::Generated(generated) => {
                // The generator is not asked: the seed is the trace's own.
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

/// The setup for this seed: generated traces without a seed get one each,
/// which depends on the run's seed, the link's name and the direction.
#[must_use]
pub fn seeded(mut setup: Setup, seed: u64) -> Setup {
    let rng = Rng::new(seed).stream("traces");
    for link in &mut setup.links {
        let rng = rng.stream(&link.name);
        for (spec, way) in [
            (&mut link.forward, "forward"),
            (&mut link.backward, "backward"),
        ] {
            if let Capacity::Generated(generated) = &mut spec.capacity {
                generated
                    .seed
                    .get_or_insert_with(|| rng.stream(way).next_u64());
            }
        }
    }
    setup
}
