//! Capture of packets without protection, for programs that show them.

use weft_session::Protocol;
use weft_units::PathId;

use super::sent_packets::{CapturedPacket, PacketWay};
use super::{Event, Output, Peer};

impl Peer {
    /// Reports every RTP and RTCP packet from now on as [`Event::Packet`], including
    /// copies and retransmissions, but not checks, the handshake or data channels. Each
    /// event costs a copy of the packet.
    pub fn capture_packets(&mut self) {
        self.sent.begin_capture();
    }

    /// Reports a packet on each of its paths.
    pub(super) fn capture_sent(
        &mut self,
        protocol: Protocol,
        paths: impl Iterator<Item = PathId>,
        packet: &[u8],
    ) {
        for path in paths {
            let Some(tuple) = self.association.path(path).map(|path| path.tuple) else {
                continue;
            };
            let event = Event::Packet(Box::new(CapturedPacket {
                path,
                tuple,
                way: PacketWay::Sent,
                protocol,
                packet: packet.to_vec(),
            }));
            self.outputs.push_back(Output::Event(event));
        }
    }
}
