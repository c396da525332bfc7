use std::sync::Arc;
use weft_units::{Duration, Instant, Rate};

/// Capacity in steps, counted from the run's epoch. Zero is an outage: waiting
/// packets stay in the queue. Clones share the steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    steps: Arc<[(Duration, Rate)]>,
    period: Option<Duration>,
}

/// Invalid schedule, which is an error of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScheduleError {
    /// The start has no rate.
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
    /// Creates a schedule of steps. Each rate applies until the next step; the last one
    /// applies forever.
    ///
    /// # Errors
    /// If the first step is not at zero or the steps are not increasing.
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

    /// Repeats the steps with this period.
    ///
    /// # Errors
    /// If the period does not reach beyond the start of the last step.
    pub fn repeat_every(mut self, period: Duration) -> Result<Schedule, ScheduleError> {
        if self.steps.last().is_none_or(|s| s.0 >= period) {
            return Err(ScheduleError::PeriodTooShort);
        }
        self.period = Some(period);
        Ok(self)
    }

    /// Returns the steps: start and rate of each.
    #[must_use]
    pub fn steps(&self) -> &[(Duration, Rate)] {
        &self.steps
    }

    /// Returns the length of a round, if the schedule repeats.
    #[must_use]
    pub fn period(&self) -> Option<Duration> {
        self.period
    }

    /// Returns the rate at `at`, and the next step after it: its time and rate.
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

    /// Returns step `index` of a round; the index after the last one is the first step of
    /// the next round.
    pub(crate) fn step(&self, round: u64, index: usize) -> Option<(Instant, Rate)> {
        let begin = |round| Instant::ZERO + self.period.map_or(Duration::ZERO, |p| p * round);
        match self.steps.get(index) {
            Some(step) => Some((begin(round) + step.0, step.1)),
            None => self.period.map(|_| (begin(round + 1), self.steps[0].1)),
        }
    }
}
