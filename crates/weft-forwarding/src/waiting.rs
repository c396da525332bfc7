use weft_units::{Ecn, FiveTuple};

/// Datagram that has arrived and waits.
pub(crate) struct Waiting {
    pub(crate) tuple: FiveTuple,
    pub(crate) ecn: Ecn,
    pub(crate) datagram: Vec<u8>,
}
