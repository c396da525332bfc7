use weft_units::{Ecn, Instant};

/// When and how a packet arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrival {
    pub at: Instant,
    pub ecn: Ecn,
}
