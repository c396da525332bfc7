use weft_units::{Duration, Instant, Rate};

/// How fast a link transmits, over the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// Always the same rate. Zero is an outage without end.
    Constant(Rate),
    /// Steps over time.
    Schedule(Schedule),
}

/// Capacity in steps, counted from the run's epoch. Zero is an outage: what
/// waits stays in the queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    steps: Vec<(Duration, Rate)>,
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
        let period = None;
        Ok(Schedule { steps, period })
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

    /// The rate at `at`, and the next step after it: its time and rate.
    #[must_use]
    pub fn at(&self, at: Instant) -> (Rate, Option<(Instant, Rate)>) {
        let since = at.saturating_since(Instant::ZERO);
        let (round, offset) = match self.period {
            Some(p) => (
                since.as_nanos() / p.as_nanos(),
                since.as_nanos() % p.as_nanos(),
            ),
            None => (0, since.as_nanos()),
        };
        let begin = |round| Instant::ZERO + self.period.map_or(Duration::ZERO, |p| p * round);
        // The first step is at zero, so at least one step has begun.
        let next = self.steps.partition_point(|s| s.0.as_nanos() <= offset);
        let rate = self.steps[next - 1].1;
        let after = match (self.steps.get(next), self.period) {
            (Some(step), _) => Some((begin(round) + step.0, step.1)),
            (None, Some(_)) => Some((begin(round + 1), self.steps[0].1)),
            (None, None) => None,
        };
        (rate, after)
    }
}

impl Capacity {
    /// The rate at `at`, and the next change after it: its time and rate.
    #[must_use]
    pub fn at(&self, at: Instant) -> (Rate, Option<(Instant, Rate)>) {
        match self {
            Capacity::Constant(rate) => (*rate, None),
            Capacity::Schedule(schedule) => schedule.at(at),
        }
    }

    /// The highest rate it ever has.
    #[must_use]
    pub fn highest(&self) -> Rate {
        match self {
            Capacity::Constant(rate) => *rate,
            Capacity::Schedule(s) => s.steps.iter().map(|s| s.1).max().unwrap_or_default(),
        }
    }
}

impl From<Rate> for Capacity {
    fn from(rate: Rate) -> Capacity {
        Capacity::Constant(rate)
    }
}

#[cfg(test)]
mod tests;
