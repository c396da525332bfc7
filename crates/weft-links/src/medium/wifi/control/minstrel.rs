//! Rates by what came of them, after Linux's minstrel_ht.

use super::report::{Frames, PERIOD, Report};
use crate::medium::wifi::rate::Modulation;
use crate::medium::wifi::timing::Timing;
use weft_units::{Duration, Instant, Rng};

/// What a sender has learnt of the rates to one receiver.
pub(in crate::medium::wifi) struct Minstrel {
    rates: Vec<Rate>,
    /// The best rate, the second best, and the most probable one.
    chain: [usize; 3],
    /// Transmissions in a row without an answer, by which the next one of the
    /// chain is due.
    unanswered: u32,
    /// Mean length of what goes out together.
    frames: f64,
    /// Frames until a rate is tried again.
    until_trial: f64,
    concluded: Instant,
    rng: Rng,
}

struct Rate {
    modulation: Modulation,
    /// Access, preamble and answer.
    overhead: Duration,
    /// That a frame is delivered; none while nobody has tried.
    probability: Option<f64>,
    sent: u32,
    received: u32,
    /// Periods in which it was not tried.
    skipped: u32,
}

/// Of the last period in the mean.
const WEIGHT: f64 = 0.25;
/// Below this a rate is worth nothing, above the other nothing more.
const USELESS: f64 = 0.1;
const GOOD: f64 = 0.9;
/// Above this there is nothing to learn from a trial, and of two rates the
/// faster one is as safe.
const CERTAIN: f64 = 0.95;
/// Bytes of the frame by which rates are compared.
const BYTES: u64 = 1200;
/// Frames between trials, beside twice the mean length.
const BETWEEN_TRIALS: f64 = 16.0;
/// A slower rate than the best is tried after so many periods only.
const SKIPPED: u32 = 20;
/// A rate of the chain is used again as often as fits in this, but not more
/// often than [`MOST_RETRIES`].
const RETRY_TIME: Duration = Duration::from_millis(6);
const MOST_RETRIES: u32 = 7;
/// A rate of which less than one in [`BAD`] of more than [`ENOUGH`] frames
/// came through is left at once.
const BAD: u32 = 5;
const ENOUGH: u32 = 30;
/// MCS of one stream: with one stream more their numbers go on.
const PER_STREAM: usize = 8;
/// Of the last transmission in the mean length; chosen by us.
const WEIGHT_OF_LENGTH: f64 = 0.1;

impl Minstrel {
    pub fn new(modulations: Vec<Modulation>, timing: &Timing, rng: Rng) -> Minstrel {
        // Best effort: its rate is everybody's.
        let access = timing.access[timing.access.len().min(2) - 1];
        let backoff = timing.slot * u64::from(access.window_min) / 2;
        let rate = |modulation: Modulation| Rate {
            modulation,
            overhead: access.ifs
                + backoff
                + modulation.preamble
                + modulation.extension
                + timing.sifs
                + modulation.block_ack,
            probability: None,
            sent: 0,
            received: 0,
            skipped: 0,
        };
        Minstrel {
            rates: modulations.into_iter().map(rate).collect(),
            chain: [0; 3],
            unanswered: 0,
            frames: 1.0,
            until_trial: 0.0,
            concluded: Instant::ZERO,
            rng,
        }
    }

    /// The rate of a transmission at `at`, and how much goes out.
    pub fn choose(&mut self, at: Instant) -> (usize, Frames) {
        if at.saturating_since(self.concluded) >= PERIOD {
            self.concluded = at;
            self.conclude();
        }
        let trial = (self.until_trial <= 0.0 && self.unanswered == 0).then(|| self.trial());
        if let Some(trial) = trial.flatten() {
            self.until_trial = BETWEEN_TRIALS + 2.0 * self.frames;
            return (trial, Frames::One);
        }
        let mut before = self.unanswered;
        let [first @ .., last] = self.chain;
        for option in first {
            let retries = self.retries(option);
            if before < retries {
                return (option, Frames::AsMayBe);
            }
            before -= retries;
        }
        (last, Frames::AsMayBe)
    }

    pub fn on_report(&mut self, report: Report) {
        let Report {
            option,
            sent,
            received,
        } = report;
        let rate = &mut self.rates[option];
        rate.sent += sent;
        rate.received += received;
        self.until_trial -= f64::from(sent);
        // A trial says nothing about the chain, nor about what waits.
        if !self.chain.contains(&option) {
            return;
        }
        self.frames += WEIGHT_OF_LENGTH * (f64::from(sent) - self.frames);
        self.unanswered = match received {
            0 => self.unanswered + 1,
            _ => 0,
        };
        let is_bad = rate.sent > ENOUGH && rate.received * BAD < rate.sent;
        if is_bad && option == self.chain[0] && option >= PER_STREAM {
            self.chain[0] = option - PER_STREAM;
        }
    }

    /// Takes what the period has shown into account.
    fn conclude(&mut self) {
        for rate in &mut self.rates {
            if rate.sent == 0 {
                rate.skipped += 1;
                continue;
            }
            let share = f64::from(rate.received) / f64::from(rate.sent);
            let before = rate.probability.unwrap_or(share);
            rate.probability = Some(before + WEIGHT * (share - before));
            (rate.sent, rate.received, rate.skipped) = (0, 0, 0);
        }
        let worth: Vec<f64> = self
            .rates
            .iter()
            .map(|r| r.throughput(self.frames))
            .collect();
        let best_but = |other: Option<usize>| {
            let options = (0..worth.len()).filter(|option| Some(*option) != other);
            // The first of equals, which is the slowest.
            options
                .rev()
                .max_by(|a, b| worth[*a].total_cmp(&worth[*b]))
                .unwrap_or(0)
        };
        let best = best_but(None);
        let safe = |option: &usize| {
            let p = self.rates[*option].probability.unwrap_or(0.0);
            match p >= CERTAIN {
                true => (CERTAIN, worth[*option]),
                false => (p, 0.0),
            }
        };
        let safest = (0..worth.len()).rev().max_by(|a, b| {
            let (a, b) = (safe(a), safe(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        self.chain = [best, best_but(Some(best)), safest.unwrap_or(0)];
    }

    /// A rate to try, if the one whose turn it is is worth it.
    fn trial(&mut self) -> Option<usize> {
        let option = self.rng.below(self.rates.len() as u64) as usize;
        let rate = &self.rates[option];
        let is_certain = rate.probability.is_some_and(|p| p > CERTAIN);
        if self.chain.contains(&option) || is_certain {
            return None;
        }
        let best = &self.rates[self.chain[0]];
        let is_slower = rate.modulation.half_bits <= best.modulation.half_bits;
        (!is_slower || rate.skipped >= SKIPPED).then_some(option)
    }

    /// How often a rate of the chain is used in a row.
    fn retries(&self, option: usize) -> u32 {
        let once = self.rates[option].time(self.frames) * self.frames;
        let fit = RETRY_TIME.as_secs_f64() / once;
        (fit as u32).clamp(1, MOST_RETRIES)
    }
}

impl Rate {
    /// Frames a second, where `together` go out at once.
    fn throughput(&self, together: f64) -> f64 {
        match self.probability {
            Some(p) if p >= USELESS => p.min(GOOD) / self.time(together),
            _ => 0.0,
        }
    }

    /// Seconds that a frame costs.
    fn time(&self, together: f64) -> f64 {
        let data =
            self.modulation.airtime(BYTES) - self.modulation.preamble - self.modulation.extension;
        self.overhead.as_secs_f64() / together + data.as_secs_f64()
    }
}
