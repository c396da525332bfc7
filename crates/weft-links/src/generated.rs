//! Capacity of wireless links as a random process, for runs without measured
//! traces. `docs/models/links.md` has its statistics beside those of measured ones.

mod conditions;
mod process;
mod profile;

use std::fmt;
use std::str::FromStr;
use weft_units::{Duration, Rate, Rng};

pub use conditions::{Motion, Network};
use process::Process;

/// Capacity of a kind of wireless link in a kind of motion, drawn anew for
/// every seed. It never ends and never repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Generated {
    /// How the device moves.
    pub motion: Motion,
    /// What it is connected to.
    pub network: Network,
    /// Draws the same capacity in every run, in both directions; otherwise
    /// the link's generator does.
    pub seed: Option<u64>,
}

/// The capacity of one link over time: the mean over each
/// [`GeneratedRates::SLOT`], without end.
#[derive(Clone, Debug)]
pub struct GeneratedRates {
    process: Process,
}

/// Not a generated trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "'{text}' is no generated trace: write generated:MOTION/NETWORK with stationary, walking or \
     driving and wifi, lte or lte2, for example generated:walking/lte, or with a seed \
     generated:walking/lte/7"
)]
pub struct GeneratedError {
    text: String,
}

impl Generated {
    /// What the text form begins with.
    pub const PREFIX: &'static str = "generated:";

    /// The capacity by this generator, unless it has a seed of its own.
    #[must_use]
    pub fn rates(&self, rng: &Rng) -> GeneratedRates {
        let rng = self.seed.map_or_else(|| rng.clone(), Rng::new);
        let profile = profile::of(self.motion, self.network);
        GeneratedRates {
            process: Process::new(profile, &rng.stream("trace")),
        }
    }

    /// What it has where coverage is good, on average.
    #[must_use]
    pub fn typical(&self) -> Rate {
        profile::of(self.motion, self.network).typical
    }
}

impl GeneratedRates {
    /// For how long a rate holds.
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
        let (motion, network) = (self.motion.as_str(), self.network.as_str());
        write!(f, "{}{motion}/{network}", Generated::PREFIX)?;
        match self.seed {
            Some(seed) => write!(f, "/{seed}"),
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
            let seed = match parts.next() {
                Some(seed) => Some(seed.parse().ok()?),
                None => None,
            };
            let motion = Motion::ALL.into_iter().find(|m| m.as_str() == motion)?;
            let network = Network::ALL.into_iter().find(|n| n.as_str() == network)?;
            parts.next().is_none().then_some(Generated {
                motion,
                network,
                seed,
            })
        };
        read().ok_or_else(|| GeneratedError { text: text.into() })
    }
}

#[cfg(test)]
mod tests;
