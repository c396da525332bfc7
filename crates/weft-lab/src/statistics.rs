//! Statistics over many runs: a centre, and the interval that contains the true centre
//! with 95 % confidence.

use serde::{Deserialize, Serialize};

/// Centre of the values of all seeds in results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Centre {
    /// The arithmetic mean, with Student's t interval.
    #[default]
    Mean,
    /// The median, with the interval between two order statistics.
    Median,
}

impl Centre {
    /// Describes the interval around this centre for this many values.
    #[must_use]
    pub fn interval(self, values: u32) -> &'static str {
        match self {
            Centre::Median if values < SIX => "ranges of all seeds",
            Centre::Mean | Centre::Median => "95 % confidence intervals",
        }
    }
}

/// With fewer values, no two order statistics enclose the median with 95 %.
const SIX: u32 = 6;

/// A centre with its interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Mean or median.
    pub centre: f64,
    /// The 95 % confidence interval; `None` from a single value.
    pub interval: Option<(f64, f64)>,
    /// Number of values.
    pub n: usize,
}

impl Estimate {
    /// Returns the centre of these values; `None` without values.
    #[must_use]
    pub fn of(values: &[f64], centre: Centre) -> Option<Estimate> {
        match centre {
            Centre::Mean => with_mean(values),
            Centre::Median => with_median(values),
        }
    }

    /// Removes the part of the interval below zero, for values that are never negative.
    #[must_use]
    pub fn non_negative(self) -> Estimate {
        let interval = self.interval.map(|(low, high)| (low.max(0.0), high));
        Estimate { interval, ..self }
    }

    /// Returns the lowest value of the interval, or the only value.
    #[must_use]
    pub fn low(&self) -> f64 {
        self.interval.map_or(self.centre, |(low, _)| low)
    }

    /// Returns the highest value of the interval, or the only value.
    #[must_use]
    pub fn high(&self) -> f64 {
        self.interval.map_or(self.centre, |(_, high)| high)
    }
}

/// Returns the centre of `here - there`, seed by seed: the effect of one system with
/// everything else equal (paired samples). Ignores seeds without both values.
#[must_use]
pub fn paired(here: &[Option<f64>], there: &[Option<f64>], centre: Centre) -> Option<Estimate> {
    let pairs = here.iter().zip(there);
    let differences: Vec<f64> = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?)).collect();
    Estimate::of(&differences, centre)
}

/// Returns the value below which the share `q` of the sorted values lies, linear between
/// neighbours (Hyndman and Fan 1996, definition 7); `None` without values.
#[must_use]
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = q.clamp(0.0, 1.0) * last as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64))
}

/// Returns the mean; `None` without values.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut n = 0;
    let sum: f64 = values.inspect(|_| n += 1).sum();
    (n > 0).then(|| sum / f64::from(n))
}

/// Returns the mean with `mean ± t · s / sqrt(n)`, where s uses n - 1 (Student 1908).
fn with_mean(values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    if n == 0 {
        return None;
    }
    let centre = values.iter().sum::<f64>() / n as f64;
    let interval = (n > 1).then(|| {
        let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
        let error = (squares / (n - 1) as f64 / n as f64).sqrt();
        let reach = student_t(n - 1) * error;
        (centre - reach, centre + reach)
    });
    Some(Estimate {
        centre,
        interval,
        n,
    })
}

/// Returns the median with the narrowest symmetric pair of order statistics that contains
/// it with at least 95 % (sign test; Conover 1999, section 3.2). Fewer than six values
/// cannot give 95 %, so the interval is their whole range.
fn with_median(values: &[f64]) -> Option<Estimate> {
    let n = values.len();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let centre = quantile(&sorted, 0.5)?;
    let interval = (n > 1).then(|| {
        // The largest k with P(Binomial(n, 1/2) < k + 1) <= 2.5 %. Computed with
        // logarithms: 2^-n underflows if n is above 1074.
        let mut outside = 0;
        let (mut term, mut below) = (-(n as f64) * std::f64::consts::LN_2, 0.0);
        while outside < n / 2 {
            below += term.exp();
            if below > 0.025 {
                break;
            }
            term += ((n - outside) as f64 / (outside + 1) as f64).ln();
            outside += 1;
        }
        let skip = outside.saturating_sub(1);
        (sorted[skip], sorted[n - 1 - skip])
    });
    Some(Estimate {
        centre,
        interval,
        n,
    })
}

/// Returns the 97.5 % quantile of Student's t, by degrees of freedom (table of the
/// NIST/SEMATECH e-Handbook, section 1.3.6.7.2). Interpolates between its rows linearly
/// in 1/df, which is exact to the third decimal.
fn student_t(degrees: usize) -> f64 {
    const FIRST: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    const REST: [(f64, f64); 5] = [
        (30.0, 2.042),
        (40.0, 2.021),
        (60.0, 2.000),
        (120.0, 1.980),
        (f64::INFINITY, 1.960),
    ];
    if let Some(t) = degrees.checked_sub(1).and_then(|row| FIRST.get(row)) {
        return *t;
    }
    let inverse = 1.0 / degrees as f64;
    let rows = REST.windows(2).find(|pair| degrees as f64 <= pair[1].0);
    rows.map_or(1.960, |pair| {
        let (from, to) = (1.0 / pair[0].0, 1.0 / pair[1].0);
        pair[0].1 + (pair[1].1 - pair[0].1) * (from - inverse) / (from - to)
    })
}

#[cfg(test)]
mod tests;
