//! Measured capacity, from text that the caller provides.

mod csv;
mod mahimahi;
mod statistics;
mod titles;
mod transfers;

use crate::Schedule;
use std::sync::Arc;
use weft_units::{Duration, Rate};

pub use statistics::TraceStatistics;

/// Longest accepted trace: a day. Chosen by us.
const MAX_SECONDS: u64 = 86_400;

/// Measured capacity, repeated forever. Clones share it.
#[derive(Clone, PartialEq, Debug)]
pub struct Trace {
    name: Arc<str>,
    schedule: Schedule,
    mean: Rate,
}

/// Error for a trace that cannot be used; the message names the place and the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("trace '{trace}', line {line}, column {column}: {problem}")]
pub struct TraceError {
    /// Name of the trace.
    pub trace: String,
    /// Line, from one.
    pub line: usize,
    /// Character in the line, from one.
    pub column: usize,
    /// Problem at this place.
    pub problem: TraceProblem,
}

/// Problem in a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TraceProblem {
    /// No line has numbers.
    #[error("the trace is empty: give one with at least one line of numbers")]
    Empty,
    /// A value is missing on the last line.
    #[error("the trace ends early, {missing} is missing: complete the line or remove it")]
    EndsEarly {
        /// Missing value.
        missing: &'static str,
    },
    /// A line has a different number of columns.
    #[error("{found} column(s), not {expected}: {remedy}")]
    WrongColumns {
        /// Columns on this line.
        found: usize,
        /// Columns on every line of this format.
        expected: usize,
        /// Form that the format requires.
        remedy: &'static str,
    },
    /// Invalid title of a column.
    #[error("'{value}': {remedy}")]
    NotATitle {
        /// Text in the file.
        value: String,
        /// Valid titles.
        remedy: &'static str,
    },
    /// Text in another format.
    #[error("this is {format}: {remedy}")]
    OtherFormat {
        /// Format, with its article.
        format: &'static str,
        /// Instruction for converting it.
        remedy: &'static str,
    },
    /// Not a number.
    #[error("'{value}' is not a number: {remedy}")]
    NotANumber {
        /// Text in the file.
        value: String,
        /// Form that the format requires.
        remedy: &'static str,
    },
    /// Negative value.
    #[error("'{value}' is negative: {remedy}")]
    Negative {
        /// Text in the file.
        value: String,
        /// Form that the format requires.
        remedy: &'static str,
    },
    /// A time before the time of the previous line.
    #[error("time goes back from {before} to {value}: sort the lines by time")]
    Backwards {
        /// Text in the file.
        value: String,
        /// Time on the previous line.
        before: String,
    },
    /// A time equal to the time of the previous line.
    #[error("the line before has the time {value}, too: keep one of the two")]
    Repeated {
        /// Text in the file.
        value: String,
    },
    /// A value beyond the accepted range.
    #[error("'{value}' is too much: {remedy}")]
    TooLarge {
        /// Text in the file.
        value: String,
        /// Largest accepted value.
        remedy: &'static str,
    },
    /// All data is at time zero.
    #[error("the trace has no duration: its last line must be later than zero")]
    NoDuration,
}

/// Position in the text, for errors.
#[derive(Clone, Copy)]
struct TracePosition<'a> {
    trace: &'a str,
    line: usize,
    column: usize,
}

impl Trace {
    /// Reads the text of a trace: in Mahimahi's format if the name ends in
    /// `.up` or `.down`, as a table if it ends in `.csv`, and otherwise as a
    /// table if the first line has several columns.
    ///
    /// # Errors
    /// As for [`Trace::mahimahi`] and [`Trace::csv`].
    pub fn parse(name: &str, text: &str) -> Result<Trace, TraceError> {
        let text = without_mark(text);
        let ends = |suffix: &str| name.to_ascii_lowercase().ends_with(suffix);
        let first = text.lines().find(|l| !is_blank(l)).unwrap_or_default();
        let is_mahimahi = ends(".up") || ends(".down");
        if first.trim_start().starts_with(['{', '[']) {
            let line = content(text).next().map_or(1, |(line, _)| line);
            let place = TracePosition {
                trace: name,
                line,
                column: 1,
            };
            return Err(place.error(TraceProblem::OtherFormat {
                format: "JSON",
                remedy: "write a table with a line of titles, such as time_ms,rate_kbps",
            }));
        }
        if ends(".csv") || (!is_mahimahi && csv::is_table(first)) {
            Trace::csv(name, text)
        } else {
            Trace::mahimahi(name, text)
        }
    }

    /// Reads a Mahimahi trace: each line is a millisecond at which 1504 bytes can leave;
    /// the last line is also the length of the trace. Here the bytes leave evenly over
    /// that millisecond.
    ///
    /// # Errors
    /// Line and column of the first problem.
    pub fn mahimahi(name: &str, text: &str) -> Result<Trace, TraceError> {
        mahimahi::parse(name, without_mark(text))
    }

