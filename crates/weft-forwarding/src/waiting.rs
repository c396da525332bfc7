use std::net::SocketAddr;
use weft_units::Ecn;

/// Datagram that came and waits.
pub(crate) struct Waiting {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) datagram: Vec<u8>,
}
