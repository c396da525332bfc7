use crate::{Generated, GeneratedRates, Schedule, Trace};
use weft_units::{Instant, Rate, Rng};

/// Transmission rate of a link over the run.
#[derive(Clone, PartialEq, Debug)]
pub enum Capacity {
    /// Constant rate. Zero is a permanent outage.
    Constant(Rate),
    /// Steps over time.
    Schedule(Schedule),
    /// Measured trace.
    Trace(Trace),
    /// Trace drawn from a random process.
    Generated(Generated),
}

impl Capacity {
    /// Returns whether the rate is constantly zero, so that no packet ever gets through.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Capacity::Constant(Rate::ZERO)
    }

    /// Returns whether a person chose every rate, unlike the rates of a trace.
    pub(crate) fn is_planned(&self) -> bool {
        match self {
            Capacity::Constant(_) | Capacity::Schedule(_) => true,
            Capacity::Trace(_) | Capacity::Generated(_) => false,
        }
    }

    /// Returns the rate for sizing queues in bandwidth-delay products: the highest rate
    /// of a schedule, the mean of a trace, the typical rate of a generated trace.
    #[must_use]
    pub fn reference(&self) -> Rate {
        match self {
            Capacity::Constant(rate) => *rate,
            Capacity::Schedule(s) => s.steps().iter().map(|s| s.1).max().unwrap_or_default(),
            Capacity::Trace(trace) => trace.mean(),
            Capacity::Generated(generated) => generated.typical(),
        }
    }
}

impl From<Trace> for Capacity {
    fn from(trace: Trace) -> Capacity {
        Capacity::Trace(trace)
    }
}

impl From<Generated> for Capacity {
    fn from(generated: Generated) -> Capacity {
        Capacity::Generated(generated)
    }
}

impl From<Rate> for Capacity {
    fn from(rate: Rate) -> Capacity {
        Capacity::Constant(rate)
    }
}

/// Iterator over the changes of a capacity.
pub(crate) enum Player {
    /// No more changes.
    Ended,
    Steps {
        schedule: Schedule,
        round: u64,
        next: usize,
    },
    Generated {
        rates: Box<GeneratedRates>,
        slots: u64,
    },
}

impl Player {
    /// Returns the player and the rate at the run's epoch.
    pub fn new(capacity: &Capacity, rng: &Rng) -> (Player, Rate) {
        match capacity {
            Capacity::Constant(rate) => (Player::Ended, *rate),
            Capacity::Schedule(schedule) => Player::of(schedule),
            Capacity::Trace(trace) => Player::of(trace.schedule()),
            Capacity::Generated(generated) => {
                let mut rates = Box::new(generated.rates(rng));
                let rate = rates.next().unwrap_or_default();
                (Player::Generated { rates, slots: 0 }, rate)
            }
        }
    }

    /// Returns the next change: its time and rate.
    pub fn next(&mut self) -> Option<(Instant, Rate)> {
        match self {
            Player::Ended => None,
            Player::Steps {
                schedule,
                round,
                next,
            } => {
                let step = schedule.step(*round, *next);
                *next += 1;
                if *next > schedule.steps().len() {
                    *next = 1;
                    *round += 1;
                }
                if step.is_none() {
                    *self = Player::Ended;
                }
                step
            }
            Player::Generated { rates, slots } => {
                *slots += 1;
                let at = Instant::ZERO + GeneratedRates::SLOT * *slots;
                rates.next().map(|rate| (at, rate))
            }
        }
    }

    fn of(schedule: &Schedule) -> (Player, Rate) {
        let rate = schedule.steps()[0].1;
        let player = Player::Steps {
            schedule: schedule.clone(),
            round: 0,
            next: 1,
        };
        (player, rate)
    }
}

#[cfg(test)]
mod tests;
