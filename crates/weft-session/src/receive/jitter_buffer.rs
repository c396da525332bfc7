//! Play-out time of a frame: its timestamp in our clock plus a delay that follows the
//! frames' own delays.
//!
//! The transit of a frame is its arrival in our clock minus its timestamp. The smallest
//! transit of the last seconds represents the offset of the sender's clock plus the
//! shortest delay of the fastest path; the play-out transit is a high quantile of the
//! transits of complete frames. It therefore covers skew between paths, common
//! retransmissions and the transmission time of a frame, but not a single late frame or
//! one row of them.

use super::transits::{Transits, nth_highest};
use std::collections::VecDeque;
use weft_units::{Duration, Instant, MediaKind};

/// Tolerated late frames, one in this many. NetEQ's delay manager aims at the 0.95
/// quantile; here, late audio cannot be repaired, hence 0.99.
const VIDEO_LATE_ONE_IN: usize = 20;
const AUDIO_LATE_ONE_IN: usize = 100;
/// Margin on the quantile, for timers and thread switches; chosen by us.
const MARGIN_NANOS: i64 = 5_000_000;
/// Longest delay of sound, in nanoseconds; more is no longer acceptable for a
/// conversation (ITU-T G.114).
const AUDIO_MAX_DELAY: i64 = 400_000_000;
/// Longest delay of pictures, in nanoseconds. A longer wait is a freeze already, and one
/// freeze is better than a lasting delay. Chosen by us.
const VIDEO_MAX_DELAY: i64 = 200_000_000;
/// A picture this late, or this long after the previous one, is a sign of trouble, and
/// more will follow. For this long, pictures then wait for at least this time, relative
/// to the quickest possible packet. Chosen by trial (`docs/protocol/calm.md`).
const TROUBLE_LATE: i64 = 100_000_000;
const TROUBLE_GAP: Duration = Duration::from_millis(130);
const TROUBLED_LEAST: i64 = 50_000_000;
/// Least delay, in nanoseconds, if another path takes over for one that fails: that takes
/// a round trip plus the time until feedback is missed.
const TROUBLED_LEAST_OF_SEVERAL: i64 = 70_000_000;
const TROUBLED_FOR: Duration = Duration::from_secs(20);
/// On the only path, waiting is the only way to cover a repair: pictures wait there for
/// as long as the second latest picture of this time was late. A single late picture does
/// not predict another. Chosen by trial (`docs/protocol/calm.md`).
const LATE_FOR: Duration = Duration::from_secs(15);
const LATE_TWICE: usize = 2;
/// Delay, in nanoseconds, from which a picture was repaired or waited in a queue.
const LATE: i64 = 60_000_000;
/// Most late pictures in that time, at 30 a second.
const MOST_LATE: usize = 450;
/// The delay shrinks by one part in this many of the elapsed time. Pictures use
/// libwebrtc's 100 ms a second (`kDelayMaxChangeMsPerS`, `timing.cc`); sound plays 5 %
/// faster, chosen by us. Growth is immediate.
const VIDEO_SHRINK: i64 = 10;
const AUDIO_SHRINK: i64 = 20;
/// The smallest transit covers ten buckets of a second each.
const BUCKET: Duration = Duration::from_secs(1);
const BUCKETS: u64 = 10;

/// Remedy for a late picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remedy {
    /// Unknown: the sender's scheduler leaves late pictures to the receiver.
    Unknown,
    /// Repair on the only path, so the receiver can only wait for it.
    Waiting,
    /// Another path.
    OtherPath,
}

#[derive(Debug)]
pub(super) struct JitterBuffer {
    kind: MediaKind,
    clock_rate: u64,
    shrink: i64,
    /// Smallest transit per bucket of time, oldest first.
    floors: VecDeque<(u64, i64)>,
    /// Smallest transit of all buckets.
    floor: Option<i64>,
    transits: Transits,
    playout: Option<i64>,
    updated_at: Instant,
    trouble_at: Option<Instant>,
    /// Least wait of pictures in times of trouble.
    troubled_least: i64,
    /// Recent late pictures on the only path, with their delay; `None` if there are other
    /// paths.
    late: Option<VecDeque<(Instant, i64)>>,
}

impl JitterBuffer {
    pub(super) fn new(kind: MediaKind, clock_rate: u32) -> JitterBuffer {
        JitterBuffer {
            kind,
            clock_rate: u64::from(clock_rate.max(1)),
            shrink: match kind {
                MediaKind::Audio => AUDIO_SHRINK,
                MediaKind::Video => VIDEO_SHRINK,
            },
            floors: VecDeque::new(),
            floor: None,
            transits: Transits::new(match kind {
                MediaKind::Audio => AUDIO_LATE_ONE_IN,
                MediaKind::Video => VIDEO_LATE_ONE_IN,
            }),
            playout: None,
            updated_at: Instant::ZERO,
            trouble_at: None,
            troubled_least: TROUBLED_LEAST,
            late: None,
        }
    }

    /// Sets the remedy for late pictures.
    pub(super) fn set_remedy(&mut self, remedy: Remedy) {
        self.troubled_least = match remedy {
            Remedy::Unknown | Remedy::Waiting => TROUBLED_LEAST,
            Remedy::OtherPath => TROUBLED_LEAST_OF_SEVERAL,
        };
        let only = remedy == Remedy::Waiting;
        if only != self.late.is_some() {
            self.late = only.then(VecDeque::new);
        }
    }

