//! Signal between a station and the access point.

use crate::medium::waves::{Wave, sum, with_memory};
use weft_units::{Duration, Instant, Rng};

/// Signal of a station at the access point, or of the access point at the
/// station.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiSignal {
    /// Signal at times since the run's epoch, in dB above the receiver's noise:
    /// at least one point, in order. It changes linearly between points and is
    /// constant before the first and after the last.
    pub points: Vec<(Duration, f64)>,
    /// Variation around these points.
    pub motion: WifiMotion,
}

weft_units::named! {
    /// Variation of a signal in addition to its given points.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum WifiMotion: "motion" {
        /// `still`: no variation.
        #[default]
        Still = "still",
        /// `walking`: 3 dB with a memory of 2 s, and 2 dB with a memory of 50 ms,
        /// both normal in dB (chosen by us).
        Walking = "walking",
    }
}

/// Standard deviation in dB and correlation time in seconds (1/e) of each part
/// of [`WifiMotion::Walking`].
const SLOW: (f64, f64) = (3.0, 2.0);
const FAST: (f64, f64) = (2.0, 0.05);

impl WifiSignal {
    /// Creates a constant signal.
    #[must_use]
    pub fn steady(snr: f64) -> WifiSignal {
        WifiSignal {
            points: vec![(Duration::ZERO, snr)],
            motion: WifiMotion::Still,
        }
    }

    /// Whether it never changes.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.points.len() == 1 && self.motion == WifiMotion::Still
    }
}

/// Signal of one run.
pub(super) struct Signal {
    points: Vec<(Duration, f64)>,
    /// Standard deviations in dB and waves of the varying parts.
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

    /// Returns the signal above the noise in dB.
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
