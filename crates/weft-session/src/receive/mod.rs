//! The receive side of one stream: packets in, frames (or packets) and
//! requests for repair out.
//!
//! packet buffer → frame assembly → frame buffer → jitter buffer. Each part is
//! a file; none reads a clock.

mod frame_assembly;
mod frame_buffer;
mod jitter_buffer;
mod keyframe_requests;
mod nack;
mod numbering;
mod packet_buffer;
mod piece;
mod quality;
mod recovery;
mod references;
mod stats;
mod types;

pub use quality::PathQuality;
pub use recovery::ProtectionCounters;
pub(crate) use recovery::{Recovered, Recovery};
pub use stats::{
    DelaySummary, FrameCounters, FrameDelays, PacketCounters, QualityCounters, ReceiverStats,
    RepairCounters, ReportFigures,
};
pub use types::{Delivery, PathShare, ReceiveConfig, ReceiveEvent, ReceivedFrame, ReceivedPacket};

use frame_assembly::{Assembled, AssembledFrame, FrameAssembly, FrameInfo};
use frame_buffer::FrameBuffer;
use jitter_buffer::JitterBuffer;
use keyframe_requests::{KeyframeRequests, Outlook, Stall};
use nack::NackTracker;
use packet_buffer::{Arrival, PacketBuffer};
use quality::QualityMonitor;
use references::Hole;
use stats::Reception;
use std::collections::VecDeque;
use std::sync::Arc;
use weft_units::{Codec, Deadline, Duration, Instant, MediaKind, PathId};
use weft_wire::rtp::MediaPacket;

/// Payload bytes that wait at most, in packets and in frames: two seconds of
/// 32 Mbps; chosen by us.
const MAX_BYTES: usize = 8_000_000;
/// Nothing but too old packets for this long means that the sender has begun
/// a new numbering; chosen by us, longer than the skew of paths.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// A transit that changes by more than this is a new timestamp base, not
/// delay; chosen by us.
const MAX_TRANSIT_CHANGE_NANOS: u64 = 10_000_000_000;

/// The receive side of one stream.
///
/// After every call that takes `self` mutably, poll events until `None`; then
/// call [`Receiver::handle_timeout`] at the time of
/// [`Receiver::poll_timeout`]. Time never goes backwards; a timeout that is
/// not due changes nothing. Memory is bounded whatever arrives.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiveConfig,
    packets: PacketBuffer,
    nack: NackTracker,
    assembly: FrameAssembly,
    frames: FrameBuffer,
    jitter: JitterBuffer,
    keyframes: KeyframeRequests,
    reception: Reception,
    quality: QualityMonitor,
    counted: ReceiverStats,
    events: VecDeque<ReceiveEvent>,
    clock: StreamClock,
    release_at: Option<Instant>,
}

/// What is remembered of the packets before.
#[derive(Debug, Default)]
struct StreamClock {
    /// Highest extended timestamp.
    timestamp: Option<u64>,
    /// Transit of the last original packet.
    transit: Option<i64>,
    /// Arrival of the last packet that was not too old.
    current_at: Option<Instant>,
    /// Completion of the newest frame, for the inter-frame delay.
    complete_at: Option<Instant>,
    /// When the last released frame could have been released.
    ready_at: Instant,
    /// Sequence numbers expected before the last restart.
    expected: u64,
}

impl Receiver {
    /// A receiver that has seen nothing.
    #[must_use]
    pub fn new(config: ReceiveConfig) -> Receiver {
        let clock_rate = config.codec.clock_rate();
        Receiver {
            config,
            packets: PacketBuffer::new(),
            nack: NackTracker::new(),
            assembly: FrameAssembly::new(config.codec),
            frames: FrameBuffer::default(),
            jitter: JitterBuffer::new(config.codec.kind(), clock_rate),
            keyframes: KeyframeRequests::default(),
            reception: Reception::new(clock_rate),
            quality: QualityMonitor::new(clock_rate),
            counted: ReceiverStats::default(),
            events: VecDeque::new(),
            clock: StreamClock::default(),
            release_at: None,
        }
    }

