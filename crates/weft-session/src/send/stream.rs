use std::collections::VecDeque;

use weft_units::{AudioLevel, Bytes, Duration, Instant, MediaKind, PathId, Ssrc};
use weft_wire::payload::{PictureNumbers, format_of};
use weft_wire::rtcp::ReportBlock;

use super::RepairStream;
use crate::Frame;
use crate::config::{Feedback, Retransmission, SendStreamConfig};
use crate::schedule::Class;

use super::{Buffers, FrameClock, HEADROOM, Payload};

/// Transmission of a packet: its path, and its path number if feedback will name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transmission {
    pub path: PathId,
    pub number: Option<u64>,
    pub at: Instant,
    /// Whether the same bytes were also sent over other paths.
    pub copies: Copies,
}

/// Whether a transmission is the only one of its packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Copies {
    None,
    Elsewhere,
}

/// Knowledge of a packet's arrival, from feedback.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Receipt {
    None,
    /// Arrived only as RTX, and the receiver may have dropped it.
    AsRtx,
    /// Arrived.
    Arrived,
}

/// Packet kept for retransmission.
#[derive(Debug)]
pub(crate) struct Stored {
    pub timestamp: u32,
    pub marker: bool,
    pub audio_level: Option<AudioLevel>,
    /// Dependency descriptor of a forwarded packet; empty if it has none.
    pub dependency: Box<[u8]>,
    pub payload: Payload,
    /// Class of the packet at its first transmission.
    pub class: Class,
    pub created_at: Instant,
    /// Microseconds from its creation to its first transmission; 0 before that. Four
    /// bytes, because each viewer has thousands of these.
    pub waited: u32,
    /// Latest transmission.
    pub last: Option<Transmission>,
    pub receipt: Receipt,
    pub retransmissions: u8,
    /// Whether a retransmission waits in a queue.
    pub queued_again: bool,
}

#[derive(Default, Clone, Copy, Debug)]
pub(crate) struct SendCounters {
    pub packets: u32,
    /// Packets sent for the first time.
    pub media: u64,
    pub octets: u32,
    pub frames: u64,
    pub retransmissions: u64,
    pub nacked: u64,
    pub nacks_ignored: u64,
    pub keyframes_requested: u64,
}

/// Sending side of one stream.
pub(crate) struct SendStream {
    pub config: SendStreamConfig,
    pub counters: SendCounters,
    pub rtx_sequence: u16,
    /// Repair packets, if the stream has any.
    pub repair: Option<RepairStream>,
    /// RTP timestamp and time of the newest packet, for sender reports.
    pub newest: Option<(u32, Instant)>,
    pub last_keyframe_request: Option<Instant>,
    /// Measured frame rate.
    pub clock: FrameClock,
    /// Whether frames were left out because there was no path.
    pub awaits_keyframe: bool,
    /// Highest sequence number and cumulative loss of the last report block.
    reported: Option<(u32, i32)>,
    picture_id: u16,
    tl0_picture_index: u8,
    packets: VecDeque<Stored>,
    /// Whether a forwarder chooses the numbers.
    forwards: bool,
    /// Buffers for payloads.
    buffers: Buffers,
    /// Extended sequence number of the first stored packet.
    first: u64,
}

/// Age from which packets cannot help any receiver: libwebrtc keeps at least one second
/// (`kMinPacketDuration`), and our receiver looks no further back.
const MEMORY: Duration = Duration::from_millis(2000);
const MAX_STORED: usize = 4096;
/// Number of newest packets that keep their payload even after they arrived, for use as
/// padding. Chosen by us: a large frame.
const KEPT_FOR_PADDING: usize = 32;

/// Time within which keyframe requests of one stream count as one: an encoder needs a
/// frame time to answer, and each keyframe costs several frames' bytes.
const KEYFRAME_INTERVAL: Duration = Duration::from_millis(300);

