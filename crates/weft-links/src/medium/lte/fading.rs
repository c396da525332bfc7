//! Fading signal: a function of time, drawn once.

use super::spec::LteMotion;
use crate::medium::waves::{Wave, sum, with_memory};
use std::f64::consts::TAU;
use weft_units::{Instant, Rng};

/// Fading of one terminal in one direction.
pub(super) struct Fading {
    mean_db: f64,
    /// Standard deviation of shadowing, in dB.
    deviation: f64,
    shadows: Vec<Wave>,
    /// In-phase and quadrature waves of each antenna.
    antennas: Vec<[Vec<Wave>; 2]>,
}

/// Number of sinusoids per process; chosen by us: enough for a Rayleigh distribution
/// (Zheng and Xiao 2003 need eight).
const WAVES: u32 = 8;

/// Parameters of a motion.
struct Numbers {
    /// Standard deviation of shadowing, in dB.
    deviation: f64,
    /// Time in seconds after which the shadowing correlation is 1/e.
    memory: f64,
    /// Doppler frequency of the Rayleigh fading, in Hz; unused without
    /// antennas.
    doppler: f64,
    /// Number of independently fading antennas.
    antennas: usize,
}

impl Numbers {
    fn of(motion: LteMotion) -> Numbers {
        match motion {
            LteMotion::Still => Numbers {
                deviation: 1.5,
                memory: 1.0,
                doppler: 0.0,
                antennas: 0,
            },
            LteMotion::Walking => Numbers {
                deviation: 8.0,
                memory: 50.0 / 1.4,
                doppler: 5.0,
                antennas: 2,
            },
            // With a delay spread of 357 ns, the two halves of a band fade
            // independently.
            LteMotion::Driving => Numbers {
                deviation: 8.0,
                memory: 50.0 / 12.0,
                doppler: 70.0,
                antennas: 4,
            },
        }
    }
}

impl Fading {
    pub fn new(mean_db: f64, motion: LteMotion, rng: &mut Rng) -> Fading {
        let numbers = Numbers::of(motion);
        let shadows = with_memory(numbers.memory, rng);
        // Clarke's model: waves from all directions.
        let antenna = |rng: &mut Rng| {
            let turn = rng.unit();
            [0.0, 0.25].map(|quarter| {
                let wave = |n: u32| Wave {
                    hertz: numbers.doppler
                        * (TAU * (f64::from(n) + turn + quarter) / f64::from(WAVES) / 2.0).cos(),
                    phase: TAU * rng.unit(),
                };
                (0..WAVES).map(wave).collect()
            })
        };
        let antennas = (0..numbers.antennas).map(|_| antenna(rng)).collect();
        Fading {
            mean_db,
            deviation: numbers.deviation,
            shadows,
            antennas,
        }
    }

    /// Returns the signal above the noise, in dB.
    pub fn snr(&self, at: Instant) -> f64 {
        let seconds = at.saturating_since(Instant::ZERO).as_secs_f64();
        let shadow = self.deviation * sum(&self.shadows, seconds);
        let each = self.antennas.iter().map(|[phase, quadrature]| {
            let (i, q) = (sum(phase, seconds), sum(quadrature, seconds));
            (i * i + q * q) / 2.0
        });
        let fast = match self.antennas.len() {
            0 => 0.0,
            n => 10.0 * (each.sum::<f64>() / n as f64).max(1e-6).log10(),
        };
        self.mean_db + shadow + fast
    }
}
