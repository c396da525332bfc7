//! Processes that are functions of time, drawn once: sums of sinusoids. What
//! one is at a time needs nothing of the times before, so it costs nothing
//! while nobody asks.

use std::f64::consts::TAU;
use weft_units::Rng;

/// `cos(2 pi hertz t + phase)`.
pub(super) struct Wave {
    pub hertz: f64,
    pub phase: f64,
}

/// Sinusoids of a process with a memory; chosen by us.
const COUNT: u32 = 16;

/// Of variance one and normal, with a correlation that falls exponentially
/// with time, to 1/e after `memory` seconds (Gudmundson 1991 has it so of
/// shadows): the frequencies are of a Cauchy distribution.
pub(super) fn with_memory(memory: f64, rng: &mut Rng) -> Vec<Wave> {
    let wave = |rng: &mut Rng| Wave {
        hertz: (TAU / 2.0 * (rng.unit() - 0.5)).tan() / (TAU * memory),
        phase: TAU * rng.unit(),
    };
    (0..COUNT).map(|_| wave(rng)).collect()
}

/// What they come to, of variance one.
pub(super) fn sum(waves: &[Wave], seconds: f64) -> f64 {
    let wave = |w: &Wave| (TAU * w.hertz * seconds + w.phase).cos();
    (2.0 / waves.len() as f64).sqrt() * waves.iter().map(wave).sum::<f64>()
}
