//! Sequence numbers to request again, and when.
//!
//! If the peer numbers its packets per path, a sequence number counts as lost only once a
//! path shows a gap in its own numbering around it and no other path can still deliver
//! it, so skew between paths is not loss. Otherwise a small reordering tolerance decides.

use super::numbering::{PathNumbers, REORDER_TIME};
use super::overtaking::Overtaking;
use super::profile::Reordering;
use crate::small_map::SmallMap;
use std::collections::BTreeMap;
use weft_units::{Duration, Instant, PathId};

/// Longest time that a packet may be in flight on a slower path. The sender keeps the
/// skew of its paths below this; chosen by us, within the 100 to 200 ms that libwebrtc's
/// replay window allows.
pub(super) const SKEW_ALLOWANCE: Duration = Duration::from_millis(200);
/// Later packets that confirm a gap: kPacketThreshold, RFC 9002 6.1.1.
pub(super) const REORDER_PACKETS: u64 = 3;
/// Time for which NACKs are collected, so that a burst of losses makes one message;
/// chosen by us (libwebrtc's NackRequester works every 20 ms).
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// Most requests for one packet: kMaxNackRetries of libwebrtc's NackRequester.
const MAX_TRIES: u32 = 10;
/// Most missing packets: half of libwebrtc's kMaxNackPackets. More than this is an
/// outage, which a keyframe ends sooner.
pub(super) const MAX_MISSING: usize = 500;
/// Added to the round-trip time before requesting again, for the sender's pacer and the
/// collection of NACKs; chosen by us.
const RETRY_MARGIN: Duration = Duration::from_millis(10);
/// Assumed round-trip time until it is measured: kDefaultRttMs of libwebrtc.
pub(super) const DEFAULT_RTT: Duration = Duration::from_millis(100);
const MAX_RTT: Duration = Duration::from_millis(1000);
/// Limit of 500 requests a second with a burst of 250: a request costs two milliseconds
/// of a credit of at most half a second; chosen by us.
const REQUEST_COST: Duration = Duration::from_millis(2);
const MAX_CREDIT: Duration = Duration::from_millis(500);
/// Most missing packets recorded per arriving packet: more than any link loses, and more
/// than path skew causes. A jump of the numbers would otherwise cost one record for each
/// number in between. Chosen by us.
const NOTES_PER_PACKET: usize = 8;
const MOST_NOTES: usize = 2 * MAX_MISSING;

/// Most paths whose numbers are kept; a peer can make up any number of them, and each
/// packet iterates over all. Chosen by us: twice the paths of a call over four links to a
/// server with two addresses.
const MOST_PATHS: usize = 16;

/// Result of a check.
#[derive(Default, PartialEq, Eq, Debug)]
pub(super) struct Findings {
    /// Sequence numbers to request now, ascending.
    pub(super) requested: Vec<u64>,
    /// Sequence numbers that were requested without success and are given up.
    pub(super) abandoned: Vec<u64>,
}

#[derive(Debug)]
pub(super) struct NackTracker {
    missing: BTreeMap<u64, Missing>,
    paths: SmallMap<PathId, PathNumbers>,
    /// Paths that deliver copies of other paths' packets: the highest sequence number
    /// among the copies, and the arrival of the last one.
    copies: SmallMap<PathId, (u64, Instant)>,
    highest: Option<u64>,
    /// Distances at which packets overtake each other, if they decide when to request.
    overtaking: Option<Overtaking>,
    rtt: Duration,
    /// Time within which a repair packet may recover a packet.
    repair_wait: Duration,
    credit: Duration,
    /// Number of further packets that may be recorded as missing.
    notes: usize,
    checked_at: Instant,
    wake: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Missing {
    found_at: Instant,
    /// Number of packets that may pass before it is requested.
    patience: u64,
    asked_at: Option<Instant>,
    tries: u32,
}

enum Verdict {
    Lost,
    Abandoned,
    Wait(Instant),
}

/// Gap in one path's numbering, prepared for one check.
struct GapView {
    after: u64,
    before: u64,
    confirmed_at: Option<Instant>,
    /// Whether as many packets are missing in it as the path lost, so that the path lost
    /// them all.
    exclusive: bool,
}

impl NackTracker {
    pub(super) fn new(reordering: Reordering) -> NackTracker {
        NackTracker {
            missing: BTreeMap::new(),
            paths: SmallMap::default(),
            copies: SmallMap::default(),
            highest: None,
            overtaking: (reordering == Reordering::Measured).then(Overtaking::default),
            rtt: DEFAULT_RTT,
            repair_wait: Duration::ZERO,
            credit: MAX_CREDIT,
            notes: MOST_NOTES,
            checked_at: Instant::ZERO,
            wake: None,
        }
    }

    /// Forgets all packets and paths, but not the recent requests.
    pub(super) fn restart(&mut self) {
        self.missing.clear();
        self.paths.clear();
        self.copies.clear();
        self.highest = None;
        self.wake = None;
    }

    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt.min(MAX_RTT);
    }

