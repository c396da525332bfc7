//! Outgoing packets, from the paths' queues to the wire.

use weft_units::{Bytes, Instant, PathId, StreamId};
use weft_wire::media::SharedBytes;
use weft_wire::rtp::{ExtensionMap, Extensions, Header};
use weft_wire::rtx;

use super::Session;
use crate::config::{Feedback, Level};
use crate::event::{Output, Protocol, Transmit};
use crate::path::{Carried, Content, Purpose, Waiting};
use crate::send::{Copies, Payload, Receipt, Stored, Transmission};

/// Method by which a packet is copied to other paths.
///
/// A number that does not belong to a path is reported if any copy arrived, so it would
/// hide the loss on another path. If paths have no numbers of their own, copies are
/// therefore retransmissions with separate numbers, or none of them has a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Copying {
    None,
    SameBytes,
    SameBytesUnnumbered,
    Again,
}

impl Copying {
    fn of(level: Level, copies: &[PathId], has_rtx: bool) -> Copying {
        match (level, has_rtx) {
            _ if copies.is_empty() => Copying::None,
            (Level::SenderSide, true) => Copying::Again,
            (Level::SenderSide, false) => Copying::SameBytesUnnumbered,
            (Level::Full | Level::Single, _) => Copying::SameBytes,
        }
    }

    fn has_number(self) -> bool {
        self != Copying::SameBytesUnnumbered
    }

    fn copies(self) -> Copies {
        match self {
            Copying::None => Copies::None,
            Copying::SameBytes | Copying::SameBytesUnnumbered | Copying::Again => Copies::Elsewhere,
        }
    }
}

/// Writes a packet with the content of `stored` for this purpose. Returns the shared part
/// of the payload, which follows without being copied.
fn write(
    header: &Header,
    map: &ExtensionMap,
    waiting: &Waiting,
    stored: &Stored,
    out: &mut Vec<u8>,
) -> SharedBytes {
    if waiting.purpose == Purpose::Padding {
        header.write_padding(map, out);
        return SharedBytes::default();
    }
    header.write_with_dependency(map, &stored.dependency, out);
    let (own, rest) = match &stored.payload {
        Payload::Forwarded(payload) => (payload.prefix.octets(), payload.body.clone()),
        payload => (payload.parts()[0], SharedBytes::default()),
    };
    match waiting.purpose {
        Purpose::Retransmission | Purpose::Copy => rtx::write(waiting.sequence as u16, own, out),
        Purpose::Audio | Purpose::Video | Purpose::Repair | Purpose::Padding => {
            out.extend_from_slice(own);
        }
    }
    rest
}

impl Session {
    pub(super) fn transmit(&mut self, now: Instant, id: PathId, waiting: Waiting) {
        let Some(stream) = self.streams.senders.get(&waiting.stream) else {
            return;
        };
        let has_rtx = stream.config.retransmission.rtx().is_some();
        match waiting.purpose {
            Purpose::Repair => self.transmit_repair(now, id, &waiting),
            Purpose::Retransmission | Purpose::Copy if !has_rtx => self.repeat(now, id, waiting),
            _ => self.transmit_media(now, id, waiting, has_rtx),
        }
    }

    /// Sends a packet for the first time, as RTX, or as padding.
    fn transmit_media(&mut self, now: Instant, id: PathId, waiting: Waiting, has_rtx: bool) {
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        let Some(stream) = self.streams.senders.get_mut(&waiting.stream) else {
            return;
        };
        let again = matches!(waiting.purpose, Purpose::Retransmission | Purpose::Copy);
        let is_copy = waiting.purpose == Purpose::Copy;
        let is_padding = waiting.purpose == Purpose::Padding;
        let Some(packet) = stream.get_mut(waiting.sequence) else {
            return;
        };
        if is_copy && packet.receipt != Receipt::None {
            return;
        }
        if again && packet.payload.is_empty() {
            // The packet has arrived after all.
            packet.queued_again &= is_copy;
            return;
        }
        let audio_level = packet.audio_level;
        let (ssrc, payload_type, sequence) = stream.wire_numbers(again, waiting.sequence);
        let copying = Copying::of(self.level, &waiting.copies, has_rtx);
        let numbered = stream.config.feedback == Feedback::EachPacket && copying.has_number();
        let numbers = numbered.then(|| {
            let by = (self.level, self.config.feedback_format);
            self.feedback.numbers.assign(by, path, ssrc, sequence)
        });
        let (number, extensions) = numbers.flatten().unzip();
        let (media, repair) = match ssrc == stream.config.ssrc {
            true => (stream.config.rid, None),
            false => (None, stream.config.rid),
        };
        let extensions = Extensions {
            mid: stream.config.mid,
            audio_level,
            rid: media,
            repaired_rid: repair,
            ..extensions.unwrap_or_default()
        };
        let Some(packet) = stream.get_mut(waiting.sequence) else {
            return;
        };
        let header = Header {
            marker: packet.marker,
            payload_type,
            sequence,
            timestamp: packet.timestamp,
            ssrc,
            extensions,
        };
        // Room for the SRTP tag (16 bytes), so that encryption works in place.
        let room = packet.payload.len() + packet.dependency.len() + crate::send::HEADROOM + 32;
        let mut bytes = self.buffers.take(room);
        let rest = write(
            &header,
            &self.config.extensions,
            &waiting,
            packet,
            &mut bytes,
        );
        let size = Bytes((bytes.len() + rest.len()) as u64);
        packet.queued_again &= is_copy;
        packet.note_sent(now);
        packet.last = Some(Transmission {
            path: id,
            number,
            at: now,
            copies: copying.copies(),
        });
        let carried = Carried {
            stream: waiting.stream,
            sequence: waiting.sequence,
            content: match again {
                true => Content::Again,
                false => Content::Media,
            },
        };
        let ecn = match number {
            Some(_) => path.on_sent(now, size, carried),
            None => path.on_unreported_sent(now, size),
        };
        stream.counters.media += u64::from(!again && !is_padding);
        stream.counters.packets = stream.counters.packets.wrapping_add(1);
        stream.counters.octets = stream.counters.octets.wrapping_add(size.0 as u32);
        let transmit = Transmit {
            path: id,
            ecn,
            copies: Vec::new(),
            packet: bytes,
            rest,
            protocol: Protocol::Rtp,
            retention: stream.config.retransmission.into(),
        };
        self.emit(now, transmit, waiting, copying);
    }

    /// Outputs a packet and its copies.
    fn emit(&mut self, now: Instant, mut transmit: Transmit, waiting: Waiting, copying: Copying) {
        let size = transmit.size();
        if let Copying::SameBytes | Copying::SameBytesUnnumbered = copying {
            transmit.copies = self.live_copies(now, &waiting.copies, size);
        }
        let times = 1 + transmit.copies.len();
        self.spend(now, size, times, Some(&waiting));
        self.outputs.push_back(Output::Transmit(transmit));
        if copying == Copying::Again {
            for copy in waiting.copies {
                if self.paths.get(&copy).is_some_and(|p| p.may_carry(now)) {
                    self.transmit_again(now, copy, waiting.stream, waiting.sequence);
                }
            }
        }
    }

    /// Sends a packet as RTX on this path immediately.
    pub(super) fn transmit_again(
        &mut self,
        now: Instant,
        path: PathId,
        stream: StreamId,
        sequence: u64,
    ) {
        let waiting = Waiting {
            stream,
            sequence,
            purpose: Purpose::Retransmission,
            size: Bytes::ZERO,
            copies: Vec::new(),
        };
        self.transmit(now, path, waiting);
    }
}
