//! The receive side of one stream: packets in, frames (or packets) and
//! requests for repair out.
//!
//! packet buffer → frame assembly → frame buffer → jitter buffer. Each part is
//! a file; none reads a clock.

mod asking;
mod collecting;
mod frame_assembly;
mod frame_buffer;
mod jitter_buffer;
mod keyframe_requests;
mod nack;
mod numbering;
mod overtaking;
mod packet_buffer;
mod payloads;
mod profile;
mod quality;
mod recovery;
mod references;
mod stats;
mod types;

pub use profile::{ReceiverProfile, Reordering};
pub use recovery::ProtectionCounters;
pub(crate) use recovery::{Recovered, Recovery};
pub use stats::{
    DelaySummary, FrameCounters, FrameDelays, PacketCounters, QualityCounters, ReceiverStats,
    RepairCounters, ReportFigures,
};
pub use types::{
    Delivery, PathQuality, PathShare, ReceiveConfig, ReceiveEvent, ReceivedFrame, ReceivedPacket,
};

use frame_assembly::FrameAssembly;
use frame_buffer::FrameBuffer;
use jitter_buffer::JitterBuffer;
pub(crate) use jitter_buffer::Remedy;
use keyframe_requests::KeyframeRequests;
use nack::NackTracker;
use packet_buffer::{Arrival, PacketBuffer};
use payloads::Payloads;
use quality::QualityMonitor;
use stats::Reception;
use std::collections::VecDeque;
use weft_units::{Deadline, Duration, Instant, MediaKind, PathId};
use weft_wire::media::MediaPacket;

/// Payload bytes that wait at most, in packets and in frames: two seconds of
/// 32 Mbps; chosen by us.
const MAX_BYTES: usize = 8_000_000;
/// Nothing but too old packets for this long means that the sender has begun
/// a new numbering; chosen by us, longer than the skew of paths. A sender that
/// begins another one sooner has its packets dropped until then.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// A transit that changes by more than this is a new timestamp base, not
/// delay; chosen by us.
const MAX_TRANSIT_CHANGE_NANOS: u64 = 10_000_000_000;
/// A packet that is behind in time, and this much later than the last at most, was
/// held in a queue; chosen by us: links without capacity in measured traces hold
/// packets for up to half a minute, and one in 800 of the timestamps that a sender may
/// begin with is as near.
const MAX_QUEUED_NANOS: u64 = 60_000_000_000;

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
    payloads: Payloads,
    clock: StreamClock,
    release_at: Option<Instant>,
    /// When it was last restarted: new buffers cost memory, and a sender
    /// whose timestamps jump all the time must not cause them for each packet.
    restarted_at: Option<Instant>,
}

/// Timestamps of earlier packets.
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

/// Where in the stream a packet belongs.
enum Place {
    InStream,
    /// It stood in a queue for longer than anything waits for it.
    LongQueued,
    /// The sender has begun a new numbering, of packets or of time.
    Restart,
}

impl Receiver {
    /// A receiver that has seen nothing.
    #[must_use]
    pub fn new(config: ReceiveConfig) -> Receiver {
        let clock_rate = config.codec.clock_rate();
        Receiver {
            config,
            packets: PacketBuffer::new(),
            nack: NackTracker::new(config.profile.reordering),
            assembly: FrameAssembly::new(config.codec),
            frames: FrameBuffer::default(),
            jitter: JitterBuffer::new(config.codec.kind(), clock_rate),
            keyframes: KeyframeRequests::new(config.profile.keyframe_patience),
            reception: Reception::new(clock_rate),
            quality: QualityMonitor::new(clock_rate),
            counted: ReceiverStats::default(),
            events: VecDeque::new(),
            payloads: Payloads::default(),
            clock: StreamClock::default(),
            release_at: None,
            restarted_at: None,
        }
    }

