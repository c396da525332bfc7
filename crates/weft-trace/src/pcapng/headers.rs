//! IP and UDP headers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Datagram;

const UDP: usize = 8;
/// Protocol number of UDP in IP headers.
const PROTOCOL: u8 = 17;
/// Time to live, or hop limit. Chosen by us; the real value is unknown here.
const HOPS: u8 = 64;

/// Returns the headers of a datagram, with their checksums.
///
/// # Errors
/// If the addresses are of different families, or the datagram is too long.
pub fn of(datagram: &Datagram<'_>) -> io::Result<Vec<u8>> {
    let bad = |what| io::Error::new(io::ErrorKind::InvalidInput, what);
    let length = u16::try_from(UDP + datagram.content.len());
    let length = length.map_err(|_| bad("a datagram is longer than UDP permits"))?;
    let mut udp = Vec::with_capacity(UDP);
    udp.extend(datagram.from.port().to_be_bytes());
    udp.extend(datagram.to.port().to_be_bytes());
    udp.extend(length.to_be_bytes());
    let (mut headers, addresses) = match (datagram.from.ip(), datagram.to.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let addresses = [from.octets(), to.octets()].concat();
            (
                v4(length, from, to).ok_or_else(|| bad("a datagram is longer than IP permits"))?,
                addresses,
            )
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let addresses = [from.octets(), to.octets()].concat();
            (v6(length, from, to), addresses)
        }
        _ => return Err(bad("a datagram from IPv4 to IPv6, or from IPv6 to IPv4")),
    };
    // RFC 768: the checksum covers addresses, protocol and length; a checksum of zero is
    // sent as all ones.
    let pseudo = u32::from(PROTOCOL) + u32::from(length);
    let sum = pseudo + words(&addresses) + words(&udp) + words(datagram.content);
    let checksum = match folded(sum) {
        0 => u16::MAX,
        sum => sum,
    };
    udp.extend(checksum.to_be_bytes());
    headers.extend(udp);
    Ok(headers)
}

/// Returns a header without options (RFC 791).
fn v4(udp_length: u16, from: Ipv4Addr, to: Ipv4Addr) -> Option<Vec<u8>> {
    const LENGTH: u16 = 20;
    let mut header = vec![0x45, 0];
    header.extend(udp_length.checked_add(LENGTH)?.to_be_bytes());
    header.extend([0, 0, 0, 0, HOPS, PROTOCOL, 0, 0]);
    header.extend(from.octets());
    header.extend(to.octets());
    let checksum = folded(words(&header)).to_be_bytes();
    header[10..12].copy_from_slice(&checksum);
    Some(header)
}

/// Returns a header without extensions (RFC 8200).
fn v6(udp_length: u16, from: Ipv6Addr, to: Ipv6Addr) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0];
    header.extend(udp_length.to_be_bytes());
    header.extend([PROTOCOL, HOPS]);
    header.extend(from.octets());
    header.extend(to.octets());
    header
}

/// Returns the sum of the 16-bit words; at most 2^15 words fit a datagram, so it does not
/// overflow.
fn words(bytes: &[u8]) -> u32 {
    let pairs = bytes.chunks(2);
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u32::from(*low));
    pairs.map(word).sum()
}

/// Returns the complement of the ones' complement sum (RFC 1071).
fn folded(mut sum: u32) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