    /// Records an original packet with this transit.
    pub(super) fn on_packet(&mut self, now: Instant, transit: i64) {
        let bucket = now.as_nanos() / BUCKET.as_nanos();
        match self.floors.back_mut() {
            Some((last, floor)) if *last == bucket => *floor = (*floor).min(transit),
            _ => self.floors.push_back((bucket, transit)),
        }
        self.floor = Some(self.floor.map_or(transit, |floor| floor.min(transit)));
        let is_old = |(first, _): &(u64, i64)| first + BUCKETS <= bucket;
        while self.floors.front().is_some_and(is_old) {
            self.floors.pop_front();
            self.floor = self.floors.iter().map(|(_, floor)| *floor).min();
        }
    }

    /// Records that a frame became complete.
    pub(super) fn on_complete(&mut self, now: Instant, timestamp: u64) {
        let transit = self.transit(now, timestamp);
        self.transits.add(now, transit);
        self.watch_for_trouble(now, transit);
        self.note_late(now, transit);
        let target = self.target(now);
        let elapsed = now.saturating_since(self.updated_at).as_nanos() as i64;
        self.updated_at = now;
        self.playout = Some(match self.playout {
            Some(playout) => {
                let shrunk = playout.saturating_sub(elapsed / self.shrink);
                self.ceiling().min(target.max(shrunk))
            }
            None => target,
        });
    }

    /// Returns when to play the frame with this timestamp.
    pub(super) fn release_at(&self, timestamp: u64) -> Instant {
        let playout = self.playout.unwrap_or(0);
        let nanos = self.nanos(timestamp).saturating_add(playout);
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }

    /// Returns the delay of play-out relative to the fastest possible packet.
    pub(super) fn delay(&self) -> Duration {
        match (self.playout, self.floor) {
            (Some(playout), Some(floor)) => {
                Duration::from_nanos(playout.saturating_sub(floor).max(0) as u64)
            }
            _ => Duration::ZERO,
        }
    }

    /// Returns the arrival minus the timestamp, in nanoseconds.
    pub(super) fn transit(&self, now: Instant, timestamp: u64) -> i64 {
        (now.as_nanos() as i64).saturating_sub(self.nanos(timestamp))
    }

    fn watch_for_trouble(&mut self, now: Instant, transit: i64) {
        let late = self
            .floor
            .is_some_and(|floor| transit - floor > TROUBLE_LATE);
        let gap = now.saturating_since(self.updated_at) > TROUBLE_GAP;
        if self.playout.is_some() && (late || gap) {
            self.trouble_at = Some(now);
        }
    }

    fn note_late(&mut self, now: Instant, transit: i64) {
        let floor = self.floor.unwrap_or(transit);
        let Some(late) = &mut self.late else {
            return;
        };
        let past = |at: Instant| now.saturating_since(at) > LATE_FOR;
        while late.len() > MOST_LATE || late.front().is_some_and(|(at, _)| past(*at)) {
            late.pop_front();
        }
        if self.playout.is_some() && transit - floor > LATE {
            late.push_back((now, transit - floor));
        }
    }

    /// Returns the recurring lateness of pictures on the only path.
    fn lateness(&self) -> Option<i64> {
        let late = self.late.as_ref()?.iter().map(|(_, late)| *late);
        nth_highest::<LATE_TWICE>(late)
    }

    fn target(&self, now: Instant) -> i64 {
        // There is a quantile, because a frame was just added.
        let quantile = self.transits.quantile().unwrap_or(0);
        let target = match self.kind {
            MediaKind::Audio => quantile,
            MediaKind::Video => {
                let recurring = self.transits.recurring();
                recurring.map_or(quantile, |transit| transit.min(quantile))
            }
        };
        let recent = |at: Instant| now.saturating_since(at) < TROUBLED_FOR;
        let troubled = self.trouble_at.is_some_and(recent);
        let least = troubled.then_some(self.troubled_least).max(self.lateness());
        let is_video = self.kind == MediaKind::Video;
        let least = self.floor.zip(least).filter(|_| is_video);
        let least = least.map_or(i64::MIN, |(floor, least)| floor.saturating_add(least));
        let target = target.saturating_add(MARGIN_NANOS).max(least);
        target.min(self.ceiling())
    }

    fn ceiling(&self) -> i64 {
        let most = match self.kind {
            MediaKind::Audio => AUDIO_MAX_DELAY,
            MediaKind::Video => VIDEO_MAX_DELAY,
        };
        self.floor
            .map_or(i64::MAX, |floor| floor.saturating_add(most))
    }

    fn nanos(&self, timestamp: u64) -> i64 {
        const SECOND: u64 = 1_000_000_000;
        // The remainder is below the clock rate, which has 32 bits, so this cannot
        // overflow.
        let (seconds, rest) = (timestamp / self.clock_rate, timestamp % self.clock_rate);
        let nanos = seconds
            .saturating_mul(SECOND)
            .saturating_add(rest * SECOND / self.clock_rate);
        i64::try_from(nanos).unwrap_or(i64::MAX)
    }
}
