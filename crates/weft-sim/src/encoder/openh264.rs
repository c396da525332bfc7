//! OpenH264's rate control in its bit rate mode, as libwebrtc uses it.
//!
//! The rules are those of OpenH264 (`codec/encoder/core/src/ratectl.cpp`): groups of
//! eight pictures have a budget, which the remaining pictures of a group share equally.
//! The cost of pictures at a quantizer is fitted.

mod control;
mod within;

use weft_publish::fitting::h264::PER_OCTAVE;
use weft_publish::fitting::{Seen, SizeGuess};

use super::noise::Noise;
use super::picture::{Content, Outcome, Picture, Quality};

/// Pictures in a group: `VGOP_SIZE`.
const GROUP: u32 = 8;
/// A keyframe's share of pictures: `IDR_BITRATE_RATIO`.
const KEYFRAME: f64 = 4.0;
/// Debt in pictures' shares above which every second picture is skipped, as after
/// keyframes in the fit's runs.
const SKIP: f64 = 4.0;
/// Finest quantizer (ITU-T H.264 section 7.4.2.2).
const BEST: f64 = 0.0;
/// Steps of a bisection: to a thousandth of a quantizer.
const BISECTIONS: u32 = 16;
/// Value up to a number of bits per pixel, and decrease for each octave more, of the
/// first picture's quantizer, which depends on the bits per pixel of the rate
/// (`RcCalculateIdrQp`). Read from the first pictures of the fit's runs.
const INITIAL: f64 = 36.0;
const INITIAL_AT: f64 = 0.0115;
const INITIAL_SLOPE: f64 = 2.2;
const INITIAL_BEST: f64 = 26.0;
/// Largest quantizer increase of later keyframes, read in the same way.
const KEYFRAME_ABOVE: f64 = 4.0;
/// Smallest fraction of its share that a picture gets when the group's budget is spent.
const LEAST: f64 = 0.57;

#[derive(Clone, Debug)]
pub(super) struct OpenH264 {
    content: Content,
    noise: Noise,
    quality: Quality,
    rate: f64,
    /// Bits and pictures left in the group.
    budget: f64,
    pictures_left: u32,
    /// Bits above the rate that are not yet compensated.
    backlog: f64,
    started: bool,
    /// Whether the previous picture was skipped.
    skipped: bool,
    guess: SizeGuess,
}

impl OpenH264 {
    pub fn new(rate: f64, content: Content, noise: Noise) -> OpenH264 {
        OpenH264 {
            content,
            noise,
            quality: Quality::default(),
            rate,
            budget: 0.0,
            pictures_left: 0,
            backlog: 0.0,
            started: false,
            skipped: false,
            guess: SizeGuess::default(),
        }
    }

    /// Returns the state of the random deviations.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// Sets the rate; the group's budget changes immediately.
    pub fn set_rate(&mut self, rate: f64) {
        self.budget *= rate / self.rate;
        self.backlog *= rate / self.rate;
        self.rate = rate;
    }

    pub fn encode(&mut self, picture: Picture) -> Option<Outcome> {
        let noise = self.noise.next();
        let outcome = match picture.budget {
            None => self.controlled(picture, noise)?,
            Some(bits) => self.encode_within(picture, noise, bits)?,
        };
        self.quality.follow(outcome.psnr, 0);
        let seen = Seen {
            step: outcome.quantizer / PER_OCTAVE,
            size: outcome.bits,
        };
        self.guess.on_frame(picture.keyframe, seen);
        Some(outcome)
    }
}
