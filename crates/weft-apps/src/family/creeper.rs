//! Creeper: falls to its floor at once where packets are lost, and creeps back,
//! quickly after light loss and slowly after heavy loss.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Controller, Pattern, Plan};
use crate::seen::Seen;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Creeper {
    /// Of the loss of so long a time.
    pub window: Duration,
    /// Loss above the first share is light, above the second heavy.
    pub light_heavy: (f64, f64),
    /// The way back to the highest rate after each.
    pub back_in: (Duration, Duration),
    /// Sound while there are pictures or not.
    pub sound: Rate,
    /// Redundancy of sound while there are none.
    pub sound_redundancy: Rate,
    /// Pictures come back after so long a time without much loss.
    pub pictures_back: Duration,
    pub frames_per_second: f64,
}

#[derive(Debug)]
pub(super) struct Control {
    with: Creeper,
    highest: Rate,
    lowest: Rate,
    /// The last fall, and how long the way back is.
    fall: Option<(Instant, Duration)>,
    pictures: Pictures,
}

#[derive(Clone, Copy, Debug)]
enum Pictures {
    On,
    /// And since when little is lost.
    Off(Option<Instant>),
}

impl Control {
    pub fn new(with: Creeper, highest: Rate, lowest: Rate) -> Control {
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

    /// Falls, or has no further to fall.
    fn on_loss(&mut self, now: Instant, heavy: bool) {
        let (quick, slow) = self.with.back_in;
        let is_down = self.rate(now) < self.lowest.mul_f64(1.5);
        if heavy && is_down {
            self.pictures = Pictures::Off(None);
        }
        // Light loss on a slow way back does not make it a quick one.
        let goes_slowly = self
            .fall
            .is_some_and(|(at, back_in)| back_in == slow && now.saturating_since(at) < slow);
        let back_in = if heavy || goes_slowly { slow } else { quick };
        self.fall = Some((now, back_in));
    }
}

impl Controller for Control {
    fn on_report(&mut self, now: Instant, seen: &Seen) {
        let Some(last) = seen.over(self.with.window) else {
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
        // What it fell for is in the window for as long as that, and a report
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
