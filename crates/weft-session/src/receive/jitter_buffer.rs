//! When a frame is played: its timestamp in our clock plus a delay that
//! follows the frames' own delays.
//!
//! The transit of a frame is its arrival in our clock less its timestamp. The
//! smallest transit of the last seconds stands for the offset of the sender's
//! clock plus the shortest delay of the fastest path; the play-out transit
//! is a high quantile of the transits of complete frames. So the skew between
//! paths, retransmissions that are common and the time a frame takes on the
//! wire count, and a single late frame, or a row of them, does not.

use super::transits::{Transits, nth_highest};
use std::collections::VecDeque;
use weft_units::{Duration, Instant, MediaKind};

/// Late frames that are put up with, one in so many. NetEQ's delay manager
/// aims at the 0.95 quantile; audio has no repair here for what comes late,
/// hence 0.99.
const VIDEO_LATE_ONE_IN: usize = 20;
const AUDIO_LATE_ONE_IN: usize = 100;
/// Added to the quantile, for timers and thread switches; chosen by us.
const MARGIN_NANOS: i64 = 5_000_000;
/// More delay than this is no conversation any more: ITU-T G.114.
const AUDIO_MAX_DELAY: i64 = 400_000_000;
/// Longest delay of pictures, in microseconds. A longer wait is a freeze
/// already, and one freeze is better than a delay that stays after it. Chosen by
/// us.
const VIDEO_MAX_DELAY: i64 = 200_000_000;
/// A picture so late, or one that follows the last one after so long, is
/// trouble, and more of it is near: pictures then wait for at least so long
/// over the quickest possible packet, for so long. Chosen by trial
/// (`docs/protocol/calm.md`).
const TROUBLE_LATE: i64 = 100_000_000;
const TROUBLE_GAP: Duration = Duration::from_millis(130);
const TROUBLED_LEAST: i64 = 50_000_000;
/// Least delay, in microseconds, where another path brings the pictures that one
/// path fails to bring: that takes a round trip and the time until feedback is
/// missed.
const TROUBLED_LEAST_OF_SEVERAL: i64 = 70_000_000;
const TROUBLED_FOR: Duration = Duration::from_secs(20);
/// On the only path nothing but waiting makes up for a repair: pictures wait
/// there for as long as the second latest one of so long a time was late. One
/// says nothing of the next. Chosen by trial (`docs/protocol/calm.md`).
const LATE_FOR: Duration = Duration::from_secs(15);
const LATE_TWICE: usize = 2;
/// A picture so late was repaired, or stood in a queue.
const LATE: i64 = 60_000_000;
/// As many as 30 a second are in that time.
const MOST_LATE: usize = 450;
/// The delay shrinks by one part in so many of the time that passes. Pictures
/// by libwebrtc's 100 ms a second (`kDelayMaxChangeMsPerS`, `timing.cc`); sound
/// plays 5 % faster, chosen by us. It grows at once.
const VIDEO_SHRINK: i64 = 10;
const AUDIO_SHRINK: i64 = 20;
/// The smallest transit is that of ten buckets of a second each.
const BUCKET: Duration = Duration::from_secs(1);
const BUCKETS: u64 = 10;

/// Remedy for a picture that is late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remedy {
    /// The sender's scheduler leaves that to the receiver.
    Unknown,
    /// A repair on the only path, and nothing but waiting for it.
    Waiting,
    /// Another path.
    OtherPath,
}

#[derive(Debug)]
pub(super) struct JitterBuffer {
    kind: MediaKind,
    clock_rate: u64,
    late_one_in: usize,
    shrink: i64,
    /// Smallest transit per bucket of time, oldest first.
    floors: VecDeque<(u64, i64)>,
    /// Smallest of them all.
    floor: Option<i64>,
    transits: Transits,
    playout: Option<i64>,
    updated_at: Instant,
    trouble_at: Option<Instant>,
    /// At least so long pictures wait in times of trouble.
    troubled_least: i64,
    /// Pictures that were late on the only path, and how late; `None` where
    /// there are others.
    late: Option<VecDeque<(Instant, i64)>>,
}

impl JitterBuffer {
    pub(super) fn new(kind: MediaKind, clock_rate: u32) -> JitterBuffer {
        JitterBuffer {
            kind,
            clock_rate: u64::from(clock_rate.max(1)),
            late_one_in: match kind {
                MediaKind::Audio => AUDIO_LATE_ONE_IN,
                MediaKind::Video => VIDEO_LATE_ONE_IN,
            },
            shrink: match kind {
                MediaKind::Audio => AUDIO_SHRINK,
                MediaKind::Video => VIDEO_SHRINK,
            },
            floors: VecDeque::new(),
            floor: None,
            transits: Transits::default(),
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

    /// An original packet arrived, after this transit.
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

    /// A frame became complete.
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

    /// When the frame of this timestamp is to be played.
    pub(super) fn release_at(&self, timestamp: u64) -> Instant {
        let playout = self.playout.unwrap_or(0);
        let nanos = self.nanos(timestamp).saturating_add(playout);
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }

    /// How much later than the fastest possible packet a frame is played.
    pub(super) fn delay(&self) -> Duration {
        match (self.playout, self.floor) {
            (Some(playout), Some(floor)) => {
                Duration::from_nanos(playout.saturating_sub(floor).max(0) as u64)
            }
            _ => Duration::ZERO,
        }
    }

    /// Arrival less timestamp, in nanoseconds.
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

    /// How late pictures are on the only path, now and then.
    fn lateness(&self) -> Option<i64> {
        let late = self.late.as_ref()?.iter().map(|(_, late)| *late);
        nth_highest::<LATE_TWICE>(late)
    }

    fn target(&self, now: Instant) -> i64 {
        // A frame has just been added.
        let quantile = self.transits.quantile(self.late_one_in).unwrap_or(0);
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
        // The rest is below the clock rate, which has 32 bits: it cannot
        // overflow.
        let (seconds, rest) = (timestamp / self.clock_rate, timestamp % self.clock_rate);
        let nanos = seconds
            .saturating_mul(SECOND)
            .saturating_add(rest * SECOND / self.clock_rate);
        i64::try_from(nanos).unwrap_or(i64::MAX)
    }
}
