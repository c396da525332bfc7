//! OpenH264's rate control in its bit rate mode, as libwebrtc uses it.
//!
//! The rules are those of OpenH264 (`codec/encoder/core/src/ratectl.cpp`):
//! groups of eight pictures have a budget, which the pictures left in a group
//! share equally. What the pictures cost at a quantizer is fitted.

use super::{Content, H264, Noise, Outcome, Picture};

/// Pictures in a group: `VGOP_SIZE`.
const GROUP: u32 = 8;
/// A keyframe's share of pictures: `IDR_BITRATE_RATIO`.
const KEYFRAME: f64 = 4.0;
/// What may wait before pictures are skipped, in seconds of the rate:
/// `SKIP_QP_90PERCENT` and `iBufferSizeSkip`, half a second.
const SKIP: f64 = 0.5;
/// Finest and coarsest quantizer (H.264 section 7.4.2.2).
const BEST: f64 = 0.0;
const WORST: f64 = 51.0;
/// A picture has at least this of its share when the group's budget is spent.
const LEAST: f64 = 0.25;

#[derive(Clone, Debug)]
pub(super) struct OpenH264 {
    content: Content,
    noise: Noise,
    rate: f64,
    /// Bits and pictures left in the group.
    budget: f64,
    pictures_left: u32,
    /// Bits above the rate that were not paid back yet.
    backlog: f64,
}

impl OpenH264 {
    pub fn new(rate: f64, content: Content, noise: Noise) -> OpenH264 {
        OpenH264 {
            content,
            noise,
            rate,
            budget: 0.0,
            pictures_left: 0,
            backlog: 0.0,
        }
    }

    /// The budget of the group changes at once.
    pub fn set_rate(&mut self, rate: f64) {
        self.budget *= rate / self.rate;
        self.backlog *= rate / self.rate;
        self.rate = rate;
    }

    pub fn encode(&mut self, picture: Picture) -> Option<Outcome> {
        let share = self.rate / picture.fps;
        let noise = self.noise.next();
        if !picture.keyframe && self.backlog > SKIP * self.rate {
            self.backlog -= share;
            return None;
        }
        if picture.keyframe || self.pictures_left == 0 {
            self.budget = share * f64::from(GROUP);
            self.pictures_left = GROUP;
        }
        let (curve, aim) = match picture.keyframe {
            true => (&H264.key_bits, KEYFRAME * share),
            false => {
                let equal = self.budget / f64::from(self.pictures_left);
                (&H264.delta_bits, equal.max(LEAST * share))
            }
        };
        // The quantizer whose mean bits are the aim; its fraction stands for
        // quantizers that differ within the picture.
        let cost = |quantizer: f64| {
            let bits = curve.at(quantizer / 6.0, self.content.scale);
            (bits + self.content.complexity).exp2() * self.content.pixels
        };
        let octaves = (aim / cost(0.0)).log2() / curve.step;
        let quantizer = (6.0 * octaves).clamp(BEST, WORST);
        let bits = cost(quantizer) * noise.exp2();
        self.budget -= bits;
        self.pictures_left -= 1;
        self.backlog = (self.backlog + bits - share).max(0.0);
        Some(Outcome { bits, quantizer })
    }
}
