//! Rate control, which chooses the rate at which a sender transmits to a receiver.

mod minstrel;
mod report;

use super::losses::Losses;
use super::rate::{GuardInterval, Modulation, WifiRate, WifiStandard};
use super::signal::Signal;
use super::spec::WifiRateControl;
use super::timing::Timing;
use minstrel::Minstrel;
use report::PERIOD;
pub(super) use report::{Frames, Report};
use weft_units::{Instant, Rng};

/// One direction between a station and the access point.
pub(super) struct RadioDirection {
    /// Rates available to the sender, in the order of the standard.
    options: Vec<Choice>,
    control: Control,
    losses: Rng,
}

/// Rate with its frame losses.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub modulation: Modulation,
    /// Frame losses; `None` if losses are not modelled.
    losses: Option<Losses>,
}

enum Control {
    /// Uses a single rate.
    Fixed,
    Ideal {
        /// Period that is already evaluated, counted from the run's epoch.
        period: Option<u64>,
        option: usize,
    },
    Minstrel(Box<Minstrel>),
}

/// Single transmission.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// Index of its rate in the options.
    pub option: usize,
    pub choice: Choice,
    pub frames: Frames,
    snr: f64,
}

/// Loss that `ideal` tolerates for frames of the table's length.
const TOLERATED: f64 = 0.1;
const FRAME: u64 = 1458;

impl RadioDirection {
    pub fn new(
        standard: WifiStandard,
        guard: GuardInterval,
        control: WifiRateControl,
        timing: &Timing,
        rng: &Rng,
    ) -> RadioDirection {
        let choice = |rate: WifiRate| Choice {
            modulation: Modulation::of(standard, guard, rate),
            losses: Losses::of(rate),
        };
        let options = || standard.rates().into_iter().map(choice).collect::<Vec<_>>();
        let (options, control) = match control {
            WifiRateControl::Fixed(rate) => (vec![choice(rate)], Control::Fixed),
            WifiRateControl::Ideal => {
                let unknown = Control::Ideal {
                    period: None,
                    option: 0,
                };
                (options(), unknown)
            }
            WifiRateControl::Minstrel => {
                let options = options();
                let modulations = options.iter().map(|choice| choice.modulation);
                let minstrel = Minstrel::new(modulations.collect(), timing, rng.stream("minstrel"));
                (options, Control::Minstrel(Box::new(minstrel)))
            }
        };
        RadioDirection {
            options,
            control,
            losses: rng.stream("losses"),
        }
    }

    /// Creates a direction with a fixed modulation and no losses.
    #[cfg(test)]
    pub fn without_losses(modulation: Modulation) -> RadioDirection {
        RadioDirection {
            options: vec![Choice {
                modulation,
                losses: None,
            }],
            control: Control::Fixed,
            losses: Rng::new(0),
        }
    }

    /// Chooses the rate of a transmission at `at`.
    pub fn attempt(&mut self, at: Instant, signal: &Signal) -> Attempt {
        let (option, frames) = match &mut self.control {
            Control::Fixed => (0, Frames::AsMayBe),
            Control::Ideal { period, option } => {
                let present = at.as_nanos() / PERIOD.as_nanos();
                if *period != Some(present) {
                    let known = signal.snr(Instant::ZERO + PERIOD * present);
                    *period = Some(present);
                    *option = ideal(&self.options, known);
                }
                (*option, Frames::AsMayBe)
            }
            Control::Minstrel(minstrel) => minstrel.choose(at),
        };
        Attempt {
            option,
            choice: self.options[option],
            frames,
            snr: signal.snr(at),
        }
    }

    /// Whether a frame of this length survives the attempt.
    pub fn is_intact(&mut self, attempt: &Attempt, bytes: u64) -> bool {
        let losses = attempt.choice.losses;
        let lost = losses.map_or(0.0, |losses| losses.at(attempt.snr, bytes));
        lost == 0.0 || !self.losses.chance(lost)
    }

    /// Handles the end of a transmission.
    pub fn on_report(&mut self, report: Report) {
        if let Control::Minstrel(minstrel) = &mut self.control {
            minstrel.on_report(report);
        }
    }
}

/// Returns the fastest rate with a tolerable loss at this signal; without such a rate,
/// the first and most robust one.
fn ideal(options: &[Choice], snr: f64) -> usize {
    let lost = |choice: &Choice| choice.losses.map_or(0.0, |l| l.at(snr, FRAME));
    let good = |(_, choice): &(usize, &Choice)| lost(choice) < TOLERATED;
    let options = options.iter().enumerate().filter(good);
    // Prefers the more robust of two equally fast rates.
    let best = options.max_by(|(_, a), (_, b)| {
        let bits = a.modulation.half_bits.cmp(&b.modulation.half_bits);
        bits.then(lost(b).total_cmp(&lost(a)))
    });
    best.map_or(0, |(index, _)| index)
}
