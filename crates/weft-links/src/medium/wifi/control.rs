//! Which rate a sender takes for a receiver.

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

/// One way between a station and the access point.
pub(super) struct Way {
    /// The rates that its sender may take, as their standard counts them.
    options: Vec<Choice>,
    control: Control,
    losses: Rng,
}

/// A rate, and what comes of frames at it.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    pub modulation: Modulation,
    /// None where losses are not modelled.
    losses: Option<Losses>,
}

enum Control {
    /// There is one rate only.
    Fixed,
    Ideal {
        /// The period that is known, from the run's epoch on.
        period: Option<u64>,
        option: usize,
    },
    Minstrel(Box<Minstrel>),
}

/// One transmission.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    /// Its rate among the options.
    pub option: usize,
    pub choice: Choice,
    pub frames: Frames,
    snr: f64,
}

/// What `ideal` lets be lost of the table's frames.
const TOLERATED: f64 = 0.1;
const FRAME: u64 = 1458;

impl Way {
    pub fn new(
        standard: WifiStandard,
        guard: GuardInterval,
        control: WifiRateControl,
        timing: &Timing,
        rng: &Rng,
    ) -> Way {
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
        Way {
            options,
            control,
            losses: rng.stream("losses"),
        }
    }

    /// One that always has this modulation and loses nothing.
    #[cfg(test)]
    pub fn without_losses(modulation: Modulation) -> Way {
        Way {
            options: vec![Choice {
                modulation,
                losses: None,
            }],
            control: Control::Fixed,
            losses: Rng::new(0),
        }
    }

    /// What is transmitted at `at` with.
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

    /// Whether a frame of so many bytes survives it.
    pub fn is_intact(&mut self, attempt: &Attempt, bytes: u64) -> bool {
        let losses = attempt.choice.losses;
        let lost = losses.map_or(0.0, |losses| losses.at(attempt.snr, bytes));
        lost == 0.0 || !self.losses.chance(lost)
    }

    /// A transmission has ended.
    pub fn on_report(&mut self, report: Report) {
        if let Control::Minstrel(minstrel) = &mut self.control {
            minstrel.on_report(report);
        }
    }
}

/// The fastest of which little is lost at this signal; with nothing of the
/// kind the first, which is the most robust.
fn ideal(options: &[Choice], snr: f64) -> usize {
    let lost = |choice: &Choice| choice.losses.map_or(0.0, |l| l.at(snr, FRAME));
    let good = |(_, choice): &(usize, &Choice)| lost(choice) < TOLERATED;
    let options = options.iter().enumerate().filter(good);
    // Of two as fast as each other, the more robust one.
    let best = options.max_by(|(_, a), (_, b)| {
        let bits = a.modulation.half_bits.cmp(&b.modulation.half_bits);
        bits.then(lost(b).total_cmp(&lost(a)))
    });
    best.map_or(0, |(index, _)| index)
}
