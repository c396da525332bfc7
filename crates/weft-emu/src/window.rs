//! Limits of TCP's receive windows. An experiment sets the limit of its connections;
//! kernels choose it by memory.

use crate::packet::{Header, TCP, replace_word, transport_at};
use std::collections::BTreeMap;
use std::net::IpAddr;
use weft_units::Bytes;

/// Position of the data offset in a TCP header (RFC 9293 section 3.1).
const DATA_OFFSET: usize = 12;
const FLAGS: usize = 13;
const WINDOW: usize = 14;
const CHECKSUM: usize = 16;
/// Size of a TCP header without options.
const HEADER: usize = 20;
const SYN: u8 = 0x02;
/// Kinds of options (RFC 9293 section 3.2, RFC 7323 section 2.2).
const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const WINDOW_SCALE: u8 = 3;
/// The largest valid window scale (RFC 7323 section 2.3).
const MOST_SCALE: u8 = 14;

/// Limit of the receive windows of a host's connections.
pub(crate) struct ReceiveWindow {
    limit: Bytes,
    /// Window scales that the host offered at the start of each connection.
    scales: BTreeMap<Connection, u8>,
}

/// The other end's address, and the local and remote port.
type Connection = (IpAddr, (u16, u16));

impl ReceiveWindow {
    pub fn new(limit: Bytes) -> ReceiveWindow {
        ReceiveWindow {
            limit,
            scales: BTreeMap::new(),
        }
    }

    /// Reduces the window of a segment that the host sends if it is larger than the
    /// limit. Does not change other protocols, or connections whose start was not seen.
    pub fn apply(&mut self, header: &Header, packet: &mut [u8]) {
        if header.protocol != TCP || header.ports == (0, 0) {
            return;
        }
        let at = transport_at(packet);
        let Some(segment) = packet.get(at..).filter(|s| s.len() >= HEADER) else {
            return;
        };
        let connection = (header.destination, header.ports);
        if segment[FLAGS] & SYN != 0 {
            // The window of a SYN is not scaled yet, and is at most 64 kB.
            self.scales.insert(connection, scale(segment));
            return;
        }
        let Some(scale) = self.scales.get(&connection) else {
            return;
        };
        // At least one step: a window of zero would stop the sender.
        let most = (self.limit.0 >> scale).clamp(1, u16::MAX.into()) as u16;
        if u16::from_be_bytes([segment[WINDOW], segment[WINDOW + 1]]) > most {
            replace_word(packet, at + WINDOW, most.to_be_bytes(), at + CHECKSUM);
        }
    }
}

/// Returns the window scale that a SYN offers; 0 without one.
fn scale(segment: &[u8]) -> u8 {
    let end = usize::from(segment[DATA_OFFSET] >> 4) * 4;
    let mut options = segment.get(HEADER..end).unwrap_or_default();
    loop {
        options = match *options {
            [] | [END, ..] => return 0,
            [NO_OPERATION, ref rest @ ..] => rest,
            [WINDOW_SCALE, 3, scale, ..] => return scale.min(MOST_SCALE),
            [_, length, ..] => options
                .get(usize::from(length).max(2)..)
                .unwrap_or_default(),
            [_] => return 0,
        };
    }
}

#[cfg(test)]
mod tests;
