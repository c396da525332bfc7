use crate::Duration;

/// Buckets per doubling: a value is exact to one part in 64.
const PER_DOUBLING: u64 = 64;
const BITS: u32 = PER_DOUBLING.trailing_zeros();

/// Histogram of durations: exact to one part in 64 above 64 ns, exact below; the maximum
/// and the sum are exact.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u64,
    max: u64,
}

impl Histogram {
    /// Adds a duration.
    pub fn add(&mut self, value: Duration) {
        let nanos = value.as_nanos();
        let bucket = bucket_of(nanos);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.count += 1;
        self.sum = self.sum.saturating_add(nanos);
        self.max = self.max.max(nanos);
    }

    /// Adds all durations of another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        if other.buckets.len() > self.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (own, others) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += others;
        }
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// Returns the number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the longest duration.
    #[must_use]
    pub fn max(&self) -> Duration {
        Duration::from_nanos(self.max)
    }

    /// Returns the mean; `None` if empty.
    #[must_use]
    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_nanos(self.sum / self.count))
    }

    /// Returns the duration that the share `q` (0 to 1) does not exceed, by nearest rank;
    /// `None` if empty.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = (q * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|n| {
            seen += n;
            seen >= rank
        })?;
        Some(Duration::from_nanos(upper_end(bucket).min(self.max)))
    }
}

fn bucket_of(nanos: u64) -> usize {
    if nanos < PER_DOUBLING {
        return nanos as usize;
    }
    let shift = u64::BITS - 1 - nanos.leading_zeros() - BITS;
    let within = (nanos >> shift) - PER_DOUBLING;
    (PER_DOUBLING * u64::from(shift + 1) + within) as usize
}

/// Returns the largest value of the bucket.
fn upper_end(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < PER_DOUBLING {
        return bucket;
    }
    let shift = bucket / PER_DOUBLING - 1;
    let within = bucket % PER_DOUBLING + PER_DOUBLING;
    ((u128::from(within + 1) << shift) - 1) as u64
}

#[cfg(test)]
mod tests;
