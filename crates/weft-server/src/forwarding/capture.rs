//! Capture of all packets of a plane, without protection.

use std::sync::Arc;

use weft_forwarding::{Publisher, Purpose};
use weft_peer::{CapturedPacket, PacketWay};
use weft_trace::live::{Packet, Tracer};
use weft_trace::pcapng::Direction;
use weft_units::Duration;

/// Sender of a plane's packets to the capture file.
pub(super) struct Capture {
    tracer: Tracer,
}

impl Capture {
    pub(super) fn new(tracer: Tracer) -> Capture {
        Capture { tracer }
    }

    /// Captures a packet at a time since 1970. The interface has the name of the
    /// connection: its room, participant and purpose.
    pub(super) fn add(
        &self,
        at: Duration,
        owner: Option<(&Publisher, Purpose)>,
        captured: CapturedPacket,
    ) {
        // The connection has been closed in the meantime.
        let Some((owner, purpose)) = owner else {
            return;
        };
        let Publisher { room, participant } = owner;
        let interface = format!("{room}/{participant} {}", purpose.name());
        let tuple = captured.tuple;
        let (direction, from, to) = match captured.way {
            PacketWay::Sent => (Direction::Outbound, tuple.local, tuple.remote),
            PacketWay::Received => (Direction::Inbound, tuple.remote, tuple.local),
        };
        self.tracer.packet(Packet {
            interface: Arc::from(interface),
            at,
            direction,
            from,
            to,
            content: captured.packet,
        });
    }
}
