//! The times that all of a cell goes by.

use weft_units::{Duration, Instant};

/// A millisecond, of which resource blocks are dealt out (3GPP TS 36.211, 4).
pub(super) const TTI: Duration = Duration::from_millis(1);
/// From the beginning of a block until it is decoded and answered (3GPP TS
/// 36.213, 7.3 and 8).
pub(super) const DECODING: Duration = Duration::from_millis(4);
/// From a block to the next attempt in FDD (the same).
pub(super) const HARQ_ROUND_TRIP: Duration = Duration::from_millis(8);
/// HARQ processes: one for each millisecond of the round trip.
pub(super) const PROCESSES: usize = 8;
/// The dedicated one and that for all else.
pub(super) const BEARERS: usize = 2;

/// The process of this millisecond.
pub(super) fn slot(at: Instant) -> usize {
    (at.as_nanos() / TTI.as_nanos()) as usize % PROCESSES
}

/// The beginning of the millisecond that this is, or of the next one.
pub(super) fn whole(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos().next_multiple_of(TTI.as_nanos()))
}
