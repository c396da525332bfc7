//! Order for a transmission, and report on it.

use weft_units::Duration;

/// Number of frames in a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::medium::wifi) enum Frames {
    /// All waiting frames, up to the limit.
    AsMayBe,
    /// A single frame, for a trial.
    One,
}

/// Outcome of a transmission.
#[derive(Clone, Copy)]
pub(in crate::medium::wifi) struct Report {
    pub option: usize,
    pub sent: u32,
    /// Frames that were received and acknowledged.
    pub received: u32,
}

/// Maximum age of the signal that `ideal` knows, and Minstrel's update interval
/// (minstrel_ht in Linux).
pub(super) const PERIOD: Duration = Duration::from_millis(50);
