//! RTP's time.

use weft_units::Instant;

/// A time in a stream's clock; it wraps as RTP's does.
#[must_use]
pub fn rtp_timestamp(at: Instant, clock_rate: u64) -> u32 {
    (u128::from(at.as_nanos()) * u128::from(clock_rate) / 1_000_000_000) as u32
}
