//! libvpx's rate control for VP8: one pass, constant bit rate, as `weft-media`
//! configures it.
//!
//! The rules are those of libvpx (`vp8/encoder/ratectrl.c` and `onyx_if.c`,
//! functions named below); what the pictures cost at a quantizer is fitted.
//! Golden frames are left out: they get no extra bits in this mode.

mod quantizer;

use super::{Content, Noise, Outcome, Picture, VP8};

pub(super) use quantizer::log2_step;
use quantizer::{finest, finest_key};

/// Buffer levels in seconds of the target rate, and what the overshoot and
/// undershoot may be in percent: `weft-media`'s `vp8/encoder.rs`.
const INITIAL: f64 = 0.5;
const OPTIMAL: f64 = 0.6;
const MAXIMUM: f64 = 1.0;
const UNDERSHOOT: f64 = 100.0;
const OVERSHOOT: f64 = 15.0;
/// Below this share of the optimal level pictures are dropped.
const DROP_MARK: f64 = 0.30;
/// Finest and coarsest quantizer index: 2 and 56 of libvpx's 0 to 63, by
/// `q_trans` in `onyx_if.c`.
const BEST: f64 = 2.0;
const WORST: f64 = 106.0;
/// libvpx's guess of an inter picture's bits per pixel at quantizer step 1,
/// and of a keyframe's: `vp8_bits_per_mb`, which is a multiple of 1 / step, in
/// 512ths per macroblock of 256 pixels.
const GUESS: f64 = 2_850_000.0 / 512.0 / 256.0;
const KEY_GUESS: f64 = 4_500_000.0 / 512.0 / 256.0;
/// Pictures until the limits by the average quantizer hold.
const LEARNING: u32 = 150;
/// Share of the rate up to each of three layers, and of the pictures:
/// `weft-media`'s `vp8/encoder.rs`.
const RATE_SHARES: [f64; 3] = [0.4, 0.6, 1.0];
const PICTURE_SHARES: [f64; 3] = [0.25, 0.5, 1.0];

#[derive(Clone, Debug)]
pub(super) struct Vpx {
    content: Content,
    noise: Noise,
    rate: f64,
    /// One for each temporal layer.
    layers: Vec<Layer>,
    /// Pictures after the last keyframe.
    since_keyframe: u32,
    keyframes: u32,
    /// What keyframes took too much, and what a picture gives back of it.
    overspent: f64,
    repayment: f64,
    decimation: u32,
    skips_left: u32,
}

/// The rate control of one temporal layer, which counts what the layers below
/// it take, too. Bits and bits per second.
#[derive(Clone, Copy, Debug)]
struct Layer {
    rate_share: f64,
    picture_share: f64,
    level: f64,
    /// How far off libvpx's guess of a picture's bits is, by what it saw.
    correction: f64,
    key_correction: f64,
    pictures: u32,
    total_quantizer: f64,
    average_quantizer: f64,
    /// The same over the last four pictures.
    recent_quantizer: f64,
}

/// The quantizers that one picture may get, and the bits that it shall have.
struct Aim {
    bits: f64,
    best: f64,
    worst: f64,
}

impl Vpx {
    pub fn new(layers: usize, rate: f64, fps: f64, content: Content, noise: Noise) -> Vpx {
        let share = |layer: usize, shares: [f64; 3]| if layers == 3 { shares[layer] } else { 1.0 };
        let layer = |layer| Layer::new(share(layer, RATE_SHARES), share(layer, PICTURE_SHARES));
        let mut vpx = Vpx {
            content,
            noise,
            rate,
            layers: (0..layers).map(layer).collect(),
            since_keyframe: fps as u32,
            keyframes: 0,
            overspent: 0.0,
            repayment: 0.0,
            decimation: 0,
            skips_left: 0,
        };
        for layer in &mut vpx.layers {
            layer.level = INITIAL * rate * layer.rate_share;
        }
        vpx
    }

