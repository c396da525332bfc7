use std::fmt;
use std::net::SocketAddr;

crate::named! {
    /// Transport protocol between two addresses.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
    pub enum Transport: "transport" {
        /// UDP, also between a TURN server and the peer.
        Udp = "udp",
        /// TCP connection that the peer opened (RFC 6544), with the length in front of each
        /// datagram (RFC 4571).
        Tcp = "tcp",
    }
}

/// Transport protocol and addresses of both ends (5-tuple, RFC 8489 section 3): identifies a
/// socket, the peer's end, and their exchange.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FiveTuple {
    /// Address of the peer; the first field, because comparisons then end here most often.
    pub remote: SocketAddr,
    /// Address of our socket.
    pub local: SocketAddr,
    /// Transport protocol.
    pub transport: Transport,
}

impl FiveTuple {
    /// Addresses of datagrams over UDP.
    #[must_use]
    pub fn udp(local: SocketAddr, remote: SocketAddr) -> FiveTuple {
        FiveTuple {
            transport: Transport::Udp,
            local,
            remote,
        }
    }

    /// Addresses of a TCP connection.
    #[must_use]
    pub fn tcp(local: SocketAddr, remote: SocketAddr) -> FiveTuple {
        FiveTuple {
            transport: Transport::Tcp,
            local,
            remote,
        }
    }

    /// Addresses as the other end sees them.
    #[must_use]
    pub fn reversed(self) -> FiveTuple {
        FiveTuple {
            transport: self.transport,
            local: self.remote,
            remote: self.local,
        }
    }
}

impl fmt::Display for FiveTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.local, self.remote)?;
        match self.transport {
            Transport::Udp => Ok(()),
            Transport::Tcp => f.write_str(" over TCP"),
        }
    }
}
