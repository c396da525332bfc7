//! Overlapping networks (OBSS): other senders on the same radio channel.

use super::rate::Modulation;
use super::spec::WifiSpec;
use weft_units::{Duration, Instant, Rng};

/// Overlapping networks that occupy the medium for a share of the time that the cell
/// leaves them; pauses and busy periods are exponential. They do not interrupt
/// transmissions that they hear, and stations that hear them wait.
pub(super) struct OverlappingNetwork {
    /// Mean lengths of pauses and busy periods.
    pause: Duration,
    busy: Duration,
    next: Instant,
    /// Busy periods, start and end, that can overlap the current transmission.
    remembered: Vec<(Instant, Instant)>,
    rng: Rng,
}

impl OverlappingNetwork {
    /// Creates the overlapping networks of a cell; `None` if their share of the time is
    /// zero.
    pub fn new(spec: &WifiSpec, rng: Rng) -> Option<OverlappingNetwork> {
        let (share, busy) = (spec.interference, spec.busy_period);
        (share > 0.0).then(|| {
            let mut obss = OverlappingNetwork {
                pause: busy.mul_f64((1.0 - share) / share),
                busy,
                next: Instant::ZERO,
                remembered: Vec::new(),
                rng,
            };
            obss.rest(Instant::ZERO);
            obss
        })
    }

    /// Returns the start of their next transmission, if the medium is idle then.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Returns the end of the last remembered busy period.
    pub fn until(&self) -> Option<Instant> {
        Some(self.remembered.last()?.1)
    }

    /// Postpones their next transmission to this time at the earliest.
    pub fn defer(&mut self, until: Instant) {
        self.next = self.next.max(until);
    }

    /// Starts a transmission at `at`, followed by a pause; returns its end.
    pub fn take(&mut self, at: Instant) -> Instant {
        let until = at + self.draw(self.busy);
        self.remembered.push((at, until));
        self.rest(until);
        until
    }

    /// Forgets busy periods that ended before this time.
    pub fn forget(&mut self, before: Instant) {
        self.remembered.retain(|(_, until)| *until > before);
    }

    /// Whether they transmit during this span, in which they hear no station of
    /// the cell.
    pub fn disturb(&mut self, from: Instant, to: Instant) -> bool {
        while self.next < to {
            self.take(self.next);
        }
        let overlaps = |&(begun, until): &(Instant, Instant)| begun < to && until > from;
        self.remembered.iter().any(overlaps)
    }

    fn rest(&mut self, from: Instant) {
        self.next = from + self.draw(self.pause);
    }

    fn draw(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-(1.0 - self.rng.unit()).ln())
    }
}

/// Effect of overlapping networks on one transmission that they do not hear.
pub(super) struct Disturbance<'s> {
    obss: Option<&'s mut OverlappingNetwork>,
    modulation: Modulation,
    begun: Instant,
    /// End of the checked frames; `None` before the first.
    reached: Option<Instant>,
    /// Whether the preamble was hit, so that the receiver gets nothing.
    is_lost: bool,
}

impl<'s> Disturbance<'s> {
    pub fn of(
        obss: Option<&'s mut OverlappingNetwork>,
        modulation: Modulation,
        begun: Instant,
    ) -> Disturbance<'s> {
        Disturbance {
            obss,
            modulation,
            begun,
            reached: None,
            is_lost: false,
        }
    }

    /// Whether they hit the next frame of the transmission, which ends after
    /// this many bytes of it.
    pub fn hits(&mut self, bytes: u64) -> bool {
        let Some(obss) = self.obss.as_deref_mut() else {
            return false;
        };
        let from = self.reached.unwrap_or_else(|| {
            let preamble = self.begun + self.modulation.airtime(0);
            self.is_lost = obss.disturb(self.begun, preamble);
            preamble
        });
        let to = self.begun + self.modulation.airtime(bytes);
        self.reached = Some(to);
        obss.disturb(from, to) || self.is_lost
    }
}

#[cfg(test)]
mod tests {
    use super::super::rate::{GuardInterval, WifiRate};
    use super::super::{WifiSpec, WifiStandard};
    use super::*;

    /// Returns which frames of an aggregate at MCS 4 are hit by a transmission of
    /// overlapping networks between these microseconds.
    fn hit(from: u64, until: u64) -> Vec<bool> {
        let mut spec = WifiSpec::new(WifiStandard::N, Vec::new());
        spec.interference = 0.5;
        let mut obss = OverlappingNetwork::new(&spec, Rng::new(1)).expect("some");
        let at = |us| Instant::ZERO + Duration::from_micros(us);
        obss.next = at(1_000_000);
        obss.remembered.push((at(from), at(until)));
        let modulation = Modulation::of(WifiStandard::N, GuardInterval::Long, WifiRate::Mcs(4));
        let mut disturbance = Disturbance::of(Some(&mut obss), modulation, at(1_000));
        // At 39 Mbit/s, 1560 bytes take 320 us, after a preamble of 36 us.
        let ends = (1..=4).map(|frames| frames * 1_560);
        ends.map(|bytes| disturbance.hits(bytes)).collect()
    }

    #[test]
    fn an_overlapping_network_hits_the_frames_that_it_meets() {
        assert_eq!(hit(1_450, 1_500), [false, true, false, false]);
        assert_eq!(hit(1_300, 1_400), [true, true, false, false]);
        assert_eq!(hit(900, 999), [false; 4]);
        assert_eq!(hit(9_000, 9_999), [false; 4]);
    }

    #[test]
    fn without_its_preamble_nothing_is_received() {
        assert_eq!(hit(1_010, 1_020), [true; 4]);
        assert_eq!(hit(900, 1_001), [true; 4]);
    }
}
