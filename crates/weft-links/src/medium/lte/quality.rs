//! Channel state at the sender, and block errors on the channel.

use super::fading::Fading;
use super::rates::Cqi;
use super::spec::{LteQuality, LteSignal, LteSpec};
use weft_units::{Duration, Instant, Rng};

/// Channel quality of one terminal in one direction.
pub(super) struct Quality {
    channel: Channel,
    pub rank: usize,
    /// Share of first attempts that fail on a channel with the reported quality.
    errors: f64,
    rng: Rng,
}

enum Channel {
    Steady(Cqi),
    Fading(Box<Reports>),
}

/// Receiver reports on a changing channel.
struct Reports {
    fading: Fading,
    delay: Duration,
    /// Number of the valid report, counted from the run's epoch, and its SNR at the
    /// receiver.
    latest: Option<(u64, f64)>,
    /// Correction added to reports to reach the target share of errors, in dB.
    correction: f64,
    noise: Rng,
}

/// Interval of reports; chosen by us from the periods in 3GPP TS 36.213, table 7.2.2-1A.
const REPORT_EACH: Duration = Duration::from_millis(5);
/// Standard deviation of a receiver's estimate, in dB; chosen by us.
const REPORT_ERROR: f64 = 0.5;
/// Change of the correction per failed block and its limit, in dB; chosen by
/// us.
const STEP: f64 = 0.5;
const MOST: f64 = 10.0;
/// Decibels for a tenfold change in errors; chosen by us: about as steep as a turbo
/// code's waterfall.
const DECADE: f64 = 1.0;
/// Gain of each further attempt through soft combining: one decade; chosen by
/// us between chase combining (3, 1.8 and 1.2 dB) and no gain.
const COMBINING: f64 = DECADE;

impl Quality {
    pub fn new(signal: &LteSignal, cell: &LteSpec, rng: &Rng) -> Quality {
        let channel = match signal.quality {
            LteQuality::Cqi(number) => {
                Channel::Steady(Cqi::new(number).expect("a checked specification"))
            }
            LteQuality::Fading { snr, motion } => Channel::Fading(Box::new(Reports {
                fading: Fading::new(snr, motion, &mut rng.stream("fading")),
                delay: cell.cqi_delay,
                latest: None,
                correction: 0.0,
                noise: rng.stream("reports"),
            })),
        };
        Quality {
            channel,
            rank: usize::from(signal.rank),
            errors: cell.errors,
            rng: rng.stream("errors"),
        }
    }

    /// Returns the CQI of the next block; `None` if every block would fail.
    pub fn cqi(&mut self, at: Instant) -> Option<Cqi> {
        match &mut self.channel {
            Channel::Steady(cqi) => Some(*cqi),
            Channel::Fading(reports) => reports.cqi(at),
        }
    }

    /// Returns whether a block fails that was already sent `before` times and is combined
    /// with those attempts. A first attempt adjusts the correction.
    pub fn fails(&mut self, at: Instant, cqi: Cqi, before: u32) -> bool {
        if self.errors == 0.0 {
            return false;
        }
        let margin = match &self.channel {
            Channel::Steady(_) => 0.0,
            Channel::Fading(reports) => reports.fading.snr(at) - cqi.threshold(),
        };
        let decades = (margin + COMBINING * f64::from(before)) / DECADE;
        let failed = self.rng.chance(self.errors * 10_f64.powf(-decades));
        if before == 0
            && let Channel::Fading(reports) = &mut self.channel
        {
            reports.correct(failed, self.errors);
        }
        failed
    }
}

impl Reports {
    fn cqi(&mut self, at: Instant) -> Option<Cqi> {
        let known = at.saturating_since(Instant::ZERO + self.delay);
        let number = known.as_nanos() / REPORT_EACH.as_nanos();
        let snr = match self.latest {
            Some((latest, snr)) if latest == number => snr,
            _ => {
                let measured = Instant::ZERO + REPORT_EACH * number;
                let error = REPORT_ERROR * self.noise.normal();
                let snr = self.fading.snr(measured) + error;
                self.latest = Some((number, snr));
                snr
            }
        };
        Cqi::of_snr(snr + self.correction)
    }

    /// Adjusts the correction, which is balanced at this share of errors.
    fn correct(&mut self, failed: bool, errors: f64) {
        let step = match failed {
            true => -STEP,
            false => STEP * errors / (1.0 - errors),
        };
        self.correction = (self.correction + step).clamp(-MOST, MOST);
    }
}
