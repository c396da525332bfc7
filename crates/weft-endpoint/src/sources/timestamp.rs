//! RTP timestamps.

use weft_units::Instant;

/// Returns the timestamp at a clock rate; wraps like RTP's.
#[must_use]
pub fn rtp_timestamp(at: Instant, clock_rate: u64) -> u32 {
    (u128::from(at.as_nanos()) * u128::from(clock_rate) / 1_000_000_000) as u32
}