    /// Takes one packet of the stream, original, copy or retransmission.
    pub fn handle_packet(&mut self, now: Instant, packet: ReceivedPacket<'_>) {
        let mut timestamp = self.extend_timestamp(packet.timestamp);
        if self.is_restart(now, &packet, timestamp) {
            self.restart();
            timestamp = self.extend_timestamp(packet.timestamp);
        }
        match self.packets.insert(packet.sequence) {
            Arrival::TooOld => {
                if packet.is_original() {
                    self.quality.on_overdue(now, packet.path);
                }
                self.counted.packets.late += 1;
                return;
            }
            Arrival::Duplicate if packet.recovered => {
                self.counted.packets.duplicate += 1;
                return;
            }
            Arrival::Duplicate => {
                self.handle_again(now, packet.path, packet.sequence, packet.stream_sequence);
                return;
            }
            Arrival::New => {}
        }
        self.clock.current_at = Some(now);
        self.note_arrival(now, &packet, timestamp);
        self.judge_paths(now, &packet, timestamp);
        match self.config.delivery {
            Delivery::Packets => self.pass_on(packet),
            Delivery::Frames => self.collect(now, packet, timestamp),
        }
        self.check_nacks(now);
    }

    /// Takes note of an original or a copy whose like has come before: its
    /// path is as far as that, and it lost nothing. The numbers are those of
    /// [`ReceivedPacket`]. Nothing, if that is not known here, or so long ago
    /// that it is forgotten.
    pub fn handle_again(
        &mut self,
        now: Instant,
        path: PathId,
        sequence: u64,
        stream_sequence: Option<u16>,
    ) {
        if !self.packets.has_arrived(sequence) {
            return;
        }
        if stream_sequence.is_some() {
            self.quality.on_overdue(now, path);
        }
        self.counted.packets.duplicate += 1;
        self.nack.on_duplicate(now, path, sequence, stream_sequence);
    }

    /// What happened; to be called until `None`.
    pub fn poll_event(&mut self) -> Option<ReceiveEvent> {
        self.events.pop_front()
    }