    pub(super) fn set_repair_wait(&mut self, wait: Duration) {
        self.repair_wait = wait;
    }

    /// Records an original packet. `number` is its number on `path`. Returns false if so
    /// many packets are missing that requests are pointless: all are given up.
    pub(super) fn on_packet(
        &mut self,
        now: Instant,
        path: PathId,
        sequence: u64,
        number: Option<u16>,
    ) -> bool {
        self.note_overtaken(sequence);
        let in_time = self.on_sequence(now, sequence);
        match number {
            Some(number) => self
                .numbers_of(now, path, number, sequence)
                .on_number(now, number, sequence),
            None => {
                self.note_copy(now, path, sequence);
                self.fill_gap(sequence);
            }
        }
        in_time
    }

    /// Records a packet that already arrived on another path: it shows the progress of
    /// its own path.
    pub(super) fn on_duplicate(
        &mut self,
        now: Instant,
        path: PathId,
        sequence: u64,
        number: Option<u16>,
    ) {
        match number {
            Some(number) => self
                .numbers_of(now, path, number, sequence)
                .on_number(now, number, sequence),
            None => self.note_copy(now, path, sequence),
        }
        self.wake_soon(now);
    }

    /// Returns the numbering of a path; a new one starts with these numbers. Beyond
    /// [`MOST_PATHS`] it replaces the one that has been idle for longest.
    fn numbers_of(
        &mut self,
        now: Instant,
        path: PathId,
        number: u16,
        sequence: u64,
    ) -> &mut PathNumbers {
        if self.paths.len() == MOST_PATHS && self.paths.get(&path).is_none() {
            let idle = self.paths.iter().min_by_key(|(_, p)| p.last_arrival());
            if let Some(idle) = idle.map(|(idle, _)| *idle) {
                self.paths.remove(&idle);
                self.copies.remove(&idle);
            }
        }
        self.paths
            .get_or_insert_with(path, || PathNumbers::new(now, number, sequence))
    }

    fn note_overtaken(&mut self, sequence: u64) {
        let behind = self.highest.and_then(|h| h.checked_sub(sequence));
        if let (Some(overtaking), Some(distance @ 1..)) = (&mut self.overtaking, behind) {
            overtaking.add(distance);
        }
    }

    /// Records a copy: a packet without a path number, if other packets have one.
    fn note_copy(&mut self, now: Instant, path: PathId, sequence: u64) {
        if self.paths.is_empty() {
            return;
        }
        if self.copies.len() == MOST_PATHS && self.copies.get(&path).is_none() {
            let idle = self.copies.iter().min_by_key(|(_, (_, at))| *at);
            if let Some(idle) = idle.map(|(idle, _)| *idle) {
                self.copies.remove(&idle);
            }
        }
        let (highest, at) = self.copies.get_or_insert_with(path, || (sequence, now));
        *highest = sequence.max(*highest);
        *at = now;
    }

    /// Returns whether a path that delivers copies has not reached `sequence` yet.
    fn may_bring_copy(&self, now: Instant, sequence: u64) -> bool {
        self.copies
            .values()
            .any(|(highest, at)| *highest < sequence && now.saturating_since(*at) < SKEW_ALLOWANCE)
    }

    fn wake_soon(&mut self, now: Instant) {
        self.wake = if self.missing.is_empty() {
            None
        } else {
            let next = now.max(self.checked_at + CHECK_INTERVAL);
            Some(self.wake.map_or(next, |w| w.min(next)))
        };
    }

    /// Records a retransmission, which belongs to no path's numbering.
    pub(super) fn on_recovered(&mut self, now: Instant, sequence: u64) -> bool {
        self.fill_gap(sequence);
        self.on_sequence(now, sequence)
    }

    /// Forgets the missing packets before `sequence`.
    pub(super) fn forget_before(&mut self, sequence: u64) {
        while let Some(entry) = self.missing.first_entry()
            && *entry.key() < sequence
        {
            entry.remove();
        }
        for path in self.paths.values_mut() {
            path.forget_before(sequence);
        }
        if self.missing.is_empty() {
            self.wake = None;
        }
    }

    /// Returns when [`NackTracker::check`] has something to do.
    pub(super) fn wake(&self) -> Option<Instant> {
        self.wake
    }

    #[cfg(test)]
    pub(super) fn outstanding(&self) -> usize {
        self.missing.len()
    }

