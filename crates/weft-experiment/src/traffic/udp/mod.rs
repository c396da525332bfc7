//! Packets of one size at a constant rate.

use weft_units::{Bytes, Rate};

use super::Traffic;

/// Packets of one size at a constant rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpSetup {
    /// Rate on the link, IP and UDP headers included.
    pub rate: Rate,
    /// Size of a packet on the link. Default 1500 bytes.
    pub packet: Bytes,
}

impl UdpSetup {
    /// Creates a flow of packets of 1500 bytes at this rate.
    #[must_use]
    pub fn new(rate: Rate) -> UdpSetup {
        UdpSetup {
            rate,
            packet: Bytes(1500),
        }
    }
}

impl Traffic for UdpSetup {
    fn wrong(&self) -> Option<&'static str> {
        // At least the IPv4 and UDP headers, at most the 16-bit length.
        if !(28..=65_535).contains(&self.packet.0) {
            return Some("UDP packets have 28 to 65,535 bytes, headers included");
        }
        (self.rate == Rate::ZERO).then_some("give it a rate above zero")
    }

    fn words(&self) -> String {
        format!(
            "UDP {} Mbit/s, packets of {} B",
            self.rate.as_mbps(),
            self.packet.0
        )
    }
}