    /// When [`Receiver::handle_timeout`] wants to be called.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |at: Option<Instant>, reason| at.map(|at| Deadline { at, reason });
        let frames = Deadline::earlier(
            deadline(self.release_at, "frame play-out"),
            deadline(self.keyframes.due(), "keyframe request"),
        );
        Deadline::earlier(frames, deadline(self.nack.wake(), "nack"))
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.check_nacks(now);
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.release_at) || due(self.keyframes.due()) {
            self.advance(now);
        }
    }

    /// How long a packet may come out of a repair packet that is under way.
    pub(crate) fn set_repair_wait(&mut self, wait: Duration) {
        self.nack.set_repair_wait(wait);
    }

    /// The round-trip time that a retransmission takes.
    pub fn set_rtt(&mut self, rtt: Duration) {
        self.nack.set_rtt(rtt);
    }

    /// The sender's frame rate promises a frame each so often; from now on the
    /// paths are judged by it.
    pub fn set_frame_interval(&mut self, interval: Duration) {
        self.quality.set_expected(interval);
    }

    /// Counters and figures so far.
    #[must_use]
    pub fn stats(&self) -> ReceiverStats {
        let mut stats = self.counted;
        let expected = self.clock.expected + self.packets.expected();
        stats.packets.missing = expected.saturating_sub(stats.packets.received);
        stats.delays.playout = self.jitter.delay();
        stats.quality.expected_inter_frame = self.quality.expected();
        stats.jitter = self.reception.jitter();
        stats
    }

    /// The figures of a receiver report, `None` before the first packet; ends
    /// the interval that the next one's fraction lost refers to.
    pub fn take_report(&mut self) -> Option<ReportFigures> {
        self.reception.take_report()
    }

    fn extend_timestamp(&mut self, timestamp: u32) -> u64 {
        let Some(highest) = self.clock.timestamp else {
            // The second cycle, so that an older one does not underflow.
            return (1 << 32) + u64::from(timestamp);
        };
        let ahead = timestamp.wrapping_sub(highest as u32).cast_signed();
        highest.saturating_add_signed(i64::from(ahead))
    }

    fn is_restart(&self, now: Instant, packet: &ReceivedPacket<'_>, timestamp: u64) -> bool {
        if packet.recovered {
            return false;
        }
        let transit = self.jitter.transit(now, timestamp);
        let is_moved = self
            .clock
            .transit
            .is_some_and(|before| transit.abs_diff(before) > MAX_TRANSIT_CHANGE_NANOS);
        let is_old = self.packets.is_too_old(packet.sequence)
            && self
                .clock
                .current_at
                .is_some_and(|at| now.saturating_since(at) >= RESTART_AFTER);
        is_moved || is_old
    }

    /// Forgets everything but counters and the round-trip time.
    fn restart(&mut self) {
        let expected = self.clock.expected + self.packets.expected();
        self.counted.frames.dropped += self.frames.clear() + self.assembly.clear();
        self.packets = PacketBuffer::new();
        self.nack.restart();
        self.frames = FrameBuffer::default();
        let codec = self.config.codec;
        self.jitter = JitterBuffer::new(codec.kind(), codec.clock_rate());
        self.reception.restart();
        self.quality.restart();
        self.release_at = None;
        self.clock = StreamClock {
            expected,
            ready_at: self.clock.ready_at,
            ..StreamClock::default()
        };
    }

    fn note_arrival(&mut self, now: Instant, packet: &ReceivedPacket<'_>, timestamp: u64) {
        let highest = self.clock.timestamp.unwrap_or(timestamp);
        self.clock.timestamp = Some(highest.max(timestamp));
        let (path, sequence) = (packet.path, packet.sequence);
        let in_time = if packet.recovered {
            self.nack.on_recovered(now, sequence)
        } else {
            let transit = self.jitter.transit(now, timestamp);
            self.clock.transit = Some(transit);
            self.jitter.on_packet(now, transit);
            self.reception.on_packet(now, sequence, packet.timestamp);
            self.nack
                .on_packet(now, path, sequence, packet.stream_sequence)
        };
        if !in_time {
            self.give_up(now);
        }
    }

    /// What the paths did to a frame that came too late.
    fn judge_paths(&mut self, now: Instant, packet: &ReceivedPacket<'_>, timestamp: u64) {
        if self.config.codec.kind() == MediaKind::Audio {
            return;
        }
        for quality in self.quality.on_packet(now, packet, timestamp) {
            self.counted.quality.feedback += 1;
            self.events.push_back(ReceiveEvent::PathQuality(quality));
        }
    }

    fn count_received(&mut self, packet: &ReceivedPacket<'_>) {
        let counters = &mut self.counted.packets;
        counters.received += 1;
        counters.bytes += packet.payload.len() as u64;
        counters.recovered += u64::from(packet.recovered);
    }

    fn pass_on(&mut self, packet: ReceivedPacket<'_>) {
        self.count_received(&packet);
        self.events.push_back(ReceiveEvent::Packet(MediaPacket {
            sequence: packet.sequence,
            timestamp: packet.timestamp,
            marker: packet.marker,
            payload: Arc::from(packet.payload),
        }));
    }

    fn collect(&mut self, now: Instant, packet: ReceivedPacket<'_>, timestamp: u64) {
        if packet.payload.is_empty() {
            self.count_received(&packet);
            self.check_neighbour(now, packet.sequence);
            return;
        }
        if self.frames.released().is_some_and(|(t, _)| timestamp <= t) {
            self.counted.packets.late += 1;
            self.check_neighbour(now, packet.sequence);
            return;
        }
        self.count_received(&packet);
        self.counted.frames.dropped += self.assembly.abandon_overwritten(&mut self.packets);
        let assembled = match self.config.codec.kind() {
            MediaKind::Audio => Assembled::Frame(single(now, &packet, timestamp)),
            MediaKind::Video => {
                let packets = &mut self.packets;
                self.assembly.on_packet(packets, now, &packet, timestamp)
            }
        };
        self.on_assembled(now, assembled);
        self.check_neighbour(now, packet.sequence);
        self.bound_memory();
        if self.release_at.is_none() {
            self.advance(now);
        }
    }

    /// A packet may say of the one behind it that it begins a frame.
    fn check_neighbour(&mut self, now: Instant, sequence: u64) {
        if self.config.codec != Codec::H264 {
            return;
        }
        let assembled = self.assembly.on_neighbour(&mut self.packets, sequence);
        self.on_assembled(now, assembled);
    }

    fn on_assembled(&mut self, now: Instant, assembled: Assembled) {
        match assembled {
            Assembled::Frame(frame) => self.add_frame(now, frame),
            Assembled::Malformed => self.counted.packets.malformed += 1,
            Assembled::Pending => {}
        }
    }

    fn add_frame(&mut self, now: Instant, frame: AssembledFrame) {
        let construction = frame.complete_at.saturating_since(frame.first_arrival);
        let timestamp = frame.timestamp;
        if !self.frames.insert(frame) {
            self.counted.packets.malformed += 1;
            return;
        }
        self.counted.frames.complete += 1;
        self.counted.delays.construction.add(construction);
        if let Some(before) = self.clock.complete_at.replace(now) {
            let delay = now.saturating_since(before);
            self.counted.delays.inter_frame.add(delay);
        }
        self.jitter.on_complete(now, timestamp);
        self.advance(now);
    }

    fn bound_memory(&mut self) {
        let dropped = if self.packets.bytes() + self.frames.bytes() > MAX_BYTES {
            self.packets.release_all();
            self.assembly.clear() + self.frames.clear()
        } else {
            self.frames.bound() + self.assembly.bound(&mut self.packets)
        };
        if dropped > 0 {
            self.counted.frames.dropped += dropped;
            self.release_at = None;
            self.keyframes.on_unrecoverable();
        }
    }

    /// Releases the frames that are due, in order.
    fn advance(&mut self, now: Instant) {
        self.release_at = None;
        while let Some((timestamp, hole)) = self.frames.next(&self.assembly, &self.packets) {
            let release_at = self.jitter.release_at(timestamp);
            if release_at > now {
                self.release_at = Some(release_at);
                self.keyframes.on_decodable();
                return;
            }
            self.release(timestamp, &hole, release_at);
        }
        self.check_stall(now);
    }

    fn release(&mut self, timestamp: u64, hole: &Hole, release_at: Instant) {
        let abandoned = self.assembly.abandon_before(&mut self.packets, timestamp);
        let Some((frame, skipped)) = self.frames.release(timestamp, hole, abandoned) else {
            return;
        };
        self.nack.forget_before(frame.first_sequence);
        self.keyframes.on_released();
        self.clock.ready_at = self.clock.ready_at.max(frame.complete_at);
        let lateness = self.clock.ready_at.saturating_since(release_at);
        let counters = &mut self.counted.frames;
        counters.dropped += skipped;
        counters.released += 1;
        counters.keyframes += u64::from(frame.keyframe);
        counters.late += u64::from(lateness > Duration::ZERO);
        self.events.push_back(ReceiveEvent::Frame(ReceivedFrame {
            data: frame.data,
            codec: self.config.codec,
            timestamp: frame.timestamp as u32,
            keyframe: frame.keyframe,
            temporal_layer: frame.info.temporal_layer,
            picture_id: frame.info.picture_id,
            first_sequence: frame.first_sequence,
            packets: frame.packets,
            recovered_packets: frame.recovered_packets,
            first_arrival: frame.first_arrival,
            complete_at: frame.complete_at,
            release_at,
            lateness,
            paths: frame.paths,
        }));
    }

    /// Nothing can be released: waits for repair or asks for a keyframe.
    fn check_stall(&mut self, now: Instant) {
        let oldest_frame = self.frames.oldest();
        let oldest_partial = self.assembly.partials().next();
        if self.config.codec.kind() == MediaKind::Audio
            || (oldest_frame.is_none() && oldest_partial.is_none())
        {
            self.keyframes.on_decodable();
            return;
        }
        let keyframe_at = self.assembly.keyframe_progress();
        // A frame that is complete and not decodable is no keyframe.
        let blocking = oldest_partial
            .filter(|(at, _)| oldest_frame.is_none_or(|frame| *at < frame.timestamp))
            .map(|(_, partial)| partial);
        let is_headless =
            self.frames.released().is_none() && blocking.is_none_or(|partial| partial.is_delta);
        let outlook = match keyframe_at {
            Some(_) => Outlook::Repairable,
            None if self.keyframes.is_unrecoverable() && oldest_frame.is_some() => Outlook::Lost,
            None if is_headless => Outlook::Headless,
            None => Outlook::Repairable,
        };
        let stall = Stall {
            outlook,
            progress_at: keyframe_at.max(blocking.map(|partial| partial.last_arrival)),
            packet_at: self.clock.current_at,
        };
        if self.keyframes.on_stalled(now, self.nack.rtt(), &stall) {
            self.push_keyframe_request();
        }
    }

    fn check_nacks(&mut self, now: Instant) {
        if self.nack.wake().is_none_or(|at| now < at) {
            return;
        }
        let findings = self.nack.check(now);
        if !findings.requested.is_empty() {
            self.counted.repair.nacks += 1;
            self.counted.repair.requested += findings.requested.len() as u64;
            self.events.push_back(ReceiveEvent::Nack {
                sequences: findings.requested.iter().map(|s| *s as u16).collect(),
            });
        }
        if !findings.abandoned.is_empty() {
            self.counted.repair.abandoned += findings.abandoned.len() as u64;
            self.give_up(now);
        }
    }

    /// Packets were lost for good.
    fn give_up(&mut self, now: Instant) {
        match (self.config.delivery, self.config.codec.kind()) {
            (_, MediaKind::Audio) => {}
            (Delivery::Frames, MediaKind::Video) => {
                self.keyframes.on_unrecoverable();
                if self.release_at.is_none() {
                    self.check_stall(now);
                }
            }
            (Delivery::Packets, MediaKind::Video) => {
                if self.keyframes.request(now, self.nack.rtt()) {
                    self.push_keyframe_request();
                }
            }
        }
    }

    fn push_keyframe_request(&mut self) {
        self.counted.repair.keyframes += 1;
        self.events.push_back(ReceiveEvent::KeyframeNeeded);
    }
}

