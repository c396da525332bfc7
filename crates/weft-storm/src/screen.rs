//! What becomes of pictures on a viewer's screen.

use std::collections::VecDeque;

use weft_testing::pictures::Stamp;
use weft_units::{Duration, Freezes, Instant};

/// A picture that was shown.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub at: Instant,
    pub captured: Instant,
}

/// What a viewer saw.
#[derive(Default, Debug)]
pub struct Screen {
    pub shown: Vec<Shown>,
    pub freezes: Freezes,
    /// What was seen that must not be.
    pub wrong: Option<String>,
    /// Number of the last one of this connection.
    last: Option<u64>,
    /// Numbers of the last few, which others may refer to.
    recent: VecDeque<u64>,
}

/// Pictures that one may refer back over: four of three layers, and some more.
const RECENT: usize = 16;

impl Screen {
    /// Another connection: its pictures begin with a keyframe.
    pub fn begin_again(&mut self) {
        self.last = None;
        self.recent.clear();
    }

    /// A frame came out.
    pub fn show(&mut self, now: Instant, data: &[u8]) {
        let Some(stamp) = Stamp::of(data) else {
            self.wrong = Some(format!("a frame of {} bytes", data.len()));
            return;
        };
        let number = stamp.number;
        if self.last.is_none() && !stamp.keyframe {
            self.wrong = Some(format!("delta frame {number} before any keyframe"));
        }
        // Who publishes may have begun anew: with a keyframe, at the first.
        let again = number < 300 && stamp.keyframe;
        if self.last >= Some(number) && !again {
            self.wrong = Some(format!("frame {number} after {:?}", self.last));
        }
        if !stamp.keyframe && self.last.is_some() && !self.recent.contains(&stamp.needs) {
            let (needs, recent) = (stamp.needs, &self.recent);
            self.wrong = Some(format!("frame {number} without {needs}, after {recent:?}"));
        }
        if stamp.keyframe {
            self.recent.clear();
        }
        self.recent.truncate(RECENT);
        self.recent.push_front(number);
        self.last = Some(number);
        self.freezes.on_picture(now);
        self.shown.push(Shown {
            at: now,
            captured: stamp.captured,
        });
    }

    /// How many within this time.
    pub fn count(&self, from: Instant, to: Instant) -> usize {
        let within = |s: &&Shown| (from..to).contains(&s.at);
        self.shown.iter().filter(within).count()
    }

    /// How many were shown from then on, and the age of the oldest.
    pub fn since(&self, from: Instant) -> (usize, Duration) {
        let later = &self.shown[self.shown.partition_point(|s| s.at < from)..];
        let age = |s: &Shown| s.at.saturating_since(s.captured);
        (later.len(), later.iter().map(age).max().unwrap_or_default())
    }

    /// When the first one after this time was.
    pub fn first_after(&self, from: Instant) -> Option<Instant> {
        let place = self.shown.partition_point(|s| s.at <= from);
        self.shown.get(place).map(|s| s.at)
    }

    /// From capture to display, the `q` quantile of those shown from `from` on.
    pub fn latency(&self, from: Instant, q: f64) -> Option<Duration> {
        let later = self.shown.iter().filter(|s| s.at >= from);
        let mut all: Vec<Duration> = later.map(|s| s.at.saturating_since(s.captured)).collect();
        all.sort();
        let last = all.len().checked_sub(1)?;
        Some(all[(last as f64 * q) as usize])
    }
}