impl SendStream {
    /// `first_sequence` and `picture_id` must be random (RFC 3550 section 5.1).
    pub fn new(config: SendStreamConfig, first_sequence: u16, picture_id: u16) -> SendStream {
        let is_protected =
            config.codec.kind() == MediaKind::Video && config.feedback == Feedback::EachPacket;
        let fec = config.fec.filter(|_| is_protected);
        let repair = fec.map(|fec| RepairStream::new(fec, first_sequence ^ 0x3333));
        SendStream {
            config,
            counters: SendCounters::default(),
            // Below half of the number space, as RFC 3711 section 3.3.1 requires for a
            // first number.
            rtx_sequence: (first_sequence ^ 0x5555) & 0x7fff,
            repair,
            newest: None,
            last_keyframe_request: None,
            clock: FrameClock::default(),
            awaits_keyframe: false,
            reported: None,
            picture_id: picture_id & 0x7fff,
            tl0_picture_index: 0,
            packets: VecDeque::new(),
            forwards: false,
            buffers: Buffers::default(),
            first: (1 << 16) + u64::from(first_sequence & 0x7fff),
        }
    }

    /// Returns all SSRCs of its packets.
    pub fn ssrcs(&self) -> Vec<Ssrc> {
        let rtx = self.config.retransmission.rtx().map(|(ssrc, _)| ssrc);
        let repair = self.repair.as_ref().map(|repair| repair.ssrc);
        let others = rtx.into_iter().chain(repair);
        std::iter::once(self.config.ssrc).chain(others).collect()
    }

    pub fn is_audio(&self) -> bool {
        self.config.codec.kind() == MediaKind::Audio
    }

    /// Returns the frame rate in frames per 1000 s, if this is video and the rate is
    /// known.
    pub fn frame_rate(&self) -> Option<u32> {
        let rate = self.clock.rate(self.config.codec.clock_rate());
        rate.filter(|_| !self.is_audio())
    }

    /// Returns the SSRC, payload type and sequence number of a packet, for its first
    /// transmission or for a retransmission.
    pub fn wire_numbers(&mut self, again: bool, sequence: u64) -> (Ssrc, u8, u16) {
        match (again, self.config.retransmission.rtx()) {
            (true, Some((ssrc, payload_type))) => {
                self.rtx_sequence = self.rtx_sequence.wrapping_add(1);
                (ssrc, payload_type, self.rtx_sequence)
            }
            _ => (self.config.ssrc, self.config.payload_type, sequence as u16),
        }
    }

    /// Returns the numbers of the next frame, for formats that have some.
    pub fn next_picture(&mut self, frame: &Frame<'_>) -> PictureNumbers {
        self.picture_id = (self.picture_id + 1) & 0x7fff;
        if frame.temporal_layer.unwrap_or(0) == 0 {
            self.tl0_picture_index = self.tl0_picture_index.wrapping_add(1);
        }
        PictureNumbers {
            picture_id: Some(self.picture_id),
            tl0_picture_index: frame.temporal_layer.map(|_| self.tl0_picture_index),
            temporal_layer: frame.temporal_layer,
            layer_sync: frame.layer_sync,
            switching_up: false,
            non_reference: frame.non_reference,
        }
    }

