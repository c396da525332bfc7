//! Receive side of one stream: takes packets, returns frames (or packets) and requests for
//! repair.
//!
//! Packet buffer → frame assembly → frame buffer → jitter buffer. Each part is a file; none
//! reads a clock.

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
mod transits;
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

/// Maximum number of payload bytes that wait, in packets and in frames: two seconds of 32
/// Mbps; chosen by us.
const MAX_BYTES: usize = 8_000_000;
/// Time in which only packets that are too old arrive, after which the sender must have
/// started a new numbering; chosen by us, longer than the skew of paths. Packets of a
/// sender that restarts sooner are dropped until then.
const RESTART_AFTER: Duration = Duration::from_secs(1);
/// Change of the transit time above which it is a new timestamp base and not delay;
/// chosen by us.
const MAX_TRANSIT_CHANGE_NANOS: u64 = 10_000_000_000;
/// Longest time after the last packet at which a packet may come from a queue; chosen by
/// us: links without capacity in measured traces hold packets for up to half a minute,
/// and one in 800 of a new sender's random first timestamps is this close.
const MAX_QUEUED_NANOS: u64 = 60_000_000_000;

/// Receive side of one stream.
///
/// After every call that takes `self` mutably, poll events until `None`; then call
/// [`Receiver::handle_timeout`] at the time of [`Receiver::poll_timeout`]. Time must
/// never go backwards; a timeout that is not due changes nothing. Memory is bounded for
/// any input.
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
    /// Time of the last restart: new buffers cost memory, so a sender whose timestamps jump
    /// must not cause a restart with each packet.
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
    /// Earliest time at which the last released frame could have been released.
    ready_at: Instant,
    /// Sequence numbers expected before the last restart.
    expected: u64,
}

/// Position of a packet in the stream.
enum Place {
    InStream,
    /// Held in a queue until it was useless.
    LongQueued,
    /// Start of a new numbering of packets, or of a new timestamp base.
    Restart,
}

impl Receiver {
    /// Creates a receiver.
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

    /// Handles one packet of the stream: original, copy or retransmission.
    pub fn handle_packet(&mut self, now: Instant, packet: ReceivedPacket<'_>) {
        let mut timestamp = self.extend_timestamp(packet.timestamp);
        match self.place(now, &packet, timestamp) {
            Place::InStream => {}
            Place::LongQueued => {
                // This reports no path quality: the sender remembers the packets of a few
                // seconds, and ignores a whole report that names older ones.
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

    /// Records an original or a copy of a packet that arrived before: the path has
    /// delivered up to this number without loss. The numbers are those of
    /// [`ReceivedPacket`]. Does nothing if the packet is unknown or forgotten.
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

    /// Returns the time at which to call [`Receiver::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let deadline = |at: Option<Instant>, reason| at.map(|at| Deadline { at, reason });
        let frames = Deadline::earlier(
            deadline(self.release_at, "frame play-out"),
            deadline(self.keyframes.due(), "keyframe request"),
        );
        Deadline::earlier(frames, deadline(self.nack.wake(), "nack"))
    }

    /// Handles everything that is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.check_nacks(now);
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.release_at) || due(self.keyframes.due()) {
            self.advance(now);
        }
    }

    /// Sets the time within which a repair packet in flight may restore a lost packet.
    pub(crate) fn set_repair_wait(&mut self, wait: Duration) {
        self.nack.set_repair_wait(wait);
    }

    /// Sets the round-trip times of the last packet's path, which applies to
    /// retransmissions, and of the quickest path, which applies to keyframe requests.
    pub fn set_rtt(&mut self, path: Duration, quickest: Duration) {
        self.nack.set_rtt(path);
        self.keyframes.set_rtt(quickest);
    }

    /// Sets the treatment of late pictures: on a single path, pictures wait for as long
    /// as recent repairs needed.
    pub(crate) fn set_remedy(&mut self, remedy: Remedy) {
        self.jitter.set_remedy(remedy);
    }

    /// Sets the sender's frame rate, and starts comparing the paths' delays with it.
    pub fn set_frame_interval(&mut self, interval: Duration) {
        self.quality.set_expected(interval);
    }

    /// Returns counters and statistics.
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

    /// Returns the statistics of a receiver report, `None` before the first packet.
    /// Starts the interval for the next report's fraction lost.
    pub fn take_report(&mut self) -> Option<ReportFigures> {
        self.reception.take_report()
    }

    fn extend_timestamp(&mut self, timestamp: u32) -> u64 {
        let Some(highest) = self.clock.timestamp else {
            // Starts in the second cycle, so that an older timestamp does not underflow.
            return (1 << 32) + u64::from(timestamp);
        };
        let ahead = timestamp.wrapping_sub(highest as u32).cast_signed();
        highest.saturating_add_signed(i64::from(ahead))
    }

    /// Returns the position of a packet in the stream. Old packets from the queue of a
    /// path that was dead do not start a new numbering, even if all paths were dead for
    /// long, and their transit time says nothing about later packets.
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
        // Meanwhile, the stream may have sent more than half of all sequence numbers, so
        // an old one may look new.
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

    /// Discards everything but counters and the round-trip time.
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

    /// Reports the effect of the paths on a late frame.
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
            dependency: packet.dependency.into(),
            payload,
        }));
    }
}

#[cfg(test)]
impl Receiver {
    /// Checks that memory stays within the limits of the parts.
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
