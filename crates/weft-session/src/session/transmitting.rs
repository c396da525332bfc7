//! From the paths' queues to packets on the wire.

use weft_units::{Bytes, Ecn, Instant, PathId, StreamId};
use weft_wire::rtp::{Extensions, Header};
use weft_wire::rtx;

use super::Session;
use crate::config::{Feedback, Level};
use crate::event::{Output, Protocol, Transmit};
use crate::path::{Carried, Content, Path, Purpose, Spacing, Waiting};
use crate::send::{Copies, Transmission};

/// How a packet's copies on other paths are made.
///
/// A number that is not a path's is reported whichever copy came: it would
/// speak for a path that lost it. So where paths have no numbers of their own, copies
/// are retransmissions with a number each, or none has one.
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

impl Session {
    /// Sends what the pacers let go.
    pub(super) fn transmit_due(&mut self, now: Instant) {
        let mut place = 0;
        while let Some(id) = self.paths.key_at(place) {
            self.transmit_path(now, id);
            place += 1;
        }
    }

    fn transmit_path(&mut self, now: Instant, id: PathId) {
        let spacing = match self.has_only_path() {
            true => Spacing::Spread,
            false => Spacing::Controller,
        };
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        path.refresh_pacing(now, spacing);
        loop {
            let Some(path) = self.paths.get_mut(&id) else {
                return;
            };
            if !path.may_carry(now) || path.next_send(now) > now {
                return;
            }
            if let Some(waiting) = path.queue.pop() {
                self.transmit(now, id, waiting);
            } else if self.paths.get(&id).is_some_and(|p| self.can_pad(p)) {
                if !self.send_padding(now, id) {
                    return;
                }
            } else {
                return;
            }
        }
    }

    /// Whether a probe on this path can be filled with duplicates, and anybody
    /// will tell what became of them.
    pub(super) fn can_pad(&self, path: &Path) -> bool {
        self.level != Level::Single
            && path.wants_padding()
            && self.scheduling.policies.may_pad(path.id)
            && self.padding_packet().is_some()
    }

    /// A recent video packet, to be sent again as a probe: more useful than
    /// zeros, as a receiver that lost it has it then.
    fn padding_packet(&self) -> Option<(StreamId, u64)> {
        self.streams.senders.iter().find_map(|(id, stream)| {
            stream.config.rtx?;
            Some((*id, stream.newest_sent()?))
        })
    }

    /// Sends a duplicate as RTX on this path; false if there is none to send.
    pub(super) fn send_padding(&mut self, now: Instant, path: PathId) -> bool {
        let Some((stream, sequence)) = self.padding_packet() else {
            return false;
        };
        self.transmit_again(now, path, stream, sequence);
        true
    }

    fn transmit(&mut self, now: Instant, id: PathId, waiting: Waiting) {
        if waiting.purpose == Purpose::Repair {
            self.transmit_repair(now, id, &waiting);
            return;
        }
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        let Some(stream) = self.streams.senders.get_mut(&waiting.stream) else {
            return;
        };
        let again = matches!(waiting.purpose, Purpose::Retransmission | Purpose::Copy);
        let is_copy = waiting.purpose == Purpose::Copy;
        let Some(packet) = stream.get_mut(waiting.sequence) else {
            return;
        };
        if is_copy && packet.acknowledged {
            return;
        }
        if again && packet.payload.is_empty() {
            // It has arrived after all.
            packet.queued_again &= is_copy;
            return;
        }
        let audio_level = packet.audio_level;
        let (ssrc, payload_type, sequence) = stream.wire_numbers(again, waiting.sequence);
        let copying = Copying::of(self.level, &waiting.copies, stream.config.rtx.is_some());
        let numbered = stream.config.feedback == Feedback::EachPacket && copying.has_number();
        let numbers = numbered.then(|| {
            let by = (self.level, self.config.naming);
            self.feedback.numbers.assign(by, path, ssrc, sequence)
        });
        let (number, extensions) = numbers.flatten().unzip();
        let extensions = Extensions {
            mid: stream.config.mid,
            audio_level,
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
        // Room for the SRTP tag (16 bytes), so that protection is in place.
        let room = packet.payload.len() + crate::send::HEADROOM + 32;
        let mut bytes = self.buffers.take(room);
        header.write(&self.config.extensions, &mut bytes);
        if again {
            rtx::write(waiting.sequence as u16, &packet.payload, &mut bytes);
        } else {
            bytes.extend_from_slice(&packet.payload);
        }
        let size = Bytes(bytes.len() as u64);
        packet.queued_again &= is_copy;
        packet.last = Some(Transmission {
            path: id,
            number,
            at: now,
            copies: copying.copies(),
        });
        let carried = Carried {
            stream: waiting.stream,
            sequence: waiting.sequence,
            content: Content::Media,
        };
        let ecn = match number {
            Some(_) => path.on_sent(now, size, carried),
            None => path.on_unreported_sent(now, size),
        };
        stream.counters.media += u64::from(!again);
        stream.counters.packets = stream.counters.packets.wrapping_add(1);
        stream.counters.octets = stream.counters.octets.wrapping_add(size.0 as u32);
        self.emit(now, (id, ecn), bytes, waiting, copying);
    }

    /// Hands a packet out, and its copies.
    fn emit(
        &mut self,
        now: Instant,
        (path, ecn): (PathId, Ecn),
        packet: Vec<u8>,
        waiting: Waiting,
        copying: Copying,
    ) {
        let size = Bytes(packet.len() as u64);
        let copies = match copying {
            Copying::SameBytes | Copying::SameBytesUnnumbered => {
                self.live_copies(now, &waiting.copies, size)
            }
            Copying::None | Copying::Again => Vec::new(),
        };
        self.outputs.push_back(Output::Transmit(Transmit {
            path,
            ecn,
            copies,
            packet,
            protocol: Protocol::Rtp,
        }));
        if copying == Copying::Again {
            for copy in waiting.copies {
                if self.paths.get(&copy).is_some_and(|p| p.may_carry(now)) {
                    self.transmit_again(now, copy, waiting.stream, waiting.sequence);
                }
            }
        }
    }

    /// Sends a packet as RTX on this path, without waiting.
    fn transmit_again(&mut self, now: Instant, path: PathId, stream: StreamId, sequence: u64) {
        let waiting = Waiting {
            stream,
            sequence,
            purpose: Purpose::Retransmission,
            size: Bytes::ZERO,
            copies: Vec::new(),
        };
        self.transmit(now, path, waiting);
    }

    fn live_copies(&mut self, now: Instant, wanted: &[PathId], size: Bytes) -> Vec<PathId> {
        let mut copies = Vec::new();
        for id in wanted {
            if let Some(path) = self.paths.get_mut(id).filter(|p| p.may_carry(now)) {
                path.on_copy_sent(now, size);
                copies.push(*id);
            }
        }
        copies
    }
}
