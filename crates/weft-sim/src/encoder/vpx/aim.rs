//! Targets of rate control for a picture.

use super::quantizer::{finest, finest_key};
use super::{Aim, BEST, INITIAL, LEARNING, MAXIMUM, OPTIMAL, OVERSHOOT, UNDERSHOOT, Vpx, WORST};
use crate::encoder::picture::Picture;

impl Vpx {
    /// Returns the target of a keyframe (`calc_iframe_target_size`).
    pub(super) fn aim_keyframe(&self, picture: Picture) -> Aim {
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

    /// Returns the target of a delta frame (`calc_pframe_target_size`), with the limits
    /// of the quantizer in `encode_frame_to_data_rate`.
    pub(super) fn aim_delta(&mut self, picture: Picture) -> Aim {
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
                // From the average at the optimal level to the coarsest at a quarter of
                // it.
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

    /// Returns the buffer's level above the optimum, 0 to 1.
    fn surplus(&self, layer: usize) -> f64 {
        let (level, optimal) = (self.layers[layer].level, self.optimal(layer));
        ((level - optimal) / (optimal * (MAXIMUM / OPTIMAL - 1.0))).clamp(0.0, 1.0)
    }

    /// Lowers the coarsest quantizer when the buffer fills up, by a quarter at most.
    fn relaxed(&self, layer: usize, worst: f64) -> f64 {
        (worst - worst / 4.0 * self.surplus(layer)).floor()
    }

    fn relaxed_best(&self, layer: usize, best: f64) -> f64 {
        best - ((best - BEST) * self.surplus(layer)).floor()
    }

    /// Returns the bits of a picture at the layer's rate and frequency.
    pub(super) fn share(&self, layer: usize, fps: f64) -> f64 {
        let layer = &self.layers[layer];
        self.rate * layer.rate_share / (fps * layer.picture_share)
    }

    /// Returns the bits of a picture of this layer alone (`avg_frame_size_for_layer`).
    pub(super) fn own_share(&self, layer: usize, fps: f64) -> f64 {
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

    pub(super) fn optimal(&self, layer: usize) -> f64 {
        OPTIMAL * self.rate * self.layers[layer].rate_share
    }
}
