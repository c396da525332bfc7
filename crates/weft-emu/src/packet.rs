//! Reading and rewriting of IP packets by the mover.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use weft_links::FlowId;
use weft_units::Ecn;

/// IPv4 header without options (RFC 791 section 3.1).
const V4_HEADER: usize = 20;
/// IPv6 header (RFC 8200 section 3).
const V6_HEADER: usize = 40;
pub(crate) const TCP: u8 = 6;
const UDP: u8 = 17;

/// Header fields that the mover uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub ecn: Ecn,
    /// Protocol number of the IP header: 6 TCP, 17 UDP.
    pub protocol: u8,
    /// Source and destination port of TCP and UDP; zero for other protocols and for
    /// fragments without ports.
    pub ports: (u16, u16),
}

impl Header {
    /// Header of an empty buffer.
    pub const NONE: Header = Header {
        source: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        destination: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        ecn: Ecn::NotEct,
        protocol: 0,
        ports: (0, 0),
    };

    /// Parses a header; `None` if it is not a complete IP header.
    pub fn of(packet: &[u8]) -> Option<Header> {
        match packet.first()? >> 4 {
            4 => Header::v4(packet),
            6 => Header::v6(packet),
            _ => None,
        }
    }

    fn v4(packet: &[u8]) -> Option<Header> {
        let header: &[u8; V4_HEADER] = packet.first_chunk()?;
        let address = |at| {
            let bytes: [u8; 4] = *header[at..].first_chunk()?;
            Some(IpAddr::from(Ipv4Addr::from(bytes)))
        };
        let is_first = u16::from_be_bytes([header[6], header[7]]) & 0x1fff == 0;
        let transport = packet.get(transport_at(packet)..).filter(|_| is_first);
        Some(Header {
            source: address(12)?,
            destination: address(16)?,
            ecn: Ecn::from_bits(header[1]),
            protocol: header[9],
            ports: ports(header[9], transport),
        })
    }

    fn v6(packet: &[u8]) -> Option<Header> {
        let header: &[u8; V6_HEADER] = packet.first_chunk()?;
        let address = |at| {
            let bytes: [u8; 16] = *header[at..].first_chunk()?;
            Some(IpAddr::from(Ipv6Addr::from(bytes)))
        };
        Some(Header {
            source: address(8)?,
            destination: address(24)?,
            ecn: Ecn::from_bits(header[1] >> 4),
            protocol: header[6],
            ports: ports(header[6], packet.get(transport_at(packet)..)),
        })
    }

    /// Identifies the packet's flow as routers do: FNV-1a over addresses, protocol and
    /// ports.
    pub fn flow(&self) -> FlowId {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut mix = |bytes: &[u8]| {
            for byte in bytes {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for address in [self.source, self.destination] {
            match address {
                IpAddr::V4(address) => mix(&address.octets()),
                IpAddr::V6(address) => mix(&address.octets()),
            }
        }
        mix(&[self.protocol]);
        mix(&self.ports.0.to_be_bytes());
        mix(&self.ports.1.to_be_bytes());
        FlowId(hash)
    }
}

/// Writes the ECN field of a packet that [`Header::of`] can read. Updates the checksum of
/// an IPv4 header (RFC 1624 equation 3).
pub(crate) fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    if packet[0] >> 4 == 6 {
        packet[1] = packet[1] & !0x30 | ecn.bits() << 4;
        return;
    }
    let word = [packet[0], packet[1] & !0b11 | ecn.bits()];
    replace_word(packet, 0, word, 10);
}

/// Replaces the 16 bits at `at`, and updates the checksum at `checksum_at` (RFC 1624
/// equation 3). Both are within the packet.
pub(crate) fn replace_word(packet: &mut [u8], at: usize, word: [u8; 2], checksum_at: usize) {
    let read =
        |packet: &[u8], at: usize| u32::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    let before = read(packet, at);
    packet[at..at + 2].copy_from_slice(&word);
    let mut sum = (read(packet, checksum_at) ^ 0xffff) + (before ^ 0xffff) + read(packet, at);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[checksum_at..checksum_at + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// Returns the position of the header after the IP header; IPv6 without extensions.
pub(crate) fn transport_at(packet: &[u8]) -> usize {
    match packet[0] >> 4 {
        4 => usize::from(packet[0] & 15) * 4,
        _ => V6_HEADER,
    }
}

fn ports(protocol: u8, transport: Option<&[u8]>) -> (u16, u16) {
    match (protocol, transport) {
        (TCP | UDP, Some([a, b, c, d, ..])) => {
            (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]))
        }
        _ => (0, 0),
    }
}

#[cfg(test)]
pub(crate) mod tests;
