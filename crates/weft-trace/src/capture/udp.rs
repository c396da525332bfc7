//! UDP datagrams within captured frames.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::LinkType;
use crate::pcapng::Direction;

const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const RAW: u16 = 101;
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const IPV4: u16 = 228;
const IPV6: u16 = 229;
const LINUX_SLL2: u16 = 276;

const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86DD;
/// VLAN tags: IEEE 802.1Q and 802.1ad.
const TAGS: [u16; 2] = [0x8100, 0x88A8];
/// Packet type of Linux cooked captures: sent by this machine.
const SLL_OUTGOING: u16 = 4;
const UDP: u8 = 17;
const UDP_HEADER: usize = 8;

/// UDP datagram of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedDatagram<'a> {
    /// Sender.
    pub from: SocketAddr,
    /// Receiver.
    pub to: SocketAddr,
    /// Bytes of the IP packet on the wire.
    pub ip_length: usize,
    /// Bytes of the content on the wire.
    pub length: usize,
    /// Bytes of the content that were kept.
    pub content: &'a [u8],
    /// Direction, if the link's header says so.
    pub direction: Option<Direction>,
}

impl LinkType {
    /// Whether [`parse`] understands its frames.
    #[must_use]
    pub fn is_known(self) -> bool {
        [NULL, ETHERNET, RAW, LOOP, LINUX_SLL, IPV4, IPV6, LINUX_SLL2].contains(&self.0)
    }
}

/// Returns the datagram of a frame; `None` for others, and for fragments after the first.
#[must_use]
pub fn parse(link_type: LinkType, frame: &[u8]) -> Option<CapturedDatagram<'_>> {
    let (packet, direction) = network(link_type, frame)?;
    let datagram = match packet.first()? >> 4 {
        4 => v4(packet),
        6 => v6(packet),
        _ => None,
    };
    datagram.map(|datagram| CapturedDatagram {
        direction,
        ..datagram
    })
}

/// Returns the IP packet of a frame.
fn network(link_type: LinkType, frame: &[u8]) -> Option<(&[u8], Option<Direction>)> {
    let without = |packet: Option<_>| packet.map(|packet| (packet, None));
    match link_type.0 {
        RAW | IPV4 | IPV6 => Some((frame, None)),
        // Skips the family, which differs between systems; the packet contains it too.
        NULL | LOOP => without(frame.get(4..)),
        ETHERNET => {
            let mut at = 12;
            while TAGS.contains(&u16_at(frame, at)?) {
                at += 4;
            }
            let is_ip = [TYPE_IPV4, TYPE_IPV6].contains(&u16_at(frame, at)?);
            without(frame.get(at + 2..).filter(|_| is_ip))
        }
        LINUX_SLL => cooked(frame, (u16_at(frame, 0)?, 14, 16)),
        LINUX_SLL2 => cooked(frame, (u16::from(*frame.get(10)?), 0, 20)),
        _ => None,
    }
}

/// Returns the packet of a Linux cooked frame with this packet type, and the positions of
/// its protocol and its content.
fn cooked(
    frame: &[u8],
    (kind, protocol, content): (u16, usize, usize),
) -> Option<(&[u8], Option<Direction>)> {
    if ![TYPE_IPV4, TYPE_IPV6].contains(&u16_at(frame, protocol)?) {
        return None;
    }
    let direction = match kind {
        SLL_OUTGOING => Direction::Outbound,
        _ => Direction::Inbound,
    };
    Some((frame.get(content..)?, Some(direction)))
}

fn v4(packet: &[u8]) -> Option<CapturedDatagram<'_>> {
    let header = usize::from(packet.first()? & 0x0F) * 4;
    let total = usize::from(u16_at(packet, 2)?);
    // A fragment after the first has no UDP header.
    let is_first = u16_at(packet, 6)? & 0x1FFF == 0;
    if header < 20 || *packet.get(9)? != UDP || !is_first {
        return None;
    }
    let ip = |at: usize| {
        let bytes = packet.get(at..)?.first_chunk::<4>()?;
        Some(IpAddr::V4(Ipv4Addr::from(*bytes)))
    };
    // With offloading, the length is 0 and the network card fills it in.
    let end = if total == 0 { packet.len() } else { total };
    datagram(packet, header, end, (ip(12)?, ip(16)?))
}

fn v6(packet: &[u8]) -> Option<CapturedDatagram<'_>> {
    const HEADER: usize = 40;
    let ip = |at: usize| {
        let bytes = packet.get(at..)?.first_chunk::<16>()?;
        Some(IpAddr::V6(Ipv6Addr::from(*bytes)))
    };
    // WebRTC packets have no extension headers.
    if *packet.get(6)? != UDP {
        return None;
    }
    let end = HEADER + usize::from(u16_at(packet, 4)?);
    datagram(packet, HEADER, end, (ip(8)?, ip(24)?))
}

/// Parses the UDP header at `at` in an IP packet that ends at `end` on the wire.
fn datagram(
    packet: &[u8],
    at: usize,
    end: usize,
    (from, to): (IpAddr, IpAddr),
) -> Option<CapturedDatagram<'_>> {
    let length = usize::from(u16_at(packet, at + 4)?).checked_sub(UDP_HEADER)?;
    let content = at + UDP_HEADER;
    let kept = packet.get(content..)?;
    Some(CapturedDatagram {
        from: SocketAddr::new(from, u16_at(packet, at)?),
        to: SocketAddr::new(to, u16_at(packet, at + 2)?),
        ip_length: end.max(content),
        length,
        content: &kept[..kept.len().min(length)],
        direction: None,
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk::<2>()?;
    Some(u16::from_be_bytes(*bytes))
}
