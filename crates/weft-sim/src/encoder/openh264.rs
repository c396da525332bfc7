//! OpenH264's rate control in its bit rate mode, as libwebrtc uses it.
//!
//! The rules are those of OpenH264 (`codec/encoder/core/src/ratectl.cpp`): groups of
//! eight pictures have a budget, which the remaining pictures of a group share equally.
//! The cost of pictures at a quantizer is fitted.

mod within;

use weft_publish::fitting::h264::{COARSEST, PER_OCTAVE};
use weft_publish::fitting::{Seen, SizeGuess};

use super::noise::Noise;
use super::parameters::{H264, Surface};
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
/// The first picture's quantizer depends on the bits per pixel of the rate
/// (`RcCalculateIdrQp`): this value up to a number of bits, and the decrease for each
/// octave more, read from the first pictures of the fit's runs.
const INITIAL: f64 = 36.0;
const INITIAL_AT: f64 = 0.0115;
const INITIAL_SLOPE: f64 = 2.2;
const INITIAL_BEST: f64 = 26.0;
/// Largest quantizer increase of later keyframes, read in the same way.
const KEYFRAME_ABOVE: f64 = 4.0;
/// Smallest part of its share that a picture has when the group's budget is spent.
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

    /// Sets the rate; the group's budget changes at once.
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

    /// Encodes a picture with rate control.
    fn controlled(&mut self, picture: Picture, noise: f64) -> Option<Outcome> {
        let share = self.rate / picture.fps;
        let indebted = self.backlog > SKIP * share;
        if indebted && !picture.keyframe && !self.skipped {
            self.skipped = true;
            self.backlog -= share;
            return None;
        }
        self.skipped = false;
        if picture.keyframe || self.pictures_left == 0 {
            self.budget = share * f64::from(GROUP);
            self.pictures_left = GROUP;
        }
        let outcome = match picture.keyframe {
            true => self.keyframe(share),
            false => self.delta(share, H264.distance * picture.distance, noise),
        };
        let bits = outcome.bits;
        // A keyframe is charged no more than its planned bits.
        self.budget -= match picture.keyframe {
            true => bits.min(KEYFRAME * share),
            false => bits,
        };
        self.pictures_left -= 1;
        self.backlog = (self.backlog + bits - share).max(0.0);
        Some(outcome)
    }

    fn keyframe(&mut self, share: f64) -> Outcome {
        let per_pixel = share / self.content.pixels / self.content.complexity.exp2();
        let initial = INITIAL - INITIAL_SLOPE * (per_pixel / INITIAL_AT).log2();
        let initial = initial.clamp(INITIAL_BEST, INITIAL);
        let quantizer = match self.started {
            false => initial,
            true => {
                let aim = self.quantizer(&H264.key_bits, KEYFRAME * share);
                aim.min(initial + KEYFRAME_ABOVE)
            }
        };
        self.started = true;
        self.keyframe_at(quantizer)
    }

    fn keyframe_at(&self, quantizer: f64) -> Outcome {
        Outcome {
            bits: self.cost(&H264.key_bits, quantizer),
            quantizer,
            psnr: H264.key_psnr.at(quantizer / PER_OCTAVE, self.content.scale),
        }
    }

    fn delta(&self, share: f64, extra: f64, noise: f64) -> Outcome {
        let equal = self.budget / f64::from(self.pictures_left);
        // The cost of the distance reduces the bits for quality.
        let aim = equal.max(LEAST * share) / extra.exp2();
        let quantizer = self.quantizer(&H264.delta_bits, aim);
        let long_run = H264.psnr.at(quantizer / PER_OCTAVE, self.content.scale);
        let gap = self.quality.gap(long_run);
        Outcome {
            bits: self.cost(&H264.delta_bits, quantizer) * (extra + noise).exp2(),
            quantizer,
            psnr: self.quality.after(gap, &H264.transition),
        }
    }

    fn cost(&self, curve: &Surface, quantizer: f64) -> f64 {
        self.content
            .bits(curve.at(quantizer / PER_OCTAVE, self.content.scale))
    }

    /// Returns the quantizer whose mean bits equal the aim, by bisection; a fraction
    /// represents quantizers that vary within the picture.
    fn quantizer(&self, curve: &Surface, aim: f64) -> f64 {
        let (mut finer, mut coarser) = (BEST, COARSEST);
        for _ in 0..BISECTIONS {
            let middle = (finer + coarser) / 2.0;
            if self.cost(curve, middle) > aim {
                finer = middle;
            } else {
                coarser = middle;
            }
        }
        coarser
    }
}
