//! Pictures without content: what a camera sends, and what becomes of it on a
//! screen.

use weft_session::Frame;
use weft_units::{Duration, Freezes, Instant, Rate, Rng};

/// 30 pictures a second.
pub const FRAME_INTERVAL: Duration = Duration::from_nanos(33_333_333);

/// Number and time follow what a VP8 keyframe begins with.
const STAMP: usize = 10;

/// Makes frames of the size that the rate asks for, with number and time in
/// them.
pub struct Camera {
    /// What the session wants.
    pub rate: Rate,
    /// The next frame is to be one.
    pub keyframe_wanted: bool,
    /// When the next frame is due.
    pub next: Option<Instant>,
    number: u64,
    rng: Rng,
}

impl Camera {
    pub fn new(rng: Rng) -> Camera {
        Camera {
            rate: Rate::from_kbps(300),
            keyframe_wanted: true,
            next: None,
            number: 0,
            rng,
        }
    }

    /// Makes the next frame and hands it to `send`.
    pub fn capture(&mut self, now: Instant, send: impl FnOnce(&Frame<'_>)) {
        let keyframe = std::mem::take(&mut self.keyframe_wanted);
        let mean = (self.rate * FRAME_INTERVAL).0 as f64;
        let factor = match keyframe {
            true => 3.0,
            false => (self.rng.normal() * 0.2).exp(),
        };
        let mut data = vec![0; (mean * factor).max(50.0) as usize];
        // RFC 6386 section 9.1: the lowest bit is 0 in a keyframe.
        data[0] = u8::from(!keyframe);
        data[STAMP..][..8].copy_from_slice(&self.number.to_be_bytes());
        data[STAMP + 8..][..8].copy_from_slice(&now.as_nanos().to_be_bytes());
        let timestamp = (self.number * 3000) as u32;
        self.number += 1;
        send(&Frame {
            data: &data,
            timestamp,
            keyframe,
            temporal_layer: None,
            layer_sync: false,
            non_reference: false,
            captured_at: now,
        });
    }
}

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
}

impl Screen {
    /// Another connection: its pictures begin with a keyframe.
    pub fn begin_again(&mut self) {
        self.last = None;
    }

    /// A frame came out.
    pub fn show(&mut self, now: Instant, data: &[u8]) {
        let Some(stamp) = data.get(STAMP..STAMP + 16) else {
            self.wrong = Some(format!("a frame of {} bytes", data.len()));
            return;
        };
        let word = |at: usize| stamp[at..].first_chunk().map(|b| u64::from_be_bytes(*b));
        let (number, captured) = (word(0).unwrap_or(0), word(8).unwrap_or(0));
        if self.last.is_none() && data[0] & 1 == 1 {
            self.wrong = Some(format!("delta frame {number} before any keyframe"));
        }
        // Who publishes may have begun anew: with a keyframe, at the first.
        let again = number < 300 && data[0] & 1 == 0;
        if self.last >= Some(number) && !again {
            self.wrong = Some(format!("frame {number} after {:?}", self.last));
        }
        self.last = Some(number);
        self.freezes.on_picture(now);
        self.shown.push(Shown {
            at: now,
            captured: Instant::from_nanos(captured),
        });
    }

    /// How many within this time.
    pub fn count(&self, from: Instant, to: Instant) -> usize {
        let within = |s: &&Shown| (from..to).contains(&s.at);
        self.shown.iter().filter(within).count()
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
