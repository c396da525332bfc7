use weft_experiment::SyntheticSetup;
use weft_publish::{Encoding, Start};
use weft_units::{Bytes, Instant, Rate, Rng};

use super::{EncodedFrame, FrameEncoder};

/// Synthetic codec of RFC 8593 with constant frame intervals: sizes vary around the
/// target rate, and the frames after a keyframe compensate for its size.
///
/// In contrast to the RFC, keyframes occur only at the start and on request, as in an
/// encoder of a call, and not at large changes of the rate.
pub struct Synthetic {
    setup: SyntheticSetup,
    rate: Rate,
    wanted: Option<(Instant, Rate)>,
    /// Reduction of each frame of a transient, and the number of frames left.
    repayment: (f64, u32),
    rng: Rng,
}

/// Smallest fraction of its size that a frame after a keyframe keeps: from the
/// implementation of the RFC's authors (syncodecs, `StatisticsCodec`).
const LEAST_IN_TRANSIENT: f64 = 0.2;
/// Limit of deviations, so that a size stays positive; chosen by us, one frame in 500 at
/// the RFC's scale.
const LARGEST_DEVIATION: f64 = 0.95;
/// Size of a VP8 frame without changes, including the data that the simulator writes into
/// it.
const LEAST_FRAME: f64 = 50.0;

impl Synthetic {
    /// Creates an encoder without a rate.
    #[must_use]
    pub fn new(setup: SyntheticSetup, rng: Rng) -> Synthetic {
        Synthetic {
            setup,
            rate: Rate::ZERO,
            wanted: None,
            repayment: (0.0, 0),
            rng,
        }
    }

    fn noise(&mut self) -> f64 {
        let u = self.rng.unit() - 0.5;
        // Inverse of the Laplace distribution.
        let laplace = -u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln();
        let noise = self.setup.variation * laplace;
        1.0 + noise.clamp(-LARGEST_DEVIATION, LARGEST_DEVIATION)
    }

    fn steady(&self) -> f64 {
        self.rate.as_bps() as f64 / 8.0 / self.setup.frame_rate
    }

    fn keyframe(&mut self) -> f64 {
        let steady = self.steady();
        let size = steady.max(self.setup.keyframe.0 as f64);
        let others = self.setup.transient.saturating_sub(1);
        self.repayment = ((size - steady) / f64::from(others.max(1)), others);
        size
    }

    fn delta(&mut self) -> f64 {
        let steady = self.steady();
        let (share, left) = &mut self.repayment;
        if *left == 0 {
            return steady;
        }
        *left -= 1;
        (steady - *share).max(LEAST_IN_TRANSIENT * steady)
    }
}

impl FrameEncoder for Synthetic {
    fn set_target(&mut self, now: Instant, rate: Rate) {
        if self.rate == Rate::ZERO {
            self.rate = rate;
        }
        match &mut self.wanted {
            Some((_, wanted)) => *wanted = rate,
            None => self.wanted = Some((now + self.setup.reaction, rate)),
        }
    }

    fn encode(&mut self, now: Instant, encoding: &Encoding) -> Option<EncodedFrame> {
        if let Some((_, rate)) = self.wanted.take_if(|(at, _)| *at <= now) {
            self.rate = rate;
        }
        let keyframe = encoding.start != Start::Continue;
        let mean = if keyframe {
            self.keyframe()
        } else {
            self.delta()
        };
        let size = (mean * self.noise()).max(LEAST_FRAME).round();
        Some(EncodedFrame::plain(Bytes(size as u64), keyframe))
    }
}

#[cfg(test)]
mod tests;
