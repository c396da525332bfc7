use crate::Duration;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits per second. `k` and `M` are powers of ten.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

const BITS_PER_BYTE_TIMES_NANOS: u64 = 8 * 1_000_000_000;

/// `a * b / c`, at most `u64::MAX`. Typical values per packet fit into 64 bits,
/// whose division is one instruction.
fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / c,
        None => saturate(wide(a, b) / u128::from(c)),
    }
}

fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

fn saturate(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

impl Bytes {
    /// No bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// Difference to `other`, at least zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Rate {
    /// Zero rate.
    pub const ZERO: Rate = Rate(0);

    /// `n` bits per second.
    #[must_use]
    pub const fn from_bps(n: u64) -> Rate {
        Rate(n)
    }

    /// `n` thousand bits per second.
    #[must_use]
    pub const fn from_kbps(n: u64) -> Rate {
        Rate(n * 1_000)
    }

    /// `n` million bits per second.
    #[must_use]
    pub const fn from_mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }

    /// Bits per second.
    #[must_use]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Thousand bits per second.
    #[must_use]
    pub fn as_kbps(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Million bits per second.
    #[must_use]
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This rate times `factor`; a negative factor gives zero.
    #[must_use]
    pub fn mul_f64(self, factor: f64) -> Rate {
        Rate((self.0 as f64 * factor).round() as u64)
    }

    /// Difference to `other`, at least zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Rate) -> Rate {
        Rate(self.0.saturating_sub(other.0))
    }

    /// Time for `size` at this rate, rounded up to a nanosecond; `None` at rate
    /// zero.
    #[must_use]
    pub fn time_for(self, size: Bytes) -> Option<Duration> {
        if self.0 == 0 {
            return None;
        }
        let nanos = match size.0.checked_mul(BITS_PER_BYTE_TIMES_NANOS) {
            Some(bits) => bits.div_ceil(self.0),
            None => saturate(wide(size.0, BITS_PER_BYTE_TIMES_NANOS).div_ceil(self.0.into())),
        };
        Some(Duration::from_nanos(nanos))
    }
}

/// Whole bytes that this rate carries in the time, rounded down.
impl Mul<Duration> for Rate {
    type Output = Bytes;
    fn mul(self, d: Duration) -> Bytes {
        Bytes(mul_div(self.0, d.as_nanos(), BITS_PER_BYTE_TIMES_NANOS))
    }
}

/// Rate that carries these bytes in the time. Panics on a zero duration.
impl Div<Duration> for Bytes {
    type Output = Rate;
    fn div(self, d: Duration) -> Rate {
        Rate(mul_div(self.0, BITS_PER_BYTE_TIMES_NANOS, d.as_nanos()))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, o: Bytes) -> Bytes {
        Bytes(self.0 + o.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, o: Bytes) {
        self.0 += o.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, o: Bytes) -> Bytes {
        Bytes(self.0 - o.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, o: Bytes) {
        self.0 -= o.0;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        Bytes(iter.map(|b| b.0).sum())
    }
}

impl Add for Rate {
    type Output = Rate;
    fn add(self, o: Rate) -> Rate {
        Rate(self.0.saturating_add(o.0))
    }
}

impl AddAssign for Rate {
    fn add_assign(&mut self, o: Rate) {
        *self = *self + o;
    }
}

impl Sum for Rate {
    fn sum<I: Iterator<Item = Rate>>(iter: I) -> Rate {
        iter.fold(Rate::ZERO, Add::add)
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}B", self.0)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}kbps", self.as_kbps())
    }
}
