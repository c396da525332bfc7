//! Packets of calls as an observer sees them: at the sender, and at the receiver.

use weft_session::Protocol;
use weft_units::Instant;

use crate::packet::LegId;

/// Packet of a call, as bytes without protection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapturedPacket<'a> {
    /// Time in the run.
    pub at: Instant,
    /// Position of the flow in the setup.
    pub flow: usize,
    /// Position of the route among the routes of the flow.
    pub route: usize,
    /// Direction.
    pub way: Way,
    /// End of the route. A lost packet is never seen at the receiver.
    pub seen: Seen,
    /// RTP or RTCP.
    pub protocol: Protocol,
    /// Bytes of the packet, without UDP and IP headers.
    pub bytes: &'a [u8],
}

/// Direction on a route.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Way {
    /// From the source to the sink.
    There,
    /// From the sink to the source.
    Back,
}

/// Place of a capture.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Seen {
    /// Where the packet is sent.
    AtSender,
    /// Where it arrives.
    AtReceiver,
}

/// Packets that were captured during one event of the run, if the observer wants them.
#[derive(Default)]
pub(crate) struct Captured {
    /// Whether the observer wants them.
    pub is_wanted: bool,
    packets: Vec<Entry>,
    bytes: Vec<u8>,
}

struct Entry {
    leg: LegId,
    seen: Seen,
    protocol: Protocol,
    end: usize,
}

impl Captured {
    pub fn add(&mut self, leg: LegId, seen: Seen, protocol: Protocol, bytes: &[u8]) {
        if !self.is_wanted {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        self.packets.push(Entry {
            leg,
            seen,
            protocol,
            end,
        });
    }

    /// Calls `each` for every packet since the last call, in order.
    pub fn drain(&mut self, mut each: impl FnMut(LegId, Seen, Protocol, &[u8])) {
        let mut begin = 0;
        for entry in self.packets.drain(..) {
            let bytes = &self.bytes[begin..entry.end];
            begin = entry.end;
            each(entry.leg, entry.seen, entry.protocol, bytes);
        }
        self.bytes.clear();
    }
}
