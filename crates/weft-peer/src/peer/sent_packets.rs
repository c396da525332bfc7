//! Stored packets: unprotected ones for capture, and those that may be sent again.

use weft_session::{Protocol, Repeat, RepeatStore, Retention, Transmit};
use weft_units::{FiveTuple, Instant, PathId};
use weft_wire::rtp;

/// RTP or RTCP packet that a peer sent or received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedPacket {
    /// Path of the packet.
    pub path: PathId,
    /// Addresses of the path.
    pub tuple: FiveTuple,
    /// Direction.
    pub way: PacketWay,
    /// RTP or RTCP.
    pub protocol: Protocol,
    /// Bytes without encryption and authentication.
    pub packet: Vec<u8>,
}

/// Direction of a captured packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PacketWay {
    /// This peer sent it. The link may still lose it.
    Sent,
    /// This peer received it.
    Received,
}

/// Packets that may have to be sent again.
#[derive(Default)]
pub(super) struct SentPackets {
    /// Protected packets.
    pub protected: RepeatStore,
    /// Unprotected packets; `None` if packets are not captured.
    plain: Option<RepeatStore>,
}

impl SentPackets {
    /// Returns a sent packet in one piece, if packets are captured.
    pub fn plain(&mut self, now: Instant, transmit: &Transmit) -> Option<Vec<u8>> {
        let plain = self.plain.as_mut()?;
        let packet = [&transmit.packet[..], &transmit.rest].concat();
        if transmit.retention == Retention::Repeatable
            && let Ok(header) = rtp::peek(&packet)
        {
            plain.insert(now, header.ssrc, header.sequence, &packet);
        }
        Some(packet)
    }

    /// Returns a packet that is sent again, if packets are captured.
    pub fn plain_again(&self, repeat: &Repeat) -> Option<Vec<u8>> {
        let packet = self.plain.as_ref()?.get(repeat.ssrc, repeat.sequence)?;
        Some(packet.to_vec())
    }

    /// Returns a received packet, if packets are captured.
    pub fn received(
        &self,
        (path, tuple): (PathId, FiveTuple),
        protocol: Protocol,
        packet: &[u8],
    ) -> Option<Box<CapturedPacket>> {
        self.plain.as_ref()?;
        Some(Box::new(CapturedPacket {
            path,
            tuple,
            way: PacketWay::Received,
            protocol,
            packet: packet.to_vec(),
        }))
    }

    /// Captures packets from now on.
    pub fn begin_capture(&mut self) {
        self.plain.get_or_insert_default();
    }
}
