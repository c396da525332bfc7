//! Times that all parts of a cell use.

use weft_units::{Duration, Instant};

/// Millisecond, the unit in which resource blocks are assigned (3GPP TS 36.211, 4).
pub(super) const TTI: Duration = Duration::from_millis(1);
/// Time from the start of a block until it is decoded and acknowledged (3GPP TS
/// 36.213, 7.3 and 8).
pub(super) const DECODING: Duration = Duration::from_millis(4);
/// Time from a block to the next attempt in FDD (3GPP TS 36.213, 7.3 and 8).
pub(super) const HARQ_ROUND_TRIP: Duration = Duration::from_millis(8);
/// Number of HARQ processes: one for each millisecond of the round trip.
pub(super) const PROCESSES: usize = 8;
/// Number of bearers: the dedicated one and the default one.
pub(super) const BEARERS: usize = 2;

/// Returns the process number of this millisecond.
pub(super) fn slot(at: Instant) -> usize {
    (at.as_nanos() / TTI.as_nanos()) as usize % PROCESSES
}

/// Returns the start of this millisecond if it is exact, otherwise of the next one.
pub(super) fn whole(at: Instant) -> Instant {
    Instant::from_nanos(at.as_nanos().next_multiple_of(TTI.as_nanos()))
}
