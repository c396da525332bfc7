//! Selection of the address that libnice sends to, as in its agent/conncheck.c.

use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Host candidate of the first link in an offer (RFC 8445 section 5.1.2.1).
const DESCRIBED: u32 = 110 << 24 | 65_535 << 8 | 255;
const PRIORITY: u16 = 0x0024;
const USE_CANDIDATE: u16 = 0x0025;

/// Controlled agent with one address: the priority of a pair is that of the other side's
/// candidate.
#[derive(Default)]
pub struct Libnice {
    /// Priorities of candidates, as first learned.
    known: BTreeMap<SocketAddr, u32>,
    selected: Option<(u32, SocketAddr)>,
}

impl Libnice {
    /// Creates the agent with the candidates of an offer, in its order.
    pub fn new(described: impl IntoIterator<Item = SocketAddr>) -> Libnice {
        let priorities = (0..).map(|index| DESCRIBED - (index << 8));
        Libnice {
            known: described.into_iter().zip(priorities).collect(),
            selected: None,
        }
    }

    pub fn selected(&self) -> Option<SocketAddr> {
        self.selected.map(|(_, address)| address)
    }

    /// Handles a check with a nomination.
    pub fn on_datagram(&mut self, from: SocketAddr, datagram: &[u8]) {
        if datagram[..2] != [0, 1] {
            return;
        }
        let priority = attribute(datagram, PRIORITY).expect("a check has a priority");
        let priority = u32::from_be_bytes(priority.try_into().expect("four bytes"));
        let priority = *self.known.entry(from).or_insert(priority);
        let is_higher = self.selected.is_none_or(|(least, _)| priority > least);
        if attribute(datagram, USE_CANDIDATE).is_some() && is_higher {
            self.selected = Some((priority, from));
        }
    }
}

/// Value of an attribute of a STUN message.
fn attribute(message: &[u8], kind: u16) -> Option<&[u8]> {
    let mut rest = &message[20..];
    while rest.len() >= 4 {
        let length = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        if rest[..2] == kind.to_be_bytes() {
            return Some(&rest[4..4 + length]);
        }
        rest = &rest[4 + length.next_multiple_of(4)..];
    }
    None
}
