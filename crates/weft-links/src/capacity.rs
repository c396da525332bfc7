use crate::{Generated, GeneratedRates, Trace};
use std::sync::Arc;
use weft_units::{Duration, Instant, Rate, Rng};

/// How fast a link transmits, over the run.
#[derive(Clone, PartialEq, Debug)]
pub enum Capacity {
    /// Always the same rate. Zero is an outage without end.
    Constant(Rate),
    /// Steps over time.
    Schedule(Schedule),
    /// As somebody measured it.
    Trace(Trace),
    /// As a random process draws it.
    Generated(Generated),
}

/// Capacity in steps, counted from the run's epoch. Zero is an outage: what
/// waits stays in the queue. Copies share the steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    steps: Arc<[(Duration, Rate)]>,
    period: Option<Duration>,
}

/// A schedule that has no meaning; the caller built it wrongly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScheduleError {
    /// There is no rate for the beginning.
    #[error("the first step of a capacity schedule must begin at time zero: add one")]
    NoBeginning,
    /// Steps are not in order of time.
    #[error("step {0} of the capacity schedule does not begin after the one before: sort them")]
    NotIncreasing(usize),
    /// The period ends before its last step begins.
    #[error("the capacity schedule's period must end after its last step begins: lengthen it")]
    PeriodTooShort,
}

impl Schedule {
    /// The rate of each step from its beginning until the next one; the last
    /// one stays for ever.
    ///
    /// # Errors
    /// When the first step is not at zero or the steps are not increasing.
    pub fn new(steps: Vec<(Duration, Rate)>) -> Result<Schedule, ScheduleError> {
        if steps.first().is_none_or(|s| s.0 != Duration::ZERO) {
            return Err(ScheduleError::NoBeginning);
        }
        if let Some(i) = steps.windows(2).position(|w| w[1].0 <= w[0].0) {
            return Err(ScheduleError::NotIncreasing(i + 1));
        }
        Ok(Schedule {
            steps: steps.into(),
            period: None,
        })
    }

    /// The same steps again and again, each round `period` long.
    ///
    /// # Errors
    /// When the period does not reach beyond the beginning of the last step.
    pub fn repeat_every(mut self, period: Duration) -> Result<Schedule, ScheduleError> {
        if self.steps.last().is_none_or(|s| s.0 >= period) {
            return Err(ScheduleError::PeriodTooShort);
        }
        self.period = Some(period);
        Ok(self)
    }

    /// The steps: when each begins and its rate.
    #[must_use]
    pub fn steps(&self) -> &[(Duration, Rate)] {
        &self.steps
    }

    /// How long a round is, if it repeats.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        self.period
    }

    /// The rate at `at`, and the next step after it: its time and rate.
    #[must_use]
    pub fn at(&self, at: Instant) -> (Rate, Option<(Instant, Rate)>) {
        let since = at.saturating_since(Instant::ZERO).as_nanos();
        let (round, offset) = match self.period {
            Some(p) => (since / p.as_nanos(), since % p.as_nanos()),
            None => (0, since),
        };
        // The first step is at zero, so at least one step has begun.
        let next = self.steps.partition_point(|s| s.0.as_nanos() <= offset);
        (self.steps[next - 1].1, self.step(round, next))
    }

    /// Step `index` of a round, in which the one after the last is the first
    /// of the next round.
    fn step(&self, round: u64, index: usize) -> Option<(Instant, Rate)> {
        let begin = |round| Instant::ZERO + self.period.map_or(Duration::ZERO, |p| p * round);
        match self.steps.get(index) {
            Some(step) => Some((begin(round) + step.0, step.1)),
            None => self.period.map(|_| (begin(round + 1), self.steps[0].1)),
        }
    }
}

impl Capacity {
    /// Whether somebody chose each of its rates, unlike those of a trace.
    pub(crate) fn is_planned(&self) -> bool {
        match self {
            Capacity::Constant(_) | Capacity::Schedule(_) => true,
            Capacity::Trace(_) | Capacity::Generated(_) => false,
        }
    }

    /// The rate that queues in bandwidth-delay products are sized by: the
    /// highest one of a schedule, the mean of a trace, the typical one of a
    /// generated trace.
    #[must_use]
    pub fn reference(&self) -> Rate {
        match self {
            Capacity::Constant(rate) => *rate,
            Capacity::Schedule(s) => s.steps.iter().map(|s| s.1).max().unwrap_or_default(),
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

/// Gives the changes of a capacity one after the other.
pub(crate) enum Player {
    /// Nothing changes any more.
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
    /// The player and the rate at the run's epoch.
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

    /// The next change: its time and rate.
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
                if *next > schedule.steps.len() {
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
        let rate = schedule.steps[0].1;
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
