//! Publisher: schedules the pictures of the clip and selects their rate.

use std::sync::Arc;

use weft_media::EncodedFrame;
use weft_units::{Duration, Instant, Rate, Rng};

use crate::clip::{Clip, SOUND_RATE};

/// Margin above an encoding's lowest rate for resuming a paused encoding. Chosen by us:
/// the variation of a controller's target.
const RESUME: f64 = 1.2;

/// Camera that plays the clip. It replaces an encoder: it answers keyframe requests by
/// restarting the clip, and follows the target rate by selecting among the versions of each
/// encoding.
#[derive(Debug)]
pub(crate) struct Replay {
    clip: Arc<Clip>,
    next_at: Instant,
    /// Fraction of the interval by which the first picture is delayed.
    offset: f64,
    /// Number of the next picture.
    number: u32,
    encodings: Vec<State>,
    /// Sending times of the pictures, by number.
    sent_at: Vec<Instant>,
    /// Pictures skipped because the thread was late or the rate too low.
    skipped: u64,
    keyframe_requests: u64,
}

/// State of an encoding.
#[derive(Debug)]
struct State {
    /// Index of the next picture in the clip.
    place: usize,
    /// Whether somebody watches the encoding.
    wanted: bool,
    /// Version that the rate allows; `None` pauses the encoding.
    version: Option<usize>,
    /// One of this many pictures is sent: more than one if the target is below the lowest
    /// version.
    every: u32,
}

/// Picture that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    /// Number of the picture.
    pub number: u32,
    /// Delay of this call after the picture's due time.
    pub late: Duration,
}

impl Replay {
    /// Creates a camera that sends the lowest version of each encoding until the first target
    /// is known. The cameras of a run capture at different times, selected by `seed`.
    pub fn new(clip: Arc<Clip>, seed: u32, start: Instant) -> Replay {
        let mut replay = Replay::at_once(clip, start);
        replay.offset = Rng::new(u64::from(seed)).unit();
        replay
    }

    fn at_once(clip: Arc<Clip>, start: Instant) -> Replay {
        let state = |_: &_| State {
            place: 0,
            wanted: true,
            version: Some(0),
            every: 1,
        };
        Replay {
            encodings: clip.encodings.iter().map(state).collect(),
            clip,
            next_at: start,
            offset: 0.0,
            number: 0,
            sent_at: Vec::new(),
            skipped: 0,
            keyframe_requests: 0,
        }
    }

    /// Starts now, because the connection is established.
    pub fn start(&mut self, now: Instant) {
        self.next_at = now + self.interval().mul_f64(self.offset);
    }

    fn interval(&self) -> Duration {
        Duration::from_nanos(1_000_000_000 / u64::from(self.clip.fps))
    }

    /// Returns the time of the next picture.
    pub fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Returns the times of the pictures so far, by number.
    pub fn sent_at(&self) -> &[Instant] {
        &self.sent_at
    }

    /// Returns the number of skipped pictures so far.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// Returns the number of keyframe requests so far.
    pub fn keyframe_requests(&self) -> u64 {
        self.keyframe_requests
    }

    /// Returns the next picture if it is due; skips all due pictures but the last. Send it
    /// in the encodings of [`Replay::frames`].
    pub fn poll(&mut self, now: Instant) -> Option<Due> {
        if now < self.next_at {
            return None;
        }
        let interval = self.interval();
        let late = now.saturating_since(self.next_at);
        let missed = late.as_nanos() / interval.as_nanos();
        self.skipped += missed;
        self.next_at += interval * (missed + 1);
        let number = self.number;
        Some(Due { number, late })
    }

    /// Returns the frame of each encoding that is sent, in order. Advances all encodings.
    pub fn frames(&mut self, now: Instant) -> Vec<(u8, EncodedFrame)> {
        let mut frames = Vec::with_capacity(self.encodings.len());
        for (index, state) in self.encodings.iter_mut().enumerate() {
            let versions = &self.clip.encodings[index].versions;
            let Some(version) = state.version.filter(|_| state.wanted) else {
                state.place = 0;
                continue;
            };
            let pictures = &versions[version].pictures;
            let place = state.place;
            state.place = (place + 1) % pictures.len();
            let is_left_out = place % state.every as usize != 0;
            if let Some(frame) = pictures[place].as_ref().filter(|_| !is_left_out) {
                frames.push((index as u8, frame.clone()));
            }
        }
        match frames.is_empty() {
            true => self.skipped += u64::from(self.encodings.iter().any(|e| e.wanted)),
            false => {
                self.number += 1;
                self.sent_at.push(now);
            }
        }
        frames
    }

    /// Restarts an encoding with a keyframe.
    pub fn request_keyframe(&mut self, encoding: usize) {
        self.keyframe_requests += 1;
        if let Some(state) = self.encodings.get_mut(encoding) {
            state.place = 0;
        }
    }

    /// Pauses the encodings that nobody watches.
    pub fn set_wanted(&mut self, wanted: &[bool]) {
        for (state, wanted) in self.encodings.iter_mut().zip(wanted) {
            state.wanted = *wanted;
        }
    }

    /// Follows the target rate of everything that is sent: first the smallest encoding, then
    /// each larger one that fits (libwebrtc, simulcast_rate_allocator.cc).
    pub fn set_target(&mut self, target: Rate, with_sound: bool) {
        let sound = if with_sound { SOUND_RATE } else { Rate::ZERO };
        let mut left = target.saturating_sub(sound);
        for (index, state) in self.encodings.iter_mut().enumerate() {
            let versions = &self.clip.encodings[index].versions;
            let lowest = versions[0].rate;
            let need = match state.version {
                Some(_) => lowest,
                None => lowest.mul_f64(RESUME),
            };
            let fitting = versions.iter().rposition(|version| version.rate <= left);
            state.every = 1;
            state.version = match (fitting, index) {
                (Some(version), _) if left >= need => Some(version),
                // The smallest encoding is always sent, with fewer pictures.
                (_, 0) => {
                    let ratio = lowest.as_bps().div_ceil(left.as_bps().max(1));
                    state.every = ratio.clamp(1, u64::from(self.clip.fps)) as u32;
                    Some(0)
                }
                _ => None,
            };
            if let Some(version) = state.version.filter(|_| state.wanted) {
                left = left.saturating_sub(versions[version].rate);
            }
        }
    }
}

#[cfg(test)]
mod tests;