    /// A lower rate has a smaller buffer, which cuts what was saved up
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
        if self.drops(picture) {
            for layer in picture.layer..self.layers.len() {
                self.fill(layer, picture.fps, 0.0);
            }
            return None;
        }
        let aim = match picture.keyframe {
            true => self.aim_keyframe(picture),
            false => self.aim_delta(picture),
        };
        let quantizer = self.choose(picture, &aim);
        let curve = match picture.keyframe {
            true => &VP8.key_bits,
            false => &VP8.delta_bits,
        };
        let cost = curve.at(log2_step(quantizer), self.content.scale);
        let noise = if picture.keyframe { 0.0 } else { noise };
        let bits = (cost + self.content.complexity + noise).exp2() * self.content.pixels;
        let outcome = Outcome { bits, quantizer };
        self.learn(picture, &outcome);
        for layer in picture.layer..self.layers.len() {
            self.fill(layer, picture.fps, bits);
        }
        Some(outcome)
    }

    /// Bits of a picture at the layer's rate and frequency.
    fn share(&self, layer: usize, fps: f64) -> f64 {
        let layer = &self.layers[layer];
        self.rate * layer.rate_share / (fps * layer.picture_share)
    }

    /// The same for the pictures of this layer alone
    /// (`avg_frame_size_for_layer`).
    fn own_share(&self, layer: usize, fps: f64) -> f64 {
        let own = self.layers[layer];
        let (rate, pictures) = match layer.checked_sub(1).map(|below| self.layers[below]) {
            None => (own.rate_share, own.picture_share),
            Some(below) => (
                own.rate_share - below.rate_share,
                own.picture_share - below.picture_share,
            ),
        };
        self.rate * rate / (fps * pictures)
    }

    /// Time passes for a layer's buffer, and a picture takes its bits.
    fn fill(&mut self, layer: usize, fps: f64, bits: f64) {
        let share = self.share(layer, fps);
        let layer = &mut self.layers[layer];
        let full = MAXIMUM * self.rate * layer.rate_share;
        layer.level = (layer.level + share - bits).min(full);
    }

    fn optimal(&self, layer: usize) -> f64 {
        OPTIMAL * self.rate * self.layers[layer].rate_share
    }

    /// `vp8_check_drop_buffer`: a low buffer drops pictures in a pattern, an
    /// empty one every picture (`calc_pframe_target_size`).
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

    /// `calc_iframe_target_size`.
    fn aim_keyframe(&self, picture: Picture) -> Aim {
        let share = self.share(picture.layer, picture.fps);
        let layer = &self.layers[picture.layer];
        let bits = if self.keyframes == 0 {
            INITIAL * self.rate * layer.rate_share / 2.0
        } else {
            let boost = match self.layers.len() {
                1 => (2.0 * picture.fps - 16.0).max(32.0),
                _ => 32.0,
            };
            // kf_boost_qadjustment: 1.28 at the finest, 2.2 at the coarsest.
            let boost = boost * (1.28 + layer.recent_quantizer / 127.0).min(2.2);
            let early = f64::from(self.since_keyframe) / (picture.fps / 2.0);
            (16.0 + (boost * early.min(1.0)).max(16.0)) / 16.0 * share
        };
        // MaxIntraTarget of libwebrtc.
        let most = (OPTIMAL * picture.fps / 2.0).max(3.0) * share;
        let worst = self.relaxed(picture.layer, WORST);
        let best = match layer.pictures > LEARNING {
            true => finest_key(worst),
            false => BEST,
        };
        Aim {
            bits: bits.min(most),
            best: best.max(BEST),
            worst,
        }
    }

    /// `calc_pframe_target_size`, and the limits of the quantizer in
    /// `encode_frame_to_data_rate`.
    fn aim_delta(&mut self, picture: Picture) -> Aim {
        let mut share = self.own_share(picture.layer, picture.fps);
        share *= match self.decimation {
            0 => 1.0,
            1 => 1.5,
            _ => 1.25,
        };
        let repayment = self.repayment.min(self.overspent).min(share * 0.75);
        self.overspent -= repayment;
        let mut bits = share - repayment;
        let optimal = self.optimal(picture.layer);
        let layer = &self.layers[picture.layer];
        let learned = layer.pictures > LEARNING;
        let percent = 100.0 * (layer.level - optimal) / optimal;
        let mut worst = WORST;
        if percent < 0.0 {
            bits *= 1.0 - (-percent).min(UNDERSHOOT) / 200.0;
            if learned {
                // From the average at the optimal level to the coarsest at a
                // quarter of it.
                let low = (-percent / 75.0).min(1.0);
                worst = layer.average_quantizer + (WORST - layer.average_quantizer) * low;
            }
        } else {
            bits *= 1.0 + percent.min(OVERSHOOT) / 200.0;
            if learned {
                worst = layer.average_quantizer;
            }
        }
        let worst = self.relaxed(picture.layer, worst.max(BEST + 1.0));
        let best = match learned {
            true => self.relaxed_best(picture.layer, finest(worst)),
            false => BEST,
        };
        Aim {
            bits,
            best: best.max(BEST),
            worst: worst.max(best),
        }
    }

    /// How full the buffer is above the optimal level, 0 to 1.
    fn surplus(&self, layer: usize) -> f64 {
        let (level, optimal) = (self.layers[layer].level, self.optimal(layer));
        ((level - optimal) / (optimal * (MAXIMUM / OPTIMAL - 1.0))).clamp(0.0, 1.0)
    }

    /// A buffer that fills up lowers the coarsest quantizer, by a quarter at
    /// most.
    fn relaxed(&self, layer: usize, worst: f64) -> f64 {
        (worst - worst / 4.0 * self.surplus(layer)).floor()
    }

    fn relaxed_best(&self, layer: usize, best: f64) -> f64 {
        best - ((best - BEST) * self.surplus(layer)).floor()
    }

    /// `vp8_regulate_q`: the quantizer whose guessed bits are nearest.
    fn choose(&self, picture: Picture, aim: &Aim) -> f64 {
        let guess = |quantizer: f64| self.guess(picture, quantizer);
        let mut quantizer = aim.best;
        let mut missed = f64::INFINITY;
        while quantizer <= aim.worst {
            let over = guess(quantizer) - aim.bits;
            if over <= 0.0 {
                let nearer = if -over <= missed {
                    quantizer
                } else {
                    quantizer - 1.0
                };
                return nearer.max(aim.best);
            }
            missed = over;
            quantizer += 1.0;
        }
        aim.worst
    }

    fn guess(&self, picture: Picture, quantizer: f64) -> f64 {
        let layer = &self.layers[picture.layer];
        let at_one = match picture.keyframe {
            true => KEY_GUESS * layer.key_correction,
            false => GUESS * layer.correction,
        };
        at_one * self.content.pixels / log2_step(quantizer).exp2()
    }

    /// `vp8_update_rate_correction_factors`, `vp8_adjust_key_frame_context`
    /// and the averages in `encode_frame_to_data_rate`.
    fn learn(&mut self, picture: Picture, outcome: &Outcome) {
        let ratio = outcome.bits / self.guess(picture, outcome.quantizer);
        let share = self.share(picture.layer, picture.fps);
        let layer = &mut self.layers[picture.layer];
        let correction = match picture.keyframe {
            true => &mut layer.key_correction,
            false => &mut layer.correction,
        };
        if !(0.99..=1.02).contains(&ratio) {
            *correction = (*correction * (1.0 + (ratio - 1.0) / 4.0)).clamp(0.01, 50.0);
        }
        if picture.keyframe {
            self.keyframes += 1;
            self.since_keyframe = 0;
            self.overspent += (outcome.bits - share).max(0.0) * 7.0 / 8.0;
            // estimate_keyframe_frequency starts with two seconds.
            self.repayment = self.overspent / (1.0 + 2.0 * picture.fps);
            return;
        }
        let quantizer = outcome.quantizer;
        layer.recent_quantizer = (3.0 * layer.recent_quantizer + quantizer) / 4.0;
        layer.pictures += 1;
        layer.total_quantizer += quantizer;
        let mean = (layer.total_quantizer / f64::from(layer.pictures)).floor();
        layer.average_quantizer = match layer.pictures > LEARNING {
            true => mean,
            false => ((mean + WORST + 1.0) / 2.0).floor(),
        };
        if quantizer > layer.average_quantizer {
            layer.average_quantizer = quantizer - 1.0;
        }
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