#[cfg(test)]
impl Receiver {
    /// Memory stays within what the parts promise.
    fn assert_bounded(&self) {
        assert!(self.packets.bytes() + self.frames.bytes() <= MAX_BYTES);
        assert!(self.packets.bytes() as u64 <= packet_buffer::CAPACITY * 1_500);
        assert!(
            self.packets.missing_between(0, u64::MAX).count() < packet_buffer::CAPACITY as usize
        );
        assert!(self.assembly.partials().count() <= frame_assembly::MAX_PARTIALS);
        assert!(self.frames.len() <= frame_buffer::MAX_FRAMES);
        assert!(self.nack.outstanding() <= nack::MAX_MISSING);
    }
}

/// An audio packet as a frame.
fn single(now: Instant, packet: &ReceivedPacket<'_>, timestamp: u64) -> AssembledFrame {
    let share = PathShare {
        path: packet.path,
        packets: 1,
        late_packets: 0,
        first_arrival: now,
        last_arrival: now,
    };
    AssembledFrame {
        timestamp,
        first_sequence: packet.sequence,
        last_sequence: packet.sequence,
        info: FrameInfo::default(),
        keyframe: true,
        data: packet.payload.to_vec(),
        packets: 1,
        recovered_packets: u32::from(packet.recovered),
        first_arrival: now,
        complete_at: now,
        paths: if packet.recovered {
            Vec::new()
        } else {
            vec![share]
        },
    }
}

#[cfg(test)]
mod tests;
