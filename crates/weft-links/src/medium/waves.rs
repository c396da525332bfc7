//! Random processes as functions of time, drawn once: sums of sinusoids. A value does not
//! depend on earlier ones, so unused values cost nothing.

use std::f64::consts::TAU;
use weft_units::Rng;

/// Wave `cos(2 pi hertz t + phase)`.
pub(super) struct Wave {
    pub hertz: f64,
    pub phase: f64,
}

/// Number of sinusoids of a process with memory; chosen by us.
const COUNT: u32 = 16;

/// Returns a normal process of variance one, whose correlation decays exponentially with
/// time, to 1/e after `memory` seconds (Gudmundson 1991, for shadowing): the frequencies
/// have a Cauchy distribution.
pub(super) fn with_memory(memory: f64, rng: &mut Rng) -> Vec<Wave> {
    let wave = |rng: &mut Rng| Wave {
        hertz: (TAU / 2.0 * (rng.unit() - 0.5)).tan() / (TAU * memory),
        phase: TAU * rng.unit(),
    };
    (0..COUNT).map(|_| wave(rng)).collect()
}

/// Returns the sum of the waves at a time, of variance one.
pub(super) fn sum(waves: &[Wave], seconds: f64) -> f64 {
    let wave = |w: &Wave| (TAU * w.hertz * seconds + w.phase).cos();
    (2.0 / waves.len() as f64).sqrt() * waves.iter().map(wave).sum::<f64>()
}
