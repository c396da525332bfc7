//! Slow recovery: falls to its lowest rate at once after loss, and rises slowly; the rise takes
//! longer after heavy loss than after light loss.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Controller, Pattern, Plan};
use crate::report_history::ReportHistory;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SlowRecovery {
    /// Time over which loss is measured.
    pub window: Duration,
    /// Thresholds of light and heavy loss.
    pub light_heavy: (f64, f64),
    /// Duration of the rise to the highest rate after light and after heavy loss.
    pub back_in: (Duration, Duration),
    /// Sound with and without pictures.
    pub sound: Rate,
    /// Redundancy of sound while pictures are off.
    pub sound_redundancy: Rate,
    /// Time without much loss after which pictures return.
    pub pictures_back: Duration,
    pub frames_per_second: f64,
}

#[derive(Debug)]
pub(super) struct Control {
    with: SlowRecovery,
    highest: Rate,
    lowest: Rate,
    /// Time of the last fall, and duration of the rise after it.
    fall: Option<(Instant, Duration)>,
    pictures: Pictures,
}

#[derive(Clone, Copy, Debug)]
enum Pictures {
    On,
    /// Off, with the time since which loss has been low.
    Off(Option<Instant>),
}

impl Control {
    pub fn new(with: SlowRecovery, highest: Rate, lowest: Rate) -> Control {
        Control {
            with,
            highest,
            lowest,
            fall: None,
            pictures: Pictures::On,
        }
    }

    fn rate(&self, now: Instant) -> Rate {
        let Some((at, back_in)) = self.fall else {
            return self.highest;
        };
        let way = now.saturating_since(at).as_secs_f64() / back_in.as_secs_f64();
        let room = self.highest.saturating_sub(self.lowest);
        self.lowest + room.mul_f64(way.min(1.0))
    }

    /// Falls, unless it already sends the lowest rate.
    fn on_loss(&mut self, now: Instant, heavy: bool) {
        let (quick, slow) = self.with.back_in;
        let is_down = self.rate(now) < self.lowest.mul_f64(1.5);
        if heavy && is_down {
            self.pictures = Pictures::Off(None);
        }
        // Light loss does not turn a slow rise into a quick one.
        let goes_slowly = self
            .fall
            .is_some_and(|(at, back_in)| back_in == slow && now.saturating_since(at) < slow);
        let back_in = if heavy || goes_slowly { slow } else { quick };
        self.fall = Some((now, back_in));
    }
}

impl Controller for Control {
    fn on_report(&mut self, now: Instant, history: &ReportHistory) {
        let Some(last) = history.over(self.with.window) else {
            return;
        };
        let (light, heavy) = self.with.light_heavy;
        if let Pictures::Off(quiet) = &mut self.pictures {
            if last.loss >= light {
                *quiet = None;
            } else if now.saturating_since(*quiet.get_or_insert(now)) >= self.with.pictures_back {
                self.pictures = Pictures::On;
            }
        }
        // The loss that caused the fall stays in the window for this long, and a report
        // is late by the round trip and a full queue.
        let seen_for = self.with.window.mul_f64(1.5);
        let is_judged = self
            .fall
            .is_some_and(|(at, _)| now.saturating_since(at) < seen_for);
        if !is_judged && last.loss >= light {
            self.on_loss(now, last.loss > heavy);
        }
    }

    fn plan(&mut self, now: Instant) -> Plan {
        let (video, redundancy) = match self.pictures {
            Pictures::On => (self.rate(now).saturating_sub(self.with.sound), Rate::ZERO),
            Pictures::Off(_) => (Rate::ZERO, self.with.sound_redundancy),
        };
        Plan {
            sound: self.with.sound,
            video,
            redundancy,
            pattern: Pattern::frames(self.with.frames_per_second),
            burst: Bytes(0),
            hung_up: false,
        }
    }
}
