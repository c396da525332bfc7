use weft_units::{Ecn, Instant};

/// Arrival time and ECN field of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub at: Instant,
    pub ecn: Ecn,
}
