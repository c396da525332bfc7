//! Rate control by past results, modelled on Linux's minstrel_ht.

use super::report::{Frames, PERIOD, Report};
use crate::medium::wifi::rate::Modulation;
use crate::medium::wifi::timing::Timing;
use weft_units::{Duration, Instant, Rng};

/// Statistics of a sender about the rates to one receiver.
pub(in crate::medium::wifi) struct Minstrel {
    rates: Vec<Rate>,
    /// Best rate, second best, and most probable one.
    chain: [usize; 3],
    /// Consecutive transmissions without an answer, which determine the next rate of the
    /// chain.
    unanswered: u32,
    /// Mean number of frames in a transmission.
    frames: f64,
    /// Frames until the next trial of a rate.
    until_trial: f64,
    concluded: Instant,
    rng: Rng,
}

struct Rate {
    modulation: Modulation,
    /// Time for access, preamble and answer.
    overhead: Duration,
    /// Delivery probability of a frame; `None` before the first attempt.
    probability: Option<f64>,
    sent: u32,
    received: u32,
    /// Periods without an attempt.
    skipped: u32,
}

/// Weight of the latest period in the mean.
const WEIGHT: f64 = 0.25;
/// Probability below which a rate is unusable, and probability above which a higher one
/// brings no further gain.
const USELESS: f64 = 0.1;
const GOOD: f64 = 0.9;
/// Probability above which a trial gives no information, and above which the faster of
/// two rates is equally safe.
const CERTAIN: f64 = 0.95;
/// Frame length in bytes for comparing rates.
const BYTES: u64 = 1200;
/// Frames between trials, beyond twice the mean length.
const BETWEEN_TRIALS: f64 = 16.0;
/// Periods between trials of a rate slower than the best.
const SKIPPED: u32 = 20;
/// Limit on the time of repeated use of a rate of the chain, together with
/// [`MOST_RETRIES`].
const RETRY_TIME: Duration = Duration::from_millis(6);
const MOST_RETRIES: u32 = 7;
/// A rate is dropped immediately if fewer than one in [`BAD`] of more than [`ENOUGH`]
/// frames came through.
const BAD: u32 = 5;
const ENOUGH: u32 = 30;
/// Number of MCS per stream; the numbers of further streams continue after them.
const PER_STREAM: usize = 8;
/// Weight of the latest transmission in the mean length; chosen by us.
const WEIGHT_OF_LENGTH: f64 = 0.1;

impl Minstrel {
    pub fn new(modulations: Vec<Modulation>, timing: &Timing, rng: Rng) -> Minstrel {
        // Timing of best effort, whose rate all categories use.
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

    /// Chooses the rate of a transmission at `at` and the number of frames.
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
        // A trial says nothing about the chain or the waiting frames.
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

    /// Evaluates the period.
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
            // The first of equal rates, which is the slowest.
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

    /// Returns a rate to try, if the next candidate is worth it.
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

    /// Returns the number of consecutive attempts at a rate of the chain.
    fn retries(&self, option: usize) -> u32 {
        let once = self.rates[option].time(self.frames) * self.frames;
        let fit = RETRY_TIME.as_secs_f64() / once;
        (fit as u32).clamp(1, MOST_RETRIES)
    }
}

impl Rate {
    /// Returns the frames per second with `together` frames in a transmission.
    fn throughput(&self, together: f64) -> f64 {
        match self.probability {
            Some(p) if p >= USELESS => p.min(GOOD) / self.time(together),
            _ => 0.0,
        }
    }

    /// Returns the time of one frame in seconds.
    fn time(&self, together: f64) -> f64 {
        let data =
            self.modulation.airtime(BYTES) - self.modulation.preamble - self.modulation.extension;
        self.overhead.as_secs_f64() / together + data.as_secs_f64()
    }
}
