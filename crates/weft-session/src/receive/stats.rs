//! Counters of the receive side.

use weft_units::{Duration, Instant};

/// Counters and figures of one incoming stream.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ReceiverStats {
    /// Repair packets (forward error correction).
    pub protection: super::ProtectionCounters,
    /// Packets by outcome.
    pub packets: PacketCounters,
    /// Requests to the sender.
    pub repair: RepairCounters,
    /// Frames by outcome.
    pub frames: FrameCounters,
    /// Delays of frame construction and play-out.
    pub delays: FrameDelays,
    /// Feedback on the quality of the paths.
    pub quality: QualityCounters,
    /// Interarrival jitter of the packets (RFC 3550 section 6.4.1).
    pub jitter: Duration,
}

/// Feedback on the paths by their effect on frames (Converge, section 4.2).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct QualityCounters {
    /// Inter-frame delay according to the sender's frame rate, if the sender states it.
    pub expected_inter_frame: Option<Duration>,
    /// Number of quality feedback messages.
    pub feedback: u64,
}

/// Packets by outcome. Every sequence number from the first on counts as `received` or
/// `missing`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct PacketCounters {
    /// Sequence numbers that arrived in time, each once, including retransmissions.
    pub received: u64,
    /// Payload bytes of the `received` packets.
    pub bytes: u64,
    /// Packets among the `received` that came only by retransmission or repair packet.
    pub recovered: u64,
    /// Copies of packets that had already arrived.
    pub duplicate: u64,
    /// Packets that arrived after their frame was given up, or older than the buffer:
    /// they are lost to the decoder and therefore count as `missing`.
    pub late: u64,
    /// Packets without a valid payload; they count as `received`.
    pub malformed: u64,
    /// Sequence numbers that have not arrived in time.
    pub missing: u64,
}

/// Requests to the sender.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct RepairCounters {
    /// NACK messages.
    pub nacks: u64,
    /// Sequence numbers in them, repetitions included.
    pub requested: u64,
    /// Sequence numbers that were given up after all tries.
    pub abandoned: u64,
    /// Keyframe requests.
    pub keyframes: u64,
}

/// Frames by outcome.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct FrameCounters {
    /// Frames of which all packets arrived.
    pub complete: u64,
    /// Frames that were passed on.
    pub released: u64,
    /// Keyframes among the `released` frames.
    pub keyframes: u64,
    /// Frames that were passed on after their play-out time.
    pub late: u64,
    /// Frames that were given up: incomplete, not decodable, or lost according to the
    /// picture numbers.
    pub dropped: u64,
}

/// Delays of frames.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct FrameDelays {
    /// Frame construction delay: from a frame's first packet to its last.
    pub construction: DelaySummary,
    /// Inter-frame delay: from one frame's completion to the next one's.
    pub inter_frame: DelaySummary,
    /// Current play-out delay, relative to the fastest possible packet.
    pub playout: Duration,
}

/// Summary of a delay over the frames so far.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct DelaySummary {
    /// Newest value.
    pub last: Duration,
    /// Largest value.
    pub max: Duration,
    /// Sum of all values.
    pub sum: Duration,
    /// Number of values.
    pub count: u64,
}

/// Fields of a receiver report block (RFC 3550 section 6.4.1).
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ReportFigures {
    /// Loss since the previous report, in 1/256.
    pub fraction_lost: u8,
    /// Packets expected minus packets received, in 24 bits.
    pub cumulative_lost: i32,
    /// Highest sequence number with its cycle count.
    pub highest_sequence: u32,
    /// Interarrival jitter in timestamp ticks.
    pub jitter: u32,
}

impl DelaySummary {
    /// Returns the mean value, zero if there are no values.
    #[must_use]
    pub fn mean(&self) -> Duration {
        match self.count {
            0 => Duration::ZERO,
            n => self.sum / n,
        }
    }

    pub(super) fn add(&mut self, value: Duration) {
        self.last = value;
        self.max = self.max.max(value);
        self.sum += value;
        self.count += 1;
    }
}

/// Reception statistics as in RFC 3550 appendix A. They describe the network, so
/// retransmissions and copies do not count.
#[derive(Debug)]
pub(super) struct Reception {
    clock_rate: f64,
    span: Option<(u64, u64)>,
    received: u64,
    expected_before: u64,
    received_before: u64,
    last: Option<(Instant, u32)>,
    jitter: f64,
}

const MAX_CUMULATIVE_LOST: i64 = 0x7f_ffff;
const MIN_CUMULATIVE_LOST: i64 = -0x80_0000;

impl Reception {
    pub(super) fn new(clock_rate: u32) -> Reception {
        Reception {
            clock_rate: f64::from(clock_rate.max(1)),
            span: None,
            received: 0,
            expected_before: 0,
            received_before: 0,
            last: None,
            jitter: 0.0,
        }
    }

    /// Records an original packet that has not arrived before.
    pub(super) fn on_packet(&mut self, now: Instant, sequence: u64, timestamp: u32) {
        self.received += 1;
        self.span = Some(match self.span {
            Some((first, highest)) => (first.min(sequence), highest.max(sequence)),
            None => (sequence, sequence),
        });
        // RFC 3550 appendix A.8, with the difference of two transits.
        if let Some((before, previous)) = self.last {
            let arrival = now.saturating_since(before).as_secs_f64() * self.clock_rate;
            let sent = f64::from(timestamp.wrapping_sub(previous).cast_signed());
            self.jitter += ((arrival - sent).abs() - self.jitter) / 16.0;
        }
        self.last = Some((now, timestamp));
    }

    /// Restarts the statistics, except for the jitter, because the sender restarted
    /// (`init_seq` of appendix A.1).
    pub(super) fn restart(&mut self) {
        self.span = None;
        self.last = None;
        (self.received, self.received_before, self.expected_before) = (0, 0, 0);
    }

    pub(super) fn jitter(&self) -> Duration {
        Duration::from_secs_f64(self.jitter / self.clock_rate)
    }

    /// Returns the report's fields and starts a new interval for the fraction lost.
    pub(super) fn take_report(&mut self) -> Option<ReportFigures> {
        let (first, highest) = self.span?;
        let expected = highest - first + 1;
        let interval = expected.saturating_sub(self.expected_before);
        let arrived = self.received - self.received_before;
        let lost = interval.saturating_sub(arrived);
        self.expected_before = expected;
        self.received_before = self.received;
        let cumulative = expected as i64 - self.received as i64;
        let cycles = (highest >> 16).saturating_sub(first >> 16);
        Some(ReportFigures {
            fraction_lost: (lost * 256)
                .checked_div(interval)
                .map_or(0, |fraction| fraction.min(255) as u8),
            cumulative_lost: cumulative.clamp(MIN_CUMULATIVE_LOST, MAX_CUMULATIVE_LOST) as i32,
            highest_sequence: ((cycles << 16) | (highest & 0xffff)) as u32,
            jitter: self.jitter as u32,
        })
    }
}
