//! How a station and the access point receive each other.

use crate::medium::waves::{Wave, sum, with_memory};
use weft_units::{Duration, Instant, Rng};

/// A station's signal at the access point, or the access point's at the
/// station.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiSignal {
    /// Where it is at which time since the run's epoch, in dB above the noise
    /// of a receiver: at least one, in order. In between it changes evenly;
    /// before the first and after the last it stays.
    pub points: Vec<(Duration, f64)>,
    /// What is added to that.
    pub motion: WifiMotion,
}

/// How a signal changes beside the way that is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WifiMotion {
    /// `still`: not at all.
    #[default]
    Still,
    /// `walking`: 3 dB that are forgotten within 2 s, and 2 dB within 50 ms,
    /// both normal in dB (chosen by us).
    Walking,
}

/// Of each part of [`WifiMotion::Walking`]: its deviation in dB, and after how
/// many seconds its correlation is 1/e.
const SLOW: (f64, f64) = (3.0, 2.0);
const FAST: (f64, f64) = (2.0, 0.05);

impl WifiSignal {
    /// One that stays as it is.
    #[must_use]
    pub fn steady(snr: f64) -> WifiSignal {
        WifiSignal {
            points: vec![(Duration::ZERO, snr)],
            motion: WifiMotion::Still,
        }
    }

    /// Whether it ever changes.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.points.len() == 1 && self.motion == WifiMotion::Still
    }
}

impl WifiMotion {
    /// All, by their names.
    pub const ALL: [WifiMotion; 2] = [WifiMotion::Still, WifiMotion::Walking];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            WifiMotion::Still => "still",
            WifiMotion::Walking => "walking",
        }
    }
}

/// A signal as one run has it.
pub(super) struct Signal {
    points: Vec<(Duration, f64)>,
    /// Deviations in dB of what moves.
    fading: Vec<(f64, Vec<Wave>)>,
}

impl Signal {
    pub fn new(spec: &WifiSignal, rng: &Rng) -> Signal {
        let part = |(deviation, memory): (f64, f64), name: &str| {
            (deviation, with_memory(memory, &mut rng.stream(name)))
        };
        Signal {
            points: spec.points.clone(),
            fading: match spec.motion {
                WifiMotion::Still => Vec::new(),
                WifiMotion::Walking => vec![part(SLOW, "slow"), part(FAST, "fast")],
            },
        }
    }

    /// In dB above the noise.
    pub fn snr(&self, at: Instant) -> f64 {
        let since = at.saturating_since(Instant::ZERO);
        let fading =
            |(deviation, waves): &(f64, Vec<Wave>)| deviation * sum(waves, since.as_secs_f64());
        self.way(since) + self.fading.iter().map(fading).sum::<f64>()
    }

    fn way(&self, since: Duration) -> f64 {
        let passed = self.points.partition_point(|(at, _)| *at <= since);
        match (passed.checked_sub(1), self.points.get(passed)) {
            (None, next) => next.map_or(0.0, |(_, snr)| *snr),
            (Some(last), None) => self.points[last].1,
            (Some(last), Some((end, there))) => {
                let (begin, here) = self.points[last];
                let share = (since - begin).as_secs_f64() / (*end - begin).as_secs_f64();
                here + (there - here) * share
            }
        }
    }
}
