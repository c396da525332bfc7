//! libvpx's rate control for VP8: one pass, constant bit rate, as `weft-media` configures
//! it.
//!
//! The rules are those of libvpx (`vp8/encoder/ratectl.c` and `onyx_if.c`, functions
//! named below); the cost of pictures at a quantizer is fitted. Golden frames are left
//! out, because they get no extra bits in this mode.

mod aim;
mod control;
mod quantizer;
mod within;

use weft_publish::fitting::vp8::log2_step;
use weft_publish::fitting::{Seen, SizeGuess};

use super::noise::Noise;
use super::picture::{Content, Outcome, Picture, Quality};

/// Buffer levels in seconds of the target rate, and the allowed overshoot and undershoot
/// in percent: `weft-media`'s `vp8/encoder.rs`.
const INITIAL: f64 = 0.5;
const OPTIMAL: f64 = 0.6;
const MAXIMUM: f64 = 1.0;
const UNDERSHOOT: f64 = 100.0;
const OVERSHOOT: f64 = 15.0;
/// Share of the optimal level below which pictures are dropped.
const DROP_MARK: f64 = 0.30;
/// Finest and coarsest quantizer index: 2 and 56 of libvpx's 0 to 63, by
/// `q_trans` in `onyx_if.c`.
const BEST: f64 = 2.0;
const WORST: f64 = 106.0;
/// libvpx's estimate of an inter picture's bits per pixel at AC step 1, and of a
/// keyframe's at DC step 1: `vp8_bits_per_mb`, which has multiples of the inverse steps
/// in 512ths per macroblock of 256 pixels.
const GUESS: f64 = 2_850_000.0 / 512.0 / 256.0;
const KEY_GUESS: f64 = 4_500_000.0 / 512.0 / 256.0;
/// Number of pictures after which the limits by the average quantizer apply.
const LEARNING: u32 = 150;
/// Share of the rate up to each of three layers, and of the pictures: `weft-media`'s
/// `vp8/encoder.rs`.
const RATE_SHARES: [f64; 3] = [0.4, 0.6, 1.0];
const PICTURE_SHARES: [f64; 3] = [0.25, 0.5, 1.0];

#[derive(Clone, Debug)]
pub(super) struct Vpx {
    content: Content,
    noise: Noise,
    quality: Quality,
    rate: f64,
    /// Rate control of each temporal layer.
    layers: Vec<Layer>,
    /// Pictures since the last keyframe.
    since_keyframe: u32,
    keyframes: u32,
    /// Excess bits of keyframes, and the part that each picture repays.
    overspent: f64,
    repayment: f64,
    decimation: u32,
    skips_left: u32,
    guess: SizeGuess,
    /// Whether the last frame had a budget and was not a keyframe. The first of several
    /// such frames is never dropped (`weft-media`'s `vp8/within.rs`, `copied`).
    within: bool,
}

/// Range of quantizers for one picture, and its target bits.
struct Aim {
    bits: f64,
    best: f64,
    worst: f64,
}

/// Rate control of one temporal layer, including the layers below it. Units are bits and
/// bits per second.
#[derive(Clone, Copy, Debug)]
struct Layer {
    rate_share: f64,
    picture_share: f64,
    level: f64,
    /// Correction factor of libvpx's estimate of a picture's bits, from experience.
    correction: f64,
    key_correction: f64,
    pictures: u32,
    total_quantizer: f64,
    average_quantizer: f64,
    /// Average quantizer over the last four pictures.
    recent_quantizer: f64,
}

impl Vpx {
    pub fn new(layers: usize, rate: f64, fps: f64, content: Content, noise: Noise) -> Vpx {
        let share = |layer: usize, shares: [f64; 3]| if layers == 3 { shares[layer] } else { 1.0 };
        let layer = |layer| Layer::new(share(layer, RATE_SHARES), share(layer, PICTURE_SHARES));
        let mut vpx = Vpx {
            content,
            noise,
            quality: Quality::default(),
            rate,
            layers: (0..layers).map(layer).collect(),
            since_keyframe: fps as u32,
            keyframes: 0,
            overspent: 0.0,
            repayment: 0.0,
            decimation: 0,
            skips_left: 0,
            guess: SizeGuess::default(),
            within: false,
        };
        for layer in &mut vpx.layers {
            layer.level = INITIAL * rate * layer.rate_share;
        }
        vpx
    }

    /// Returns the state of the random deviations.
    pub fn noise(&self) -> &Noise {
        &self.noise
    }

    /// Sets the rate. A lower rate has a smaller buffer, which reduces the saved bits
    /// (`vp8_change_config`).
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
        for layer in &mut self.layers {
            layer.level = layer.level.min(MAXIMUM * rate * layer.rate_share);
        }
    }

    pub fn encode(&mut self, picture: Picture) -> Option<Outcome> {
        let noise = self.noise.next();
        self.since_keyframe += 1;
        if picture.budget.is_some() && !self.within && !picture.keyframe {
            self.skips_left = 0;
        } else if self.drops(picture) {
            for layer in picture.layer..self.layers.len() {
                self.fill(layer, picture.fps, 0.0);
            }
            return None;
        }
        let aim = match picture.keyframe {
            true => self.aim_keyframe(picture),
            false => self.aim_delta(picture),
        };
        let outcome = match picture.budget {
            None => self.outcome(picture, self.choose(picture, &aim), noise),
            Some(bits) => self.encode_within(picture, &aim, noise, bits),
        };
        self.quality.follow(outcome.psnr, picture.layer);
        self.within = picture.budget.is_some() && !picture.keyframe;
        let seen = Seen {
            step: log2_step(outcome.quantizer),
            size: outcome.bits,
        };
        self.guess.on_frame(picture.keyframe, seen);
        self.learn(picture, &outcome);
        for layer in picture.layer..self.layers.len() {
            self.fill(layer, picture.fps, outcome.bits);
        }
        Some(outcome)
    }

    /// Advances the time of a layer's buffer and subtracts a picture's bits.
    fn fill(&mut self, layer: usize, fps: f64, bits: f64) {
        let share = self.share(layer, fps);
        let layer = &mut self.layers[layer];
        let full = MAXIMUM * self.rate * layer.rate_share;
        layer.level = (layer.level + share - bits).min(full);
    }

    /// Returns whether a picture is dropped (`vp8_check_drop_buffer`): a low buffer drops
    /// pictures in a pattern, an empty one drops every picture
    /// (`calc_pframe_target_size`).
    fn drops(&mut self, picture: Picture) -> bool {
        let level = self.layers[picture.layer].level;
        let mark = DROP_MARK * self.optimal(picture.layer);
        if level > mark && self.decimation > 0 {
            self.decimation -= 1;
        }
        self.decimation = match self.decimation {
            1.. if level > mark * 2.0 / 3.0 => 1,
            2 | 3 if level < mark / 8.0 => 3,
            1 | 2 if level < mark / 4.0 => 2,
            0 | 1 if level < mark * 2.0 / 3.0 => 1,
            other => other,
        };
        if picture.keyframe {
            self.skips_left = self.decimation;
            return false;
        }
        if self.decimation > 0 && self.skips_left > 0 {
            self.skips_left -= 1;
            return true;
        }
        self.skips_left = self.decimation;
        level < 0.0
    }
}

impl Layer {
    fn new(rate_share: f64, picture_share: f64) -> Layer {
        Layer {
            rate_share,
            picture_share,
            level: 0.0,
            correction: 1.0,
            key_correction: 1.0,
            pictures: 0,
            total_quantizer: 0.0,
            average_quantizer: WORST,
            recent_quantizer: WORST,
        }
    }
}
