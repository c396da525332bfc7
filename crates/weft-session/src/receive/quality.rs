//! Effect of the paths on the construction of frames (Converge, section 4.2).
//!
//! A frame is complete when its packets have arrived, whether it is assembled here or
//! passed on in packets. If it completes later after the previous frame than the sender's
//! frame rate implies, the feedback states for each path except the fast one how many
//! packets it delivered before the fast path's last one (positive) or after it
//! (negative). docs/protocol/scheduler-converge.md has the paper's equations, and our
//! decisions where it leaves gaps.

use std::collections::{BTreeMap, VecDeque};

use smallvec::SmallVec;
use weft_units::{Duration, Instant, PathId};

use super::types::{PathQuality, ReceivedPacket};

/// Maximum number of observed frames: one second of 60 Hz; chosen by us.
const MAX_FRAMES: usize = 64;
/// Maximum number of observed packets of a frame: 600 kB; chosen by us.
const MAX_PACKETS: usize = 512;
/// Factor of the expected inter-frame delay above which a delay is too long. Pacing and
/// different frame sizes change it by less; chosen by us.
const TOLERANCE: f64 = 1.25;
/// Lead of a path's first packets at which it becomes the reference; with a smaller lead,
/// two similar paths would alternate. Chosen by us.
const CLEARLY_FASTER_NANOS: f64 = 5e6;
/// Weight of a new lag, as in the smoothed round trip (RFC 6298).
const GAIN: f64 = 1.0 / 8.0;
/// Time for which a packet counts as late if its frame was complete without it; chosen by
/// us: the age up to which packets are sent again.
const MEMORY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Frame {
    /// Lowest and highest sequence number, and the number of packets.
    span: Option<(u64, u64)>,
    count: u64,
    has_marker: bool,
    is_complete: bool,
    first_at: Option<Instant>,
    /// Arrivals of original packets, in order.
    arrivals: Vec<(PathId, Instant)>,
}

impl Frame {
    /// Whether no packet between the lowest and the last one is missing.
    fn is_whole(&self) -> bool {
        let all = |(low, high)| high - low + 1 == self.count;
        self.has_marker && self.span.is_some_and(all)
    }
}

/// Observes one stream. Does nothing until the frame rate is known.
#[derive(Debug)]
pub(super) struct QualityMonitor {
    ticks_per_second: u64,
    expected: Option<Duration>,
    /// Frames by timestamp, ascending.
    frames: VecDeque<(u64, Frame)>,
    /// Smoothed lag of each path's first packet behind the frame's first one, and the time
    /// of its last update.
    lags: BTreeMap<PathId, (f64, Instant)>,
    reference: Option<PathId>,
    /// Packets that arrived after their frame was complete without them.
    overdue: BTreeMap<PathId, (u16, Instant)>,
    /// Timestamp and completion of the previous frame.
    last: Option<(u64, Instant)>,
    /// Reused buffer for the arrivals of the next frame.
    spare: Vec<(PathId, Instant)>,
}

impl QualityMonitor {
    pub(super) fn new(clock_rate: u32) -> QualityMonitor {
        QualityMonitor {
            ticks_per_second: u64::from(clock_rate.max(1)),
            expected: None,
            frames: VecDeque::new(),
            lags: BTreeMap::new(),
            reference: None,
            overdue: BTreeMap::new(),
            last: None,
            spare: Vec::new(),
        }
    }

    /// Sets the expected inter-frame delay from the sender's frame rate.
    pub(super) fn set_expected(&mut self, interval: Duration) {
        self.expected = Some(interval);
    }

    pub(super) fn expected(&self) -> Option<Duration> {
        self.expected
    }

    /// Discards all frames because a new numbering starts.
    pub(super) fn restart(&mut self) {
        self.frames.clear();
        self.overdue.clear();
        self.last = None;
    }

    /// Records the first arrival of a packet.
    pub(super) fn on_packet(
        &mut self,
        now: Instant,
        packet: &ReceivedPacket<'_>,
        timestamp: u64,
    ) -> Vec<PathQuality> {
        if self.expected.is_none() {
            return Vec::new();
        }
        let Some(place) = self.place(timestamp) else {
            return Vec::new();
        };
        let frame = &mut self.frames[place].1;
        let (low, high) = frame.span.unwrap_or((packet.sequence, packet.sequence));
        frame.span = Some((low.min(packet.sequence), high.max(packet.sequence)));
        frame.count += 1;
        frame.has_marker |= packet.marker;
        frame.first_at.get_or_insert(now);
        if packet.is_original() && frame.arrivals.len() < MAX_PACKETS {
            frame.arrivals.push((packet.path, now));
        }
        let is_whole = frame.is_whole();
        let mut found = Vec::new();
        if is_whole && self.becomes_complete(place) {
            found = self.on_complete(now, place);
        }
        // The end of a frame shows where the next one starts.
        if packet.marker && self.becomes_complete(place + 1) {
            found.extend(self.on_complete(now, place + 1));
        }
        found
    }

