//! Decides which frames to send of an encoder that ignores the rate.

#[cfg(test)]
mod tests;

use weft_units::{Bytes, Duration, Instant, Rate};

/// Longest backlog, as time to send it, at which a frame of the first layer above the
/// base is still sent; the limit halves with each further layer. Chosen by us: two
/// pictures at 20 a second.
const UPPER_LAYERS: Duration = Duration::from_millis(100);
/// Longest backlog for frames on which all later ones depend. Chosen by us: with a lower
/// limit, an encoder at twice the rate would send little but keyframes.
const BASE: Duration = Duration::from_millis(400);
/// Backlog below which a keyframe is requested after a gap. Chosen by us.
const CAUGHT_UP: Duration = Duration::from_millis(50);
/// Time over which the encoder's rate and its dropped frames are measured. Chosen by us.
const WINDOW: Duration = Duration::from_secs(5);

/// Encoded frame that may be sent or dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OfferedFrame {
    /// Encoded size.
    pub bytes: Bytes,
    /// Whether it can be decoded without any other frame.
    pub keyframe: bool,
    /// Temporal layer; `None` without layers.
    pub temporal_layer: Option<u8>,
    /// Whether it depends on the base layer only (the Y bit of RFC 7741).
    pub layer_sync: bool,
}

/// Change in whether an encoder keeps to the rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EncoderPace {
    /// The encoder sends more than the network carries, so frames are dropped.
    TooFast {
        /// Rate of the encoder.
        sent: Rate,
        /// Rate that the network carries.
        carried: Rate,
    },
    /// The encoder's frames fit again.
    Fits,
}

/// Drops frames of an encoder that sends more than the network carries: upper temporal
/// layers first, then everything up to a keyframe for which there is room. No frame sent
/// later depends on a dropped frame.
#[derive(Debug, Default)]
pub struct FrameDropper {
    /// Bytes that are still queued if the network carries the allowed rate.
    backlog: f64,
    last: Option<Instant>,
    /// Whether all frames are dropped until a keyframe.
    is_waiting: bool,
    /// Whether that keyframe was requested.
    is_asked: bool,
    /// Lowest layer whose frames are dropped until one synchronizes it.
    cut: Option<u8>,
    window: Window,
    pace: Option<EncoderPace>,
}

/// Counts since the start of the present window.
#[derive(Debug, Default)]
struct Window {
    since: Option<Instant>,
    bytes: Bytes,
    dropped: u32,
}

impl FrameDropper {
    /// Decides about the next frame at the rate that the network carries now, and returns
    /// whether to send it. At a rate of zero, nothing is sent.
    pub fn on_frame(&mut self, now: Instant, frame: OfferedFrame, rate: Rate) -> bool {
        self.drain(now, rate);
        let is_sent = self.takes(frame, rate);
        if is_sent {
            self.backlog += frame.bytes.0 as f64;
        }
        self.window.bytes = Bytes(self.window.bytes.0 + frame.bytes.0);
        self.window.dropped += u32::from(!is_sent);
        is_sent
    }

    /// Returns whether to request a keyframe from the encoder because a gap can end now.
    /// Returns true only once per gap.
    pub fn wants_keyframe(&mut self, now: Instant, rate: Rate) -> bool {
        self.drain(now, rate);
        let wants = self.is_waiting && !self.is_asked && self.delay(rate) < CAUGHT_UP;
        self.is_asked |= wants;
        wants
    }

    /// Returns the change of the encoder's pace, if the window that just ended shows one.
    pub fn pace_change(&mut self, now: Instant, rate: Rate) -> Option<EncoderPace> {
        let since = *self.window.since.get_or_insert(now);
        let length = now.saturating_since(since);
        if length < WINDOW {
            return None;
        }
        let Window { bytes, dropped, .. } = std::mem::take(&mut self.window);
        let was_fast = matches!(self.pace, Some(EncoderPace::TooFast { .. }));
        let pace = match (was_fast, dropped) {
            (false, 1..) => EncoderPace::TooFast {
                sent: bytes / length,
                carried: rate,
            },
            (true, 0) => EncoderPace::Fits,
            _ => return None,
        };
        self.pace = Some(pace);
        self.pace
    }

    fn takes(&mut self, frame: OfferedFrame, rate: Rate) -> bool {
        let delay = self.delay(rate);
        if frame.keyframe {
            if delay >= BASE {
                self.wait();
                return false;
            }
            (self.is_waiting, self.cut) = (false, None);
            return true;
        }
        if self.is_waiting {
            return false;
        }
        let layer = frame.temporal_layer.unwrap_or(0);
        if layer == 0 {
            if delay >= BASE {
                self.wait();
            }
            return !self.is_waiting;
        }
        let limit = UPPER_LAYERS.mul_f64(0.5f64.powi(i32::from(layer) - 1));
        if delay >= limit {
            self.cut = Some(self.cut.map_or(layer, |cut| cut.min(layer)));
            return false;
        }
        match self.cut {
            Some(cut) if layer == cut && frame.layer_sync => {
                self.cut = Some(cut + 1);
                true
            }
            Some(cut) => layer < cut,
            None => true,
        }
    }

    fn wait(&mut self) {
        (self.is_waiting, self.is_asked) = (true, false);
    }

    /// Returns the time that the backlog needs to leave.
    fn delay(&self, rate: Rate) -> Duration {
        rate.time_for(Bytes(self.backlog as u64))
            .unwrap_or(Duration::from_secs(3600))
    }

    fn drain(&mut self, now: Instant, rate: Rate) {
        let last = self.last.replace(now).unwrap_or(now);
        let seconds = now.saturating_since(last).as_secs_f64();
        self.backlog = (self.backlog - rate.as_bps() as f64 / 8.0 * seconds).max(0.0);
    }
}
