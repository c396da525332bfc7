//! What a sender knows of its channel, and what the channel makes of a block.

use super::fading::Fading;
use super::rates::Cqi;
use super::spec::{LteQuality, LteSignal, LteSpec};
use weft_units::{Duration, Instant, Rng};

/// Of one terminal in one direction.
pub(super) struct Quality {
    channel: Channel,
    pub rank: usize,
    /// Share of first attempts that fail where the channel is as reported.
    errors: f64,
    rng: Rng,
}

enum Channel {
    Steady(Cqi),
    Fading(Box<Reports>),
}

/// What the receiver tells of a channel that changes.
struct Reports {
    fading: Fading,
    delay: Duration,
    /// The number of the one that counts, from the run's epoch on, and what it
    /// said: the SNR as the receiver sees it.
    latest: Option<(u64, f64)>,
    /// What is added to reports so that the share of errors is the one that is
    /// wanted, in dB.
    correction: f64,
    noise: Rng,
}

/// Chosen by us, of the periods in 3GPP TS 36.213, table 7.2.2-1A.
const REPORT_EACH: Duration = Duration::from_millis(5);
/// Deviation of what a receiver estimates, in dB; chosen by us.
const REPORT_ERROR: f64 = 0.5;
/// How much a failed block takes from the correction, in dB, and how far that
/// may go; chosen by us.
const STEP: f64 = 0.5;
const MOST: f64 = 10.0;
/// dB within which errors become ten times as many or as few; chosen by us:
/// a turbo code's waterfall is about that steep.
const DECADE: f64 = 1.0;
/// What each further attempt adds by soft combining: one decade; chosen by us
/// between chase combining (3, 1.8 and 1.2 dB) and no gain at all.
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

    /// What the next block is sent with; `None` where nothing would come
    /// through.
    pub fn cqi(&mut self, at: Instant) -> Option<Cqi> {
        match &mut self.channel {
            Channel::Steady(cqi) => Some(*cqi),
            Channel::Fading(reports) => reports.cqi(at),
        }
    }

    /// Whether a block fails that was sent `before` so often, and combined with
    /// what came of it. A first attempt corrects what is made of reports.
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

    /// In balance at this share of errors.
    fn correct(&mut self, failed: bool, errors: f64) {
        let step = match failed {
            true => -STEP,
            false => STEP * errors / (1.0 - errors),
        };
        self.correction = (self.correction + step).clamp(-MOST, MOST);
    }
}