    pub(super) fn check(&mut self, now: Instant) -> Findings {
        let mut findings = Findings::default();
        if self.wake.is_none_or(|at| now < at) {
            return findings;
        }
        let since = now.saturating_since(self.checked_at);
        self.credit = MAX_CREDIT.min(Duration::from_nanos(
            self.credit.as_nanos().saturating_add(since.as_nanos()),
        ));
        self.checked_at = now;
        let gaps = self.gap_views(now);
        let mut wake: Option<Instant> = None;
        let mut sooner = |at: Instant| wake = Some(wake.map_or(at, |w| w.min(at)));
        let mut still = std::mem::take(&mut self.missing);
        still.retain(|&sequence, missing| {
            match self.verdict(now, sequence, missing, &gaps) {
                Verdict::Wait(at) => sooner(at),
                Verdict::Abandoned => {
                    findings.abandoned.push(sequence);
                    return false;
                }
                Verdict::Lost if self.credit < REQUEST_COST => sooner(now + CHECK_INTERVAL),
                Verdict::Lost => {
                    self.credit -= REQUEST_COST;
                    missing.asked_at = Some(now);
                    missing.tries += 1;
                    findings.requested.push(sequence);
                    sooner(now + self.rtt + RETRY_MARGIN);
                }
            }
            true
        });
        self.missing = still;
        self.wake = wake;
        findings
    }

    fn on_sequence(&mut self, now: Instant, sequence: u64) -> bool {
        if !self.missing.is_empty() {
            self.missing.remove(&sequence);
        }
        let highest = *self.highest.get_or_insert(sequence);
        let mut in_time = true;
        self.notes = MOST_NOTES.min(self.notes + NOTES_PER_PACKET);
        if sequence > highest {
            self.highest = Some(sequence);
            let gap = (sequence - highest - 1) as usize;
            if gap + self.missing.len() > MAX_MISSING || gap > self.notes {
                self.missing.clear();
                in_time = false;
            } else {
                self.notes -= gap;
                let overtaking = self.overtaking.as_ref();
                let missing = Missing {
                    found_at: now,
                    patience: overtaking.map_or(REORDER_PACKETS, Overtaking::patience),
                    asked_at: None,
                    tries: 0,
                };
                self.missing
                    .extend((highest + 1..sequence).map(|s| (s, missing)));
            }
        }
        self.wake_soon(now);
        in_time
    }

    /// A copy or retransmission delivered a packet that some path lost, so the first gap
    /// around it has one packet less to explain.
    fn fill_gap(&mut self, sequence: u64) {
        for path in self.paths.values_mut() {
            if path.fill_around(sequence) {
                return;
            }
        }
    }

    fn gap_views(&self, now: Instant) -> Vec<GapView> {
        let gaps = self
            .paths
            .values()
            .flat_map(|path| path.gaps().map(move |gap| (gap, path.packets_after(gap))));
        gaps.filter(|(gap, _)| gap.after + 1 < gap.before)
            .map(|(gap, packets_after)| GapView {
                after: gap.after,
                before: gap.before,
                confirmed_at: (packets_after < REORDER_PACKETS)
                    .then(|| gap.seen_at + REORDER_TIME)
                    .filter(|at| *at > now),
                exclusive: self.missing.range(gap.after + 1..gap.before).count() as u64
                    == gap.missing,
            })
            .collect()
    }

    fn verdict(&self, now: Instant, sequence: u64, missing: &Missing, gaps: &[GapView]) -> Verdict {
        if let Some(asked_at) = missing.asked_at {
            let retry_at = asked_at + self.rtt + RETRY_MARGIN;
            return match retry_at > now {
                true => Verdict::Wait(retry_at),
                false if missing.tries >= MAX_TRIES => Verdict::Abandoned,
                false => Verdict::Lost,
            };
        }
        let repaired_by = missing.found_at + self.repair_wait;
        if repaired_by > now && self.overtaking.is_none() {
            return Verdict::Wait(repaired_by);
        }
        if self.paths.is_empty() {
            return self.verdict_by_reordering(now, sequence, missing);
        }
        let limit = missing.found_at + SKEW_ALLOWANCE;
        if limit <= now {
            return Verdict::Lost;
        }
        let in_flight = self
            .paths
            .values()
            .any(|path| path.may_bring(now, sequence, SKEW_ALLOWANCE));
        let copy_comes = self.may_bring_copy(now, sequence);
        let mut wake = limit;
        for gap in gaps
            .iter()
            .filter(|g| g.after < sequence && sequence < g.before)
        {
            match gap.confirmed_at {
                Some(at) => wake = wake.min(at),
                None if copy_comes => {}
                None if gap.exclusive || !in_flight => return Verdict::Lost,
                None => {}
            }
        }
        Verdict::Wait(wake)
    }

    fn verdict_by_reordering(&self, now: Instant, sequence: u64, missing: &Missing) -> Verdict {
        let limit = match self.overtaking {
            None => missing.found_at + REORDER_TIME,
            Some(_) => next_round(missing.found_at),
        };
        let passed = self.highest.unwrap_or(sequence).saturating_sub(sequence);
        match limit <= now || passed >= missing.patience {
            true => Verdict::Lost,
            false => Verdict::Wait(limit),
        }
    }
}

/// Returns when libwebrtc would check for missing packets next
/// (`NackPeriodicProcessor::kUpdateInterval`).
fn next_round(now: Instant) -> Instant {
    const INTERVAL: u64 = 20_000_000;
    Instant::from_nanos((now.as_nanos() / INTERVAL + 1) * INTERVAL)
}