    pub fn next_sequence(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Splits a frame into packets and stores them under the next sequence numbers, which
    /// it returns.
    pub fn store_frame(
        &mut self,
        now: Instant,
        frame: &Frame<'_>,
        class: Class,
        max_payload: usize,
    ) -> Vec<u64> {
        let numbers = self.next_picture(frame);
        let parts = format_of(self.config.codec).cut(frame.data, numbers, max_payload);
        // The last packet of a picture has the marker. For sound, the first packet of a
        // talkspurt has it (RFC 3551 section 4.1), and ours never pauses.
        let marked = match self.config.codec.kind() {
            MediaKind::Video => parts.len(),
            MediaKind::Audio => 0,
        };
        let parts = parts.iter().enumerate();
        parts
            .map(|(index, part)| {
                let mut payload = self.buffers.take(part.data.len() + HEADROOM);
                part.write(&mut payload);
                let (marker, class) = (index + 1 == marked, class.carrying(part.content));
                let payload = Payload::Own(payload);
                let stored = Stored {
                    audio_level: frame.audio_level,
                    ..Stored::new(now, frame.timestamp, marker, payload, class)
                };
                self.store(now, stored)
            })
            .collect()
    }

    /// Stores a packet under the next sequence number.
    pub fn store(&mut self, now: Instant, stored: Stored) -> u64 {
        let sequence = self.next_sequence();
        self.newest = Some((stored.timestamp, now));
        self.push(stored);
        self.prune(now);
        sequence
    }

    /// Stores a packet under a number that a forwarder chose. Skipped numbers become
    /// packets that do not exist; returns false for a number in the past.
    pub fn store_at(&mut self, now: Instant, sequence: u64, stored: Stored) -> bool {
        self.forwards = true;
        if sequence >= self.next_sequence() + MAX_STORED as u64 || self.packets.is_empty() {
            self.packets.clear();
            self.first = sequence;
        }
        if let Some(existing) = self.get_mut(sequence) {
            let vacant = existing.payload.is_empty() && existing.last.is_none();
            if vacant {
                *existing = stored;
            }
            return vacant;
        }
        if sequence < self.first {
            return false;
        }
        while self.next_sequence() < sequence {
            self.push(Stored::vacant(now));
        }
        self.store(now, stored);
        true
    }

    pub fn get(&self, sequence: u64) -> Option<&Stored> {
        self.packets
            .get(usize::try_from(sequence.checked_sub(self.first)?).ok()?)
    }

    pub fn get_mut(&mut self, sequence: u64) -> Option<&mut Stored> {
        self.packets
            .get_mut(usize::try_from(sequence.checked_sub(self.first)?).ok()?)
    }

    /// Returns the packets expected since the last report, and how many of them are lost;
    /// `None` for the first report, and for one that goes back.
    pub fn on_report(&mut self, block: &ReportBlock) -> Option<(u32, u32)> {
        let report = (block.highest_sequence, block.cumulative_lost);
        let before = self.reported.replace(report)?;
        let expected = report.0.wrapping_sub(before.0);
        // Copies and late arrivals lower the sum (RFC 3550 section 6.4.1).
        let lost = report.1.saturating_sub(before.1).max(0).unsigned_abs();
        (expected <= MAX_STORED as u32 * 16).then_some((expected, lost.min(expected)))
    }

    /// Returns the extended sequence number for these 16 bits of a peer.
    pub fn extend(&self, sequence: u16) -> u64 {
        weft_wire::sequence::extend(Some(self.next_sequence()), sequence)
    }

    /// Records that there is no path: the following frames are not sent, so video needs a
    /// keyframe afterwards, and retransmissions are pointless.
    pub fn interrupt(&mut self) {
        self.awaits_keyframe = !self.is_audio();
        if let Some(repair) = &mut self.repair {
            repair.interrupt();
        }
        self.first = self.next_sequence();
        self.packets.clear();
    }

    /// Returns whether the next frame or packet is useful to the receiver.
    pub fn may_send(&mut self, keyframe: bool) -> bool {
        self.awaits_keyframe &= !keyframe;
        !self.awaits_keyframe
    }

    /// Records that the packet has arrived. Its payload is not needed again, unless the
    /// receiver may have dropped it.
    pub fn acknowledge(&mut self, sequence: u64, receipt: Receipt) {
        let Some(packet) = self.get_mut(sequence) else {
            return;
        };
        packet.receipt = packet.receipt.max(receipt);
        let is_settled = packet.receipt == Receipt::Arrived;
        let newer = self.next_sequence() - 1 - sequence;
        if is_settled && newer >= KEPT_FOR_PADDING as u64 {
            self.release(sequence);
        }
    }

    /// Returns whether another request would not count as the same one.
    pub fn may_ask_for_keyframe(&self, now: Instant) -> bool {
        self.last_keyframe_request
            .is_none_or(|at| now.saturating_since(at) >= KEYFRAME_INTERVAL)
    }

    /// Returns whether a later keyframe makes this packet unnecessary.
    pub fn has_restarted_since(&self, sequence: u64) -> bool {
        let after = sequence.saturating_sub(self.first) as usize + 1;
        let mut later = self.packets.iter().skip(after);
        later.any(|p| p.class == Class::Keyframe)
    }

    /// Returns the newest sent packet, for use as padding.
    pub fn newest_sent(&self) -> Option<u64> {
        let sent = |p: &Stored| p.last.is_some() && !p.payload.is_empty();
        let back = self.packets.iter().rev().position(sent)?;
        Some(self.next_sequence() - 1 - back as u64)
    }

    /// Stores a padding-only packet after the newest picture, with the picture's
    /// timestamp. Returns its number, or `None` if nothing was sent recently.
    pub fn store_padding(&mut self, now: Instant) -> Option<u64> {
        self.newest_sent()?;
        let (timestamp, at) = self.newest?;
        let stored = Stored::new(now, timestamp, false, Payload::Padding, Class::Delta);
        let sequence = self.store(now, stored);
        self.newest = Some((timestamp, at));
        Some(sequence)
    }

    /// Returns whether probes may be padding-only packets. A forwarder's numbers have no
    /// room for them, and the receiver would wait for lost ones.
    pub fn may_pad(&self) -> bool {
        let again = self.config.retransmission == Retransmission::SamePacket;
        again && !self.forwards && !self.is_audio() && !self.awaits_keyframe
    }

    pub fn packet_size(&self, sequence: u64) -> Bytes {
        let size = |p: &Stored| p.payload.len() + p.dependency.len() + HEADROOM;
        Bytes(self.get(sequence).map_or(0, size) as u64)
    }

    /// Returns the class of a packet at its first transmission.
    pub fn class(&self, sequence: u64) -> Class {
        self.get(sequence)
            .map_or(Class::of(self.config.codec.kind(), false), |p| p.class)
    }

    /// Returns whether the current frame is a keyframe, and its size; `None` if it needs
    /// no protection.
    pub fn frame_to_protect(&self) -> Option<(bool, Bytes)> {
        let mut frame = self.repair.as_ref()?.frame().peekable();
        frame.peek()?;
        Some(
            frame.fold((false, Bytes::ZERO), |(keyframe, size), packet| {
                let is_key = self.class(packet.sequence) == Class::Keyframe;
                (keyframe | is_key, size + self.packet_size(packet.sequence))
            }),
        )
    }

    /// Appends a packet. A forwarded packet that has arrived releases its payload once it
    /// is no longer among the newest: the receiving side reuses the memory.
    fn push(&mut self, stored: Stored) {
        self.packets.push_back(stored);
        let older = self.packets.len().checked_sub(KEPT_FOR_PADDING + 1);
        let arrived = older.filter(|index| {
            let packet = &self.packets[*index];
            packet.receipt == Receipt::Arrived && matches!(packet.payload, Payload::Forwarded(_))
        });
        if let Some(index) = arrived {
            self.release(self.first + index as u64);
        }
    }

    /// Discards stored payloads, so that none of them is sent again.
    pub fn forget_payloads(&mut self) {
        for sequence in self.first..self.next_sequence() {
            self.release(sequence);
        }
    }

    fn release(&mut self, sequence: u64) {
        if let Some(packet) = self.get_mut(sequence) {
            let payload = std::mem::replace(&mut packet.payload, Payload::NONE);
            self.recycle(payload);
        }
    }

    fn prune(&mut self, now: Instant) {
        while let Some(oldest) = self.packets.front() {
            let aged = now.saturating_since(oldest.created_at) > MEMORY;
            if !aged && self.packets.len() <= MAX_STORED {
                break;
            }
            if let Some(packet) = self.packets.pop_front() {
                self.recycle(packet.payload);
            }
            self.first += 1;
        }
    }

    fn recycle(&mut self, payload: Payload) {
        if let Payload::Own(buffer) = payload {
            self.buffers.put(buffer);
        }
    }
}

impl Stored {
    pub fn new(
        now: Instant,
        timestamp: u32,
        marker: bool,
        payload: Payload,
        class: Class,
    ) -> Stored {
        Stored {
            timestamp,
            marker,
            audio_level: None,
            dependency: Box::default(),
            payload,
            class,
            created_at: now,
            last: None,
            waited: 0,
            receipt: Receipt::None,
            retransmissions: 0,
            queued_again: false,
        }
    }

    /// Returns the time of the first transmission, rounded up to a microsecond.
    pub fn first_sent(&self) -> Option<Instant> {
        let waited = Duration::from_micros(u64::from(self.waited));
        (self.waited > 0).then(|| self.created_at + waited)
    }

    /// Records a transmission.
    pub fn note_sent(&mut self, now: Instant) {
        if self.waited == 0 {
            let waited = now.saturating_since(self.created_at).as_micros() + 1;
            self.waited = u32::try_from(waited).unwrap_or(u32::MAX);
        }
    }

    fn vacant(now: Instant) -> Stored {
        Stored::new(now, 0, false, Payload::NONE, Class::Delta)
    }
}
