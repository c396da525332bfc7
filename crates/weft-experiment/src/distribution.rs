//! Delays summed up: by period, and over the run.

use weft_units::Duration;

/// Delays within one period; all zero when there were none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DelaySample {
    /// How many packets were measured.
    pub count: u32,
    /// Their mean.
    pub mean: Duration,
    /// The smallest that at least 95 % of them do not exceed.
    pub p95: Duration,
    /// The longest of them.
    pub max: Duration,
}

impl DelaySample {
    /// Of these delays in nanoseconds, which come out in another order.
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

/// What one pass over delays gives, in nanoseconds.
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

/// Delays of many packets, of one way or of several together. Quantiles are
/// exact within [`Distribution::RESOLUTION`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Distribution {
    /// Of a width that grows with the value: each power of two is cut into
    /// `1 << FINE` of them.
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
}

/// A bucket is at most a 64th of its values wide, and stands for its middle.
const FINE: u32 = 6;

impl Distribution {
    /// Relative error of the quantiles.
    pub const RESOLUTION: f64 = 1.0 / 128.0;

    /// How many packets were measured.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, exact; zero without any.
    #[must_use]
    pub fn mean(&self) -> Duration {
        let mean = self.sum.checked_div(u128::from(self.count)).unwrap_or(0);
        Duration::from_nanos(mean as u64)
    }

    /// The largest, exact; zero without any.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// So many percent of them are at most this: the nearest rank, zero
    /// without any.
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

    /// Adds the packets of another one, so that what is said is about all of
    /// them.
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

    /// One more packet.
    pub fn add(&mut self, delay: Duration) {
        let value = delay.as_nanos();
        self.count_all(&Totals::of(&[value]), &[value]);
    }

    /// The packets of a period, their delays in nanoseconds, which come out in
    /// another order; and what that period was by itself.
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