    /// Takes one packet of the stream, original, copy or retransmission.
    pub fn handle_packet(&mut self, now: Instant, packet: ReceivedPacket<'_>) {
        let mut timestamp = self.extend_timestamp(packet.timestamp);
        match self.place(now, &packet, timestamp) {
            Place::InStream => {}
            Place::LongQueued => {
                // Nothing is told of its path's quality: the sender remembers
                // the packets of a few seconds, takes claims of more for
                // untrue, and with them what is true in the same report.
                self.counted.packets.late += 1;
                return;
            }
            Place::Restart => {
                let recently = |at| now.saturating_since(at) < RESTART_AFTER;
                if self.restarted_at.is_some_and(recently) {
                    self.counted.packets.late += 1;
                    return;
                }
                self.restarted_at = Some(now);
                self.restart();
                timestamp = self.extend_timestamp(packet.timestamp);
            }
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

    /// Returns the next event; call it until `None`.
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

    /// The round-trip times of the path that the last packet came by, which a
    /// retransmission takes, and of the quickest one, by which a keyframe comes
    /// that is asked for.
    pub fn set_rtt(&mut self, path: Duration, quickest: Duration) {
        self.nack.set_rtt(path);
        self.keyframes.set_rtt(quickest);
    }

    /// Sets the remedy for late pictures: on an only path pictures wait for
    /// repairs that were needed lately.
    pub(crate) fn set_remedy(&mut self, remedy: Remedy) {
        self.jitter.set_remedy(remedy);
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

    /// Where in the stream a packet belongs. What a path that was dead gives
    /// back of its queue is no new numbering, even if nothing else has come for
    /// long because all paths were dead; nor does its transit say anything of
    /// the packets to come.
    fn place(&self, now: Instant, packet: &ReceivedPacket<'_>, timestamp: u64) -> Place {
        if packet.recovered {
            return Place::InStream;
        }
        let transit = self.jitter.transit(now, timestamp);
        let before = self.clock.transit.unwrap_or(transit);
        let change = transit.abs_diff(before);
        let is_moved = change > MAX_TRANSIT_CHANGE_NANOS;
        let highest = self.clock.timestamp;
        let is_queued = highest.is_some_and(|highest| timestamp < highest)
            && transit > before
            && change <= MAX_QUEUED_NANOS;
        // In so long a time the stream may have sent more than half of all numbers, and
        // then an old one looks new.
        if is_queued && is_moved {
            return Place::LongQueued;
        }
        if is_queued && self.packets.is_behind(packet.sequence) {
            return Place::InStream;
        }
        let current_at = self.clock.current_at;
        let is_idle = current_at.is_some_and(|at| now.saturating_since(at) >= RESTART_AFTER);
        let is_old = self.packets.is_too_old(packet.sequence);
        match is_moved || (is_old && is_idle) {
            true => Place::Restart,
            false => Place::InStream,
        }
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
            match self.config.profile.keyframe_patience {
                None => self.give_up(now),
                Some(_) => self.ask_for_keyframe(now),
            }
        }
    }

    /// Judges the effect of the paths on a frame that came too late.
    fn judge_paths(&mut self, now: Instant, packet: &ReceivedPacket<'_>, timestamp: u64) {
        if self.config.codec.kind() == MediaKind::Audio {
            return;
        }
        for quality in self.quality.on_packet(now, packet, timestamp) {
            self.counted.quality.feedback += 1;
            self.events.push_back(ReceiveEvent::PathQuality(quality));
        }
    }

    fn pass_on(&mut self, packet: ReceivedPacket<'_>) {
        self.count_received(&packet);
        let payload = self.payloads.share(packet.payload);
        self.events.push_back(ReceiveEvent::Packet(MediaPacket {
            sequence: packet.sequence,
            timestamp: packet.timestamp,
            marker: packet.marker,
            audio_level: packet.audio_level,
            payload,
        }));
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
        let most = self.config.profile.frame_buffer.map(usize::from);
        assert!(self.frames.len() <= most.unwrap_or(frame_buffer::MAX_FRAMES));
        assert!(self.nack.outstanding() <= nack::MAX_MISSING);
    }
}

#[cfg(test)]
mod tests;
