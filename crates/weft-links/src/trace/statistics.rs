use weft_units::{Duration, Rate};

/// Share of the mean below which a link counts as out. Chosen by us: a call over it would
/// freeze.
const OUT: f64 = 0.1;

/// Statistics of a capacity over time, from its means over equal windows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TraceStatistics {
    /// Mean over all windows.
    pub mean: Rate,
    /// Standard deviation divided by the mean.
    pub variation: f64,
    /// Correlation of consecutive windows, -1 to 1.
    pub correlation: f64,
    /// Share of windows below a tenth of the mean.
    pub outage_share: f64,
    /// Mean length of consecutive windows of this kind; zero if there are none.
    pub outage_length: Duration,
}

impl TraceStatistics {
    /// Returns the statistics of the means over windows of this length. An empty list
    /// counts as a permanent outage.
    #[must_use]
    pub fn of(windows: &[Rate], window: Duration) -> TraceStatistics {
        let rates: Vec<f64> = windows.iter().map(|r| r.as_bps() as f64).collect();
        let count = rates.len().max(1) as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let products = |lag: usize| {
            let pairs = rates.iter().zip(rates.iter().skip(lag));
            pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / count
        };
        let variance = products(0);
        let or_zero = |x: f64| if x.is_finite() { x } else { 0.0 };
        let is_out = |rate: &f64| *rate <= OUT * mean;
        let out = rates.iter().filter(|r| is_out(r)).count();
        let rows = rates.chunk_by(|a, b| is_out(a) == is_out(b));
        let outages = rows.filter(|row| is_out(&row[0])).count();
        TraceStatistics {
            mean: Rate::from_bps(mean as u64),
            variation: or_zero(variance.sqrt() / mean),
            correlation: or_zero(products(1) / variance),
            outage_share: out as f64 / count,
            outage_length: window.mul_f64(or_zero(out as f64 / outages as f64)),
        }
    }

    /// Returns the mean of each value; outage lengths are weighted by the number of
    /// outages.
    #[must_use]
    pub fn mean_of(all: &[TraceStatistics]) -> TraceStatistics {
        let count = all.len().max(1) as f64;
        let mean = |value: fn(&TraceStatistics) -> f64| all.iter().map(value).sum::<f64>() / count;
        let share = mean(|s| s.outage_share);
        let outages = |s: &TraceStatistics| match s.outage_length.as_secs_f64() {
            0.0 => 0.0,
            length => s.outage_share / length,
        };
        let number = all.iter().map(outages).sum::<f64>() / count;
        let length = if number > 0.0 { share / number } else { 0.0 };
        TraceStatistics {
            mean: Rate::from_bps(mean(|s| s.mean.as_bps() as f64) as u64),
            variation: mean(|s| s.variation),
            correlation: mean(|s| s.correlation),
            outage_share: share,
            outage_length: Duration::from_secs_f64(length),
        }
    }
}
