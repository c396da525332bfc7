//! Pictures on a viewer's screen.

use std::collections::VecDeque;

use weft_session::ReceivedFrame;
use weft_testing::pictures::Stamp;
use weft_units::{Duration, Freezes, Instant};

/// Picture that was displayed.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub at: Instant,
    pub captured: Instant,
    /// Bytes of the coded picture.
    pub size: usize,
}

/// Pictures that were displayed to a viewer.
#[derive(Default, Debug)]
pub struct Screen {
    pub shown: Vec<Shown>,
    pub freezes: Freezes,
    /// First finding: a picture out of order, or one that cannot be decoded.
    pub wrong: Option<String>,
    /// Number of the last picture on this connection.
    last: Option<u64>,
    /// Numbers of recent pictures, which others may refer to.
    recent: VecDeque<u64>,
    /// Capture time and RTP timestamp of the last picture on this connection.
    clock: Option<(Instant, u32)>,
}

/// Number of remembered pictures: those of three layers refer back over four.
const RECENT: usize = 16;
/// Maximum jump of a stream's RTP clock when another source takes over: a forwarder uses
/// the arrival times, which cuts and queues delay.
const MOST_JUMP: f64 = 3.0;

/// Pictures that were displayed within a second.
#[derive(Clone, Copy, Debug)]
pub struct Second {
    pub pictures: usize,
    /// Age of the oldest one, from capture to display.
    pub oldest: Duration,
    pub bytes: usize,
}

impl Screen {
    /// Starts a connection: its pictures start with a keyframe.
    pub fn begin_again(&mut self) {
        self.last = None;
        self.clock = None;
        self.recent.clear();
    }

    /// Shows a frame.
    pub fn show(&mut self, now: Instant, stamp: Option<Stamp>, frame: &ReceivedFrame) {
        let size = frame.data.len();
        let Some(stamp) = stamp else {
            self.wrong = Some(format!("a frame of {size} bytes"));
            return;
        };
        self.check_clock(stamp.captured, frame.timestamp);
        let number = stamp.number;
        if self.last.is_none() && !stamp.keyframe {
            self.wrong = Some(format!("delta frame {number} before any keyframe"));
        }
        // The publisher may have restarted, with a keyframe among its first pictures.
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
            size,
        });
    }

    /// Compares the time between two captures with the RTP timestamps (90 kHz).
    fn check_clock(&mut self, captured: Instant, timestamp: u32) {
        if let Some((before, last)) = self.clock.replace((captured, timestamp)) {
            let told = f64::from(timestamp.wrapping_sub(last) as i32) / 90_000.0;
            let passed = captured.as_secs_f64() - before.as_secs_f64();
            if (told - passed).abs() > MOST_JUMP {
                let what = format!("timestamps {told:.3} s apart after {passed:.3} s");
                self.wrong = Some(what);
            }
        }
    }

    /// Returns the number of pictures within this time.
    pub fn count(&self, from: Instant, to: Instant) -> usize {
        let within = |s: &&Shown| (from..to).contains(&s.at);
        self.shown.iter().filter(within).count()
    }

    /// Returns the pictures displayed since `from`.
    pub fn since(&self, from: Instant) -> Second {
        let later = &self.shown[self.shown.partition_point(|s| s.at < from)..];
        let age = |s: &Shown| s.at.saturating_since(s.captured);
        Second {
            pictures: later.len(),
            oldest: later.iter().map(age).max().unwrap_or_default(),
            bytes: later.iter().map(|s| s.size).sum(),
        }
    }

    /// Returns the time of the first picture after `from`.
    pub fn first_after(&self, from: Instant) -> Option<Instant> {
        let place = self.shown.partition_point(|s| s.at <= from);
        self.shown.get(place).map(|s| s.at)
    }

    /// Returns the `q` quantile of the latency from capture to display, since `from`.
    pub fn latency(&self, from: Instant, q: f64) -> Option<Duration> {
        let later = self.shown.iter().filter(|s| s.at >= from);
        let mut all: Vec<Duration> = later.map(|s| s.at.saturating_since(s.captured)).collect();
        all.sort();
        let last = all.len().checked_sub(1)?;
        Some(all[(last as f64 * q) as usize])
    }
}
