//! What is asked of a transmission, and what is heard of it.

use weft_units::Duration;

/// How many frames go out together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::medium::wifi) enum Frames {
    /// As many as there are and may.
    AsMayBe,
    /// To try a rate.
    One,
}

/// What became of a transmission.
#[derive(Clone, Copy)]
pub(in crate::medium::wifi) struct Report {
    pub option: usize,
    pub sent: u32,
    /// Of these, received and acknowledged.
    pub received: u32,
}

/// How old what `ideal` knows of the signal is at most, and how often Minstrel
/// draws its conclusions (minstrel_ht in Linux).
pub(super) const PERIOD: Duration = Duration::from_millis(50);
