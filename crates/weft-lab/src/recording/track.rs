//! Quantity over time, as given by a file.

/// Owner of a quantity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// The recorded call. In a report it has the name of the report's call.
    Call,
    /// Another flow.
    Flow(String),
    /// A link; `-back` after the name is its other direction.
    Link(String),
}

impl Owner {
    /// Returns its name in a report whose call is `call`.
    pub fn name<'a>(&'a self, call: &'a str) -> &'a str {
        match self {
            Owner::Call => call,
            Owner::Flow(name) | Owner::Link(name) => name,
        }
    }
}

/// A value between two times.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Span {
    /// Start in seconds.
    pub from: f64,
    /// End in seconds.
    pub until: f64,
    /// Mean value between them.
    pub value: f64,
}

/// Values of a quantity.
#[derive(Clone, PartialEq, Debug)]
pub struct Track {
    /// Name of the column in a series.
    pub quantity: &'static str,
    /// Unit for the axis.
    pub unit: &'static str,
    /// Owner.
    pub owner: Owner,
    /// Values in order of time, without overlap; gaps have no value.
    pub spans: Vec<Span>,
}

impl Track {
    /// Creates a track; `None` without values.
    pub fn new(
        (quantity, unit): (&'static str, &'static str),
        owner: Owner,
        spans: Vec<Span>,
    ) -> Option<Track> {
        (!spans.is_empty()).then_some(Track {
            quantity,
            unit,
            owner,
            spans,
        })
    }

    /// Returns the mean value of each of `rows` periods of `step` seconds, weighted by
    /// time, so that the sum of a rate does not change. A period without a value has
    /// none.
    pub fn sampled(&self, rows: usize, step: f64) -> Vec<Option<f64>> {
        // Time with a value, and the integral over it.
        let mut sums = vec![(0.0, 0.0); rows];
        for span in &self.spans {
            let first = (span.from / step).floor().max(0.0) as usize;
            for (row, (time, integral)) in sums.iter_mut().enumerate().skip(first) {
                let (begin, end) = (row as f64 * step, (row + 1) as f64 * step);
                if begin >= span.until {
                    break;
                }
                let within = span.until.min(end) - span.from.max(begin);
                if within > 0.0 {
                    *time += within;
                    *integral += within * span.value;
                }
            }
        }
        let means = sums.into_iter();
        // Less is a rounding error.
        means
            .map(|(time, integral)| (time > step * 1e-6).then(|| integral / time))
            .collect()
    }

    /// Returns the mean over the time with values.
    pub fn mean(&self) -> Option<f64> {
        let (time, integral) = self
            .spans
            .iter()
            .fold((0.0, 0.0), |(time, integral), span| {
                let length = span.until - span.from;
                (time + length, integral + length * span.value)
            });
        (time > 0.0).then(|| integral / time)
    }
}

/// Returns spans of values that were sampled at these times. Each is valid for the time
/// since the previous one, at most `longest` seconds. The first sample has no span.
pub fn held(samples: &[(f64, f64)], longest: f64) -> Vec<Span> {
    let pairs = samples.windows(2).filter(|pair| pair[1].0 > pair[0].0);
    pairs
        .map(|pair| Span {
            from: pair[0].0.max(pair[1].0 - longest),
            until: pair[1].0,
            value: pair[1].1,
        })
        .collect()
}

/// Returns the growth per second of a counter between its samples. A counter that falls
/// was restarted, so that period has no value.
pub fn growth(samples: &[(f64, f64)]) -> Vec<Span> {
    let pairs = samples.windows(2);
    let pairs = pairs.filter(|pair| pair[1].0 > pair[0].0 && pair[1].1 >= pair[0].1);
    pairs
        .map(|pair| Span {
            from: pair[0].0,
            until: pair[1].0,
            value: (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0),
        })
        .collect()
}
