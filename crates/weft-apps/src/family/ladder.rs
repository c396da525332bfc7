//! Ladder: uses one of a few rates; steps down after heavy loss and never rises.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Controller, Pattern, Plan};
use crate::report_history::ReportHistory;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Ladder {
    /// Rates below the highest, as shares of it; the last one is the lowest rate,
    /// regardless of the highest.
    pub steps: Vec<f64>,
    /// Loss over this time above which it steps down.
    pub steps_down: (f64, Duration),
    /// Delay of that step.
    pub hesitates: Duration,
    pub sound: Rate,
    /// Loss above which sound doubles its rate.
    pub doubles_sound: f64,
    pub frames_per_second: f64,
}

#[derive(Debug)]
pub(super) struct Control {
    with: Ladder,
    highest: Rate,
    lowest: Rate,
    step: usize,
    /// Time of a pending step.
    due: Option<Instant>,
    /// Time of the last step.
    stepped_at: Option<Instant>,
    doubled: bool,
}

impl Control {
    pub fn new(with: Ladder, highest: Rate, lowest: Rate) -> Control {
        Control {
            with,
            highest,
            lowest,
            step: 0,
            due: None,
            stepped_at: None,
            doubled: false,
        }
    }

    fn rate(&self) -> Rate {
        let below = self.step.checked_sub(1);
        below.map_or(self.highest, |i| match i + 1 == self.with.steps.len() {
            true => self.lowest,
            false => self.highest.mul_f64(self.with.steps[i]).max(self.lowest),
        })
    }
}

impl Controller for Control {
    fn on_report(&mut self, now: Instant, history: &ReportHistory) {
        let (much, time) = self.with.steps_down;
        let Some(last) = history.over(time) else {
            return;
        };
        self.doubled = last.loss > self.with.doubles_sound;
        // The loss at the previous step stays in the window for this long.
        let is_judged = self
            .stepped_at
            .is_some_and(|at| now.saturating_since(at) < time);
        if last.loss > much && !is_judged && self.due.is_none() && self.step < self.with.steps.len()
        {
            self.due = Some(now + self.with.hesitates);
        }
    }

    fn plan(&mut self, now: Instant) -> Plan {
        if self.due.is_some_and(|at| at <= now) {
            self.due = None;
            self.stepped_at = Some(now);
            self.step += 1;
        }
        let sound = self.with.sound;
        Plan {
            sound: if self.doubled { sound + sound } else { sound },
            video: self.rate().saturating_sub(sound),
            redundancy: Rate::ZERO,
            pattern: Pattern::frames(self.with.frames_per_second),
            burst: Bytes(0),
            hung_up: false,
        }
    }
}