    /// Reads a table of times and rates. Each rate applies until the time of the next
    /// line, the last one for as long as the one before it (one second if it is alone). A
    /// line of titles names the units. Without titles, columns separated by a comma or
    /// semicolon are seconds and bytes per second; columns separated by spaces or tabs
    /// are seconds and Mbit/s. Six columns separated by spaces are the log of a download,
    /// with its bytes and milliseconds at the end.
    ///
    /// # Errors
    /// Line and column of the first problem.
    pub fn csv(name: &str, text: &str) -> Result<Trace, TraceError> {
        csv::parse(name, without_mark(text))
    }

    /// Returns the name in the link specification.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the capacity over the length of the trace, which repeats.
    #[must_use]
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns the length of the trace before it repeats.
    #[must_use]
    pub fn length(&self) -> Duration {
        self.schedule.period().unwrap_or_default()
    }

    /// Returns the mean capacity over its length.
    #[must_use]
    pub fn mean(&self) -> Rate {
        self.mean
    }

    /// Returns the mean capacity of each whole `window` from the start; empty for a
    /// window of zero length.
    #[must_use]
    pub fn windows(&self, window: Duration) -> Vec<Rate> {
        let Some(whole) = self.length().as_nanos().checked_div(window.as_nanos()) else {
            return Vec::new();
        };
        let mut bits = vec![0_u128; whole as usize];
        for (begin, end, rate) in self.stretches() {
            let (mut at, end) = (begin.as_nanos(), end.as_nanos());
            while at < end {
                let index = at / window.as_nanos();
                let until = end.min((index + 1) * window.as_nanos());
                if let Some(sum) = bits.get_mut(index as usize) {
                    *sum += u128::from(rate.as_bps()) * u128::from(until - at);
                }
                at = until;
            }
        }
        let mean = |sum: u128| Rate::from_bps((sum / u128::from(window.as_nanos())) as u64);
        bits.into_iter().map(mean).collect()
    }

    fn new(name: &str, steps: Vec<(Duration, Rate)>, length: Duration) -> Option<Trace> {
        let schedule = Schedule::new(steps).ok()?.repeat_every(length).ok()?;
        let mut trace = Trace {
            name: name.into(),
            schedule,
            mean: Rate::ZERO,
        };
        trace.mean = trace.windows(length).first().copied()?;
        Some(trace)
    }

    /// Returns start, end and rate of each step of a round.
    fn stretches(&self) -> impl Iterator<Item = (Duration, Duration, Rate)> {
        let steps = self.schedule.steps();
        let ends = steps.iter().skip(1).map(|s| s.0).chain([self.length()]);
        steps.iter().zip(ends).map(|(s, end)| (s.0, end, s.1))
    }
}

impl TracePosition<'_> {
    fn error(self, problem: TraceProblem) -> TraceError {
        TraceError {
            trace: self.trace.into(),
            line: self.line,
            column: self.column,
            problem,
        }
    }

    /// Reads a number from zero to `most`, in digits with an optional decimal
    /// point.
    fn number(self, value: &str, most: f64, remedy: &'static str) -> Result<f64, TraceError> {
        let text = || value.to_owned();
        let number = value.strip_prefix('-').unwrap_or(value);
        let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let parsed = number.parse::<f64>().ok().filter(|_| plain);
        let Some(number) = parsed else {
            let value = text();
            return Err(self.error(TraceProblem::NotANumber { value, remedy }));
        };
        if value.starts_with('-') {
            let value = text();
            return Err(self.error(TraceProblem::Negative { value, remedy }));
        }
        if number > most {
            let value = text();
            return Err(self.error(TraceProblem::TooLarge { value, remedy }));
        }
        Ok(number)
    }
}

impl TraceError {
    /// Adds the value as written in the file.
    fn with_value(mut self, written: &str) -> TraceError {
        match &mut self.problem {
            TraceProblem::NotANumber { value, .. }
            | TraceProblem::Negative { value, .. }
            | TraceProblem::TooLarge { value, .. } => written.clone_into(value),
            _ => {}
        }
        self
    }
}

/// Returns the text without the byte order mark that some programs write (Unicode 16.0
/// section 23.8).
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Whether a line is empty or a comment.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// Returns the lines with content, and their numbers.
fn content(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let numbered = (1..).zip(text.lines());
    numbered.filter(|(_, line)| !is_blank(line))
}

/// Returns the comment on the previous line, if there is one.
fn comment_before(text: &str, line: usize) -> Option<&str> {
    let before = text.lines().nth(line.checked_sub(2)?)?;
    before.trim_start().starts_with('#').then_some(before)
}

/// Returns the position after the last line, where data is missing.
fn end<'a>(trace: &'a str, text: &str) -> TracePosition<'a> {
    let line = text.lines().count().max(1);
    TracePosition {
        trace,
        line,
        column: 1,
    }
}

#[cfg(test)]
mod tests;
