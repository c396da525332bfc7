//! Distributions of delays: per period, and over the run.

use weft_units::Duration;

/// Delays within one period; all fields are zero without packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DelaySample {
    /// Number of packets measured.
    pub count: u32,
    /// Mean delay.
    pub mean: Duration,
    /// Smallest delay that at least 95 % of the packets do not exceed.
    pub p95: Duration,
    /// Longest delay.
    pub max: Duration,
}

impl DelaySample {
    /// Summarises delays in nanoseconds; reorders the slice.
    #[must_use]
    pub fn of(nanos: &mut [u64]) -> DelaySample {
        let totals = Totals::of(nanos);
        DelaySample::with(&totals, nanos)
    }

    fn with(totals: &Totals, nanos: &mut [u64]) -> DelaySample {
        let count = nanos.len();
        if count == 0 {
            return DelaySample::default();
        }
        // Nearest rank: the ceil(0.95 n)-th smallest.
        let rank = (count * 95).div_ceil(100) - 1;
        let p95 = *nanos.select_nth_unstable(rank).1;
        DelaySample {
            count: u32::try_from(count).unwrap_or(u32::MAX),
            mean: Duration::from_nanos((totals.sum / count as u128) as u64),
            p95: Duration::from_nanos(p95),
            max: Duration::from_nanos(totals.max),
        }
    }
}

/// Sums of one pass over delays, in nanoseconds.
struct Totals {
    sum: u128,
    max: u64,
}

impl Totals {
    fn of(nanos: &[u64]) -> Totals {
        let mut totals = Totals { sum: 0, max: 0 };
        for &value in nanos {
            totals.sum += u128::from(value);
            totals.max = totals.max.max(value);
        }
        totals
    }
}

impl FromIterator<Duration> for Distribution {
    fn from_iter<I: IntoIterator<Item = Duration>>(delays: I) -> Distribution {
        let mut all = Distribution::default();
        delays.into_iter().for_each(|each| all.add(each));
        all
    }
}

/// Delays of many packets in one or several directions. Quantiles are exact within
/// [`Distribution::RESOLUTION`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    /// Counts per bucket. The width of a bucket grows with the value: each power of two
    /// is divided into `1 << FINE` buckets.
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

/// Binary logarithm of the buckets per power of two. A bucket is at most a 64th of its
/// values wide, and its middle represents them.
const FINE: u32 = 6;

impl Distribution {
    /// Relative error of the quantiles.
    pub const RESOLUTION: f64 = 1.0 / 128.0;

    /// Returns the number of packets measured.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact mean; zero without packets.
    #[must_use]
    pub fn mean(&self) -> Duration {
        let mean = self.sum.checked_div(u128::from(self.count)).unwrap_or(0);
        Duration::from_nanos(mean as u64)
    }

    /// Returns the exact maximum; zero without packets.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// Returns the delay that this percentage of the packets does not exceed, by nearest
    /// rank; zero without packets.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Duration {
        let rank = (self.count * percent.min(100)).div_ceil(100).max(1);
        let mut below = 0;
        let found = self.buckets.iter().position(|n| {
            below += n;
            below >= rank
        });
        Duration::from_nanos(found.map_or(0, middle_of).min(self.max))
    }

    /// Adds the packets of another distribution.
    pub fn merge(&mut self, other: &Distribution) {
        if self.buckets.len() < other.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (own, others) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += others;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// Adds the delay of one packet.
    pub fn add(&mut self, delay: Duration) {
        let value = delay.as_nanos();
        self.count_all(&Totals::of(&[value]), &[value]);
    }

    /// Adds the packets of a period, with delays in nanoseconds, and returns the summary
    /// of that period. Reorders the slice.
    pub fn add_period(&mut self, nanos: &mut [u64]) -> DelaySample {
        let totals = Totals::of(nanos);
        self.count_all(&totals, nanos);
        DelaySample::with(&totals, nanos)
    }

    fn count_all(&mut self, totals: &Totals, nanos: &[u64]) {
        let top = bucket_of(totals.max);
        if top >= self.buckets.len() && !nanos.is_empty() {
            self.buckets.resize(top + 1, 0);
        }
        for &value in nanos {
            self.buckets[bucket_of(value)] += 1;
        }
        self.count += nanos.len() as u64;
        self.sum += totals.sum;
        self.max = self.max.max(totals.max);
    }
}

fn bucket_of(value: u64) -> usize {
    let power = value.checked_ilog2().unwrap_or(0);
    if power <= FINE {
        return value as usize;
    }
    let shift = power - FINE;
    ((u64::from(shift) << FINE) + (value >> shift)) as usize
}

fn middle_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 << FINE {
        return bucket;
    }
    let shift = (bucket >> FINE) - 1;
    let mantissa = bucket - (shift << FINE);
    (mantissa << shift) + (1 << shift) / 2
}

#[cfg(test)]
mod tests;
