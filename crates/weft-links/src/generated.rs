//! Capacity of wireless links as a random process, for runs without measured
//! traces. `docs/models/links.md` compares its statistics with measured ones.

mod conditions;
mod process;
mod profile;

use std::fmt;
use std::str::FromStr;
use weft_units::{Duration, Rate, Rng};

pub use conditions::{DirectionCorrelation, Motion, Network, Scale};
use process::Process;

/// Capacity of a type of wireless link under a type of motion, drawn from the
/// seed. It never ends and never repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generated {
    /// Motion of the device.
    pub motion: Motion,
    /// Network that the device uses.
    pub network: Network,
    /// Correlation of the two directions of a link.
    pub ways: DirectionCorrelation,
    /// Scaling of the profile of motion and network.
    pub scale: Scale,
    /// Fixed seeds, the same in every run; without them the link's generator
    /// provides seeds.
    pub seeds: Option<Seeds>,
}

/// Seeds for the capacity of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seeds {
    /// Seed of the part that both directions share.
    pub both: u64,
    /// Seed of the part of this direction alone.
    pub own: u64,
}

/// Capacity of one link over time, without end: the mean over each
/// [`GeneratedRates::SLOT`].
#[derive(Clone, Debug)]
pub struct GeneratedRates {
    process: Process,
}

/// Error for a text that is not a generated trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "'{text}' is no generated trace: write generated:MOTION/NETWORK with stationary, walking or \
     driving and wifi, lte or lte2, for example generated:walking/lte; where both ways are to be \
     alike, or have nothing in common, generated:walking/lte/together or /apart; with half the \
     capacity or fades, handovers and outages twice as long (1 to 1000 %) \
     generated:walking/lte/rate=50% or /dips=200%; with a seed generated:walking/lte/7"
)]
pub struct GeneratedError {
    text: String,
}

impl Generated {
    /// Prefix of the text form.
    pub const PREFIX: &'static str = "generated:";

    /// Returns the capacity from its own seeds, or from this generator if it has none.
    #[must_use]
    pub fn rates(&self, rng: &Rng) -> GeneratedRates {
        let seeded = |seed: Option<u64>| seed.map_or_else(|| rng.clone(), Rng::new);
        let both = seeded(self.seeds.map(|seeds| seeds.both)).stream("both ways");
        let own = seeded(self.seeds.map(|seeds| seeds.own)).stream("trace");
        let profile = profile::of(self.motion, self.network);
        GeneratedRates {
            process: Process::new(
                profile,
                self.scale,
                profile.common.overridden(self.ways),
                [&both, &own],
            ),
        }
    }

    /// Fills in missing seeds: `link` is the generator of both directions. `place` is the
    /// generator of all links that share their common part, or `link` again.
    pub fn seed_by(&mut self, link: &Rng, place: &Rng, direction: &str) {
        self.seeds.get_or_insert_with(|| Seeds {
            both: place.stream("both ways").next_u64(),
            own: link.stream(direction).next_u64(),
        });
    }

    /// Returns the mean capacity in good coverage.
    #[must_use]
    pub fn typical(&self) -> Rate {
        let typical = profile::of(self.motion, self.network).typical;
        typical.mul_f64(Scale::factor(self.scale.rate))
    }
}

impl GeneratedRates {
    /// Time for which a rate applies.
    pub const SLOT: Duration = process::SLOT;
}

impl Iterator for GeneratedRates {
    type Item = Rate;

    fn next(&mut self) -> Option<Rate> {
        Some(self.process.next_slot())
    }
}

impl fmt::Display for Generated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (motion, network) = (self.motion.name(), self.network.name());
        write!(f, "{}{motion}/{network}", Generated::PREFIX)?;
        if let Some((_, word)) = DirectionCorrelation::NAMED
            .iter()
            .find(|(ways, _)| *ways == self.ways)
        {
            write!(f, "/{word}")?;
        }
        let (scale, profile) = (self.scale, Scale::PROFILE);
        if scale.rate != profile.rate {
            write!(f, "/rate={}%", scale.rate)?;
        }
        if scale.dips != profile.dips {
            write!(f, "/dips={}%", scale.dips)?;
        }
        match self.seeds {
            Some(seeds) => write!(f, "/{}", seeds.both),
            None => Ok(()),
        }
    }
}

impl FromStr for Generated {
    type Err = GeneratedError;

    fn from_str(text: &str) -> Result<Generated, GeneratedError> {
        let read = || {
            let mut parts = text.strip_prefix(Generated::PREFIX)?.split('/');
            let (motion, network) = (parts.next()?, parts.next()?);
            let mut next = parts.next();
            let told = DirectionCorrelation::NAMED
                .iter()
                .find(|(_, word)| Some(*word) == next);
            let ways = told.map_or_else(DirectionCorrelation::default, |(ways, _)| {
                next = parts.next();
                *ways
            });
            let mut scale = Scale::PROFILE;
            while next.is_some_and(|part| scale.take(part)) {
                next = parts.next();
            }
            let seeds = match next {
                Some(seed) => Some(seed.parse().ok()?).map(|seed| Seeds {
                    both: seed,
                    own: seed,
                }),
                None => None,
            };
            let motion = Motion::ALL.into_iter().find(|m| m.name() == motion)?;
            let network = Network::ALL.into_iter().find(|n| n.name() == network)?;
            parts.next().is_none().then_some(Generated {
                motion,
                network,
                ways,
                scale,
                seeds,
            })
        };
        read().ok_or_else(|| GeneratedError { text: text.into() })
    }
}

#[cfg(test)]
mod tests;
