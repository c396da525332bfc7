//! RTP streams of a capture, by the header fields that encryption leaves readable.

use std::collections::VecDeque;

use super::periods::Periods;

/// Maximum number of streams in a direction. Chosen by us: a call of 50 people with three
/// layers, sound and repair for each.
pub const MAX_STREAMS: usize = 512;
/// Number of packets after which a source counts as a stream, because other protocols
/// occasionally look like RTP. Chosen by us.
const PROBATION: u32 = 8;
/// Maximum step of the sequence number within a stream (RFC 3550 appendix A.1,
/// `MAX_DROPOUT`).
const MAX_STEP: i64 = 3_000;
/// Number of sequence numbers whose arrival is remembered, to recognise copies. Chosen by
/// us: two seconds at 2000 packets a second.
const WINDOW: usize = 4_096;
/// Number of remembered timestamps, so that a packet of an earlier frame does not start a
/// new one. Chosen by us: two seconds at 60 pictures a second.
const FRAMES: usize = 128;
/// Clock rate of video (RFC 3551 section 5).
const VIDEO_HZ: f64 = 90_000.0;
/// Tolerance of a measured clock rate; chosen by us. No audio clock is near that of video.
const CLOCK_TOLERANCE: f64 = 0.05;
/// Minimum time in seconds over which a clock rate is measured. Chosen by us.
const CLOCK_TIME_S: f64 = 2.0;

/// Header fields of an RTP packet.
#[derive(Clone, Copy, Debug)]
pub struct RtpFields {
    /// Synchronisation source.
    pub ssrc: u32,
    /// Sequence number.
    pub sequence: u16,
    /// Time stamp of the media.
    pub timestamp: u32,
}

/// Stream of one source in one direction.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    in_a_row: u32,
    /// First and highest sequence number of the present segment, extended beyond 16 bits.
    first: i64,
    highest: i64,
    /// Arrival of the numbers up to `highest`, the newest last.
    arrived: VecDeque<bool>,
    /// Distinct packets of the present segment.
    distinct: u64,
    /// Packets expected and arrived in former segments, because a stream may restart.
    former: (u64, u64),
    timestamps: VecDeque<u32>,
    clock: Option<Clock>,
    /// New timestamps, by time.
    pub frames: Periods,
    frame_count: u64,
    /// New timestamps that another stream had before: a repair stream repeats those of
    /// its media.
    borrowed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    first_at: f64,
    last_at: f64,
    last: u32,
    /// Growth of the timestamp since the first packet.
    elapsed: i64,
}

impl Stream {
    /// Counts a packet at a time in seconds. Returns whether it has a new timestamp.
    pub fn on_packet(&mut self, at: f64, rtp: RtpFields) -> bool {
        self.count(rtp.sequence);
        let is_new = !self.timestamps.contains(&rtp.timestamp);
        if is_new {
            if self.timestamps.len() == FRAMES {
                self.timestamps.pop_front();
            }
            self.timestamps.push_back(rtp.timestamp);
            self.frames.add(at, 1.0);
            self.frame_count += 1;
            self.on_clock(at, rtp.timestamp);
        }
        is_new
    }

    /// Whether a timestamp was seen recently.
    pub fn has_timestamp(&self, timestamp: u32) -> bool {
        self.timestamps.contains(&timestamp)
    }

    /// Records that the last new timestamp belongs to another stream.
    pub fn on_borrowed(&mut self) {
        self.borrowed += 1;
    }

    fn count(&mut self, sequence: u16) {
        if self.arrived.is_empty() {
            self.restart(sequence);
            return;
        }
        let step = i64::from(sequence.wrapping_sub(self.highest as u16) as i16);
        if step.abs() > MAX_STEP {
            let expected = (self.highest - self.first + 1) as u64;
            self.former.0 += expected;
            self.former.1 += self.distinct;
            self.restart(sequence);
            return;
        }
        self.in_a_row = match step {
            -2..=2 => self.in_a_row.saturating_add(1),
            _ if self.in_a_row < PROBATION => 0,
            _ => self.in_a_row,
        };
        if step > 0 {
            self.highest += step;
            for new in 1..=step {
                if self.arrived.len() == WINDOW {
                    self.arrived.pop_front();
                }
                self.arrived.push_back(new == step);
            }
            self.distinct += 1;
            return;
        }
        let place = self.arrived.len() as i64 - 1 + step;
        let number = self.highest + step;
        if number < self.first {
            // It overtook the first packet.
            self.first = number;
            self.distinct += 1;
            for _ in 0..-place {
                self.arrived.push_front(false);
            }
            self.arrived[0] = true;
            return;
        }
        // One older than the window is a copy, or too late to matter.
        let known = usize::try_from(place)
            .ok()
            .and_then(|place| self.arrived.get_mut(place));
        if let Some(known) = known
            && !std::mem::replace(known, true)
        {
            self.distinct += 1;
        }
    }

    fn restart(&mut self, sequence: u16) {
        // Leaves space below for packets that this one overtook.
        self.first = i64::from(sequence) + (1 << 32);
        self.highest = self.first;
        self.arrived.clear();
        self.arrived.push_back(true);
        self.distinct = 1;
        self.in_a_row = self.in_a_row.max(1);
    }

    fn on_clock(&mut self, at: f64, timestamp: u32) {
        let Some(clock) = &mut self.clock else {
            self.clock = Some(Clock {
                first_at: at,
                last_at: at,
                last: timestamp,
                elapsed: 0,
            });
            return;
        };
        let step = timestamp.wrapping_sub(clock.last) as i32;
        if step > 0 {
            clock.elapsed += i64::from(step);
            clock.last = timestamp;
            clock.last_at = at;
        }
    }

    /// Whether it is RTP instead of another protocol.
    pub fn is_established(&self) -> bool {
        self.in_a_row >= PROBATION
    }

    /// Returns the number of packets expected from the sequence numbers, and the number
    /// of those that arrived.
    pub fn expected_and_arrived(&self) -> (u64, u64) {
        let expected = match self.arrived.is_empty() {
            true => 0,
            false => (self.highest - self.first + 1) as u64,
        };
        (self.former.0 + expected, self.former.1 + self.distinct)
    }

    /// Whether it has the clock of video, and is not the repair stream of another.
    pub fn is_video(&self) -> bool {
        let is_repair = self.borrowed * 2 > self.frame_count;
        let rate = self.clock.and_then(|clock| {
            let time = clock.last_at - clock.first_at;
            (time >= CLOCK_TIME_S).then(|| clock.elapsed as f64 / time)
        });
        let is_near = |rate: f64| (rate / VIDEO_HZ - 1.0).abs() <= CLOCK_TOLERANCE;
        !is_repair && rate.is_some_and(is_near)
    }

    /// Returns the seconds between its first and last frame, and the number of frames in
    /// that time.
    pub fn frame_rate(&self) -> Option<f64> {
        let clock = self.clock?;
        let time = clock.last_at - clock.first_at;
        (time > 0.0).then(|| (self.frame_count - 1) as f64 / time)
    }
}