    /// Returns the position of a frame, adding it if it is new; `None` if it is older
    /// than all observed ones.
    fn place(&mut self, timestamp: u64) -> Option<usize> {
        let len = self.frames.len();
        let found = match self.frames.back() {
            Some((at, _)) if *at == timestamp => Ok(len - 1),
            Some((at, _)) if *at > timestamp => {
                self.frames.binary_search_by_key(&timestamp, |(at, _)| *at)
            }
            _ => Err(len),
        };
        let mut place = match found {
            Ok(place) => return Some(place),
            Err(place) => place,
        };
        if self.frames.len() >= MAX_FRAMES {
            place = place.checked_sub(1)?;
            self.frames.pop_front();
        }
        let frame = Frame {
            arrivals: std::mem::take(&mut self.spare),
            ..Frame::default()
        };
        self.frames.insert(place, (timestamp, frame));
        Some(place)
    }

    /// Records a packet that arrived after its repair, or after its frame was discarded.
    pub(super) fn on_overdue(&mut self, now: Instant, path: PathId) {
        if self.expected.is_some() {
            let (count, at) = self.overdue.entry(path).or_insert((0, now));
            *count = count.saturating_add(1);
            *at = now;
        }
    }

    /// Returns whether the frame at this position has just become complete.
    fn becomes_complete(&mut self, place: usize) -> bool {
        let before = place
            .checked_sub(1)
            .and_then(|before| self.frames.get(before));
        let end_before = before.and_then(|(_, f)| f.span).map(|(_, high)| high);
        let Some((_, frame)) = self.frames.get_mut(place) else {
            return false;
        };
        let begins = frame.span.zip(end_before);
        let whole = frame.is_whole() && begins.is_some_and(|((low, _), end)| end + 1 == low);
        let becomes = whole && !frame.is_complete;
        frame.is_complete |= whole;
        becomes
    }

    fn on_complete(&mut self, now: Instant, place: usize) -> Vec<PathQuality> {
        let (timestamp, frame) = &mut self.frames[place];
        let timestamp = *timestamp;
        let mut arrivals = std::mem::take(&mut frame.arrivals);
        let construction = now.saturating_since(frame.first_at.unwrap_or(now));
        let before = self.last;
        let newest = before.map_or(timestamp, |(newest, _)| newest.max(timestamp));
        self.last = Some((newest, now));
        self.measure_lags(now, &arrivals);
        let found = match before {
            Some(before) if self.is_late(now, timestamp, before) => {
                self.verdicts(now, &arrivals, construction)
            }
            _ => Vec::new(),
        };
        arrivals.clear();
        self.spare = arrivals;
        found
    }

    /// Returns whether a completed frame is late, given the timestamp and completion of
    /// the previous one.
    fn is_late(&self, now: Instant, timestamp: u64, (before, at): (u64, Instant)) -> bool {
        // A gap that the sender left by skipping frames is not lateness.
        let ticks = timestamp.saturating_sub(before);
        let filmed = (u128::from(ticks) * 1_000_000_000) / u128::from(self.ticks_per_second);
        let filmed = Duration::from_nanos(u64::try_from(filmed).unwrap_or(u64::MAX));
        let due = |expected: Duration| expected.max(filmed).mul_f64(TOLERANCE);
        self.expected
            .is_some_and(|expected| now.saturating_since(at) > due(expected))
    }

    fn measure_lags(&mut self, now: Instant, arrivals: &[(PathId, Instant)]) {
        let Some(&(_, first)) = arrivals.first() else {
            return;
        };
        let mut seen = SmallVec::<[PathId; 4]>::new();
        for &(path, at) in arrivals {
            if seen.contains(&path) {
                continue;
            }
            seen.push(path);
            let lag = at.saturating_since(first).as_nanos() as f64;
            let (smoothed, heard) = self.lags.entry(path).or_insert((lag, now));
            *smoothed += (lag - *smoothed) * GAIN;
            *heard = now;
        }
        self.lags
            .retain(|_, (_, heard)| now.saturating_since(*heard) <= MEMORY);
        let lag = |id: &PathId| self.lags.get(id).map(|(lag, _)| *lag);
        let least = self.lags.iter().min_by(|a, b| a.1.0.total_cmp(&b.1.0));
        let current = self.reference.as_ref().and_then(lag);
        if let Some((path, (least, _))) = least
            && current.is_none_or(|current| least + CLEARLY_FASTER_NANOS < current)
        {
            self.reference = Some(*path);
        }
    }

    fn verdicts(
        &mut self,
        now: Instant,
        arrivals: &[(PathId, Instant)],
        construction: Duration,
    ) -> Vec<PathQuality> {
        let of_reference = arrivals.iter().filter(|(p, _)| Some(*p) == self.reference);
        let Some(reference_last) = of_reference.map(|(_, at)| *at).max() else {
            return Vec::new();
        };
        let mut counts: BTreeMap<PathId, (i16, i16)> = BTreeMap::new();
        for (path, at) in arrivals.iter().filter(|(p, _)| Some(*p) != self.reference) {
            let (early, late) = counts.entry(*path).or_default();
            *(if *at > reference_last { late } else { early }) += 1;
        }
        for (path, (count, at)) in std::mem::take(&mut self.overdue) {
            if now.saturating_since(at) <= MEMORY && Some(path) != self.reference {
                let late = &mut counts.entry(path).or_default().1;
                *late = late.saturating_add_unsigned(count);
            }
        }
        let verdict = |(path, (early, late)): (PathId, (i16, i16))| PathQuality {
            path,
            alpha: if late > 0 { -late } else { early },
            construction,
        };
        counts.into_iter().map(verdict).collect()
    }
}

#[cfg(test)]
mod tests;
