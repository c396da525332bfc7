//! Prober with a long memory: sends what arrived at best within the last half
//! minute, tries more and less again and again, and answers neither loss nor
//! delay.

use std::collections::VecDeque;

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Controller, Pattern, Plan};
use crate::seen::Seen;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Prober {
    /// What arrived counts for so long.
    pub memory: Duration,
    /// Sent over what arrived at best.
    pub gain: f64,
    /// The same while it tries more, and for how long.
    pub probe_up: (f64, Duration),
    /// While it tries less.
    pub probe_down: (f64, Duration),
    /// Between two trials of the same kind.
    pub probe_every: Duration,
    /// What arrives in a trial counts if less than this was lost of it.
    pub counts_below_loss: f64,
    pub overshoot: Option<Overshoot>,
    /// The highest rate grows with the call's age: from when, how much a
    /// second, and up to which.
    pub grows: Option<(Duration, Rate, Rate)>,
    /// At the lowest rate: packets a second, how many more by the share that
    /// is lost, and their mean size less so much, above a loss.
    pub at_lowest: AtLowest,
    /// Size of packets above that.
    pub packet: Bytes,
}

/// After what it remembers has fallen below half.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Overshoot {
    pub gain: f64,
    pub after: Duration,
    pub lasts: Duration,
}

/// Packets where the rate can go no lower.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct AtLowest {
    pub packets_per_second: f64,
    /// More packets, over the share lost.
    pub per_loss: f64,
    /// Mean size in bytes at this loss, and how many bytes less for each unit
    /// of loss above it.
    pub size: (f64, f64, f64),
}

const WINDOW: Duration = Duration::from_secs(1);
/// Redundancy follows the loss of this time. Chosen by us.
const LOSS_WINDOW: Duration = Duration::from_secs(5);
/// Until the first loss the rate doubles in so long a time: the study's windows
/// begin 30 s after the start, so what is before is open. Chosen by us.
const DOUBLES_IN: f64 = 2.0;

#[derive(Debug)]
pub(super) struct Control {
    with: Prober,
    highest: Rate,
    lowest: Rate,
    start: Instant,
    /// What arrived and when, falling: the first is the best that counts.
    best: VecDeque<(Instant, Rate)>,
    /// The best that counts.
    remembered: Rate,
    /// What it was before it began to fall, and when it fell last.
    fell: (Rate, Instant),
    overshoot_at: Option<Instant>,
    starting: bool,
    loss: f64,
}

impl Control {
    pub fn new(with: Prober, highest: Rate, lowest: Rate, start: Instant) -> Control {
        Control {
            with,
            highest,
            lowest,
            start,
            best: VecDeque::new(),
            remembered: Rate::ZERO,
            fell: (Rate::ZERO, start),
            overshoot_at: None,
            starting: true,
            loss: 0.0,
        }
    }

    fn remember(&mut self, now: Instant, rate: Rate) {
        while self.best.back().is_some_and(|(_, other)| *other <= rate) {
            self.best.pop_back();
        }
        self.best.push_back((now, rate));
    }

    fn forget(&mut self, now: Instant) {
        let memory = self.with.memory;
        while self.best.len() > 1 && now.saturating_since(self.best[0].0) > memory {
            self.best.pop_front();
        }
        let best = self.best.front().map_or(Rate::ZERO, |(_, rate)| *rate);
        if best < self.remembered {
            let (from, at) = self.fell;
            // What is forgotten within the length of the window is one fall.
            let goes_on = now.saturating_since(at) < WINDOW * 2;
            let from = if goes_on { from } else { self.remembered };
            self.fell = (from, now);
            if let Some(overshoot) = &self.with.overshoot
                && best < from.mul_f64(0.5)
            {
                self.overshoot_at = Some(now + overshoot.after);
            }
        }
        self.remembered = best;
    }

    fn age(&self, now: Instant) -> Duration {
        now.saturating_since(self.start)
    }

    /// What it does now, as a factor of what it remembers.
    fn gain(&self, now: Instant) -> f64 {
        if let (Some(overshoot), Some(at)) = (&self.with.overshoot, self.overshoot_at)
            && now >= at
            && now.saturating_since(at) < overshoot.lasts
        {
            return overshoot.gain;
        }
        let (up, up_lasts) = self.with.probe_up;
        let (down, down_lasts) = self.with.probe_down;
        let every = self.with.probe_every.as_nanos();
        let phase = Duration::from_nanos(self.age(now).as_nanos() % every);
        // Half a period later, so that one does not follow on the other.
        let since_down = phase.saturating_sub(self.with.probe_every / 2);
        if phase < up_lasts {
            up
        } else if since_down > Duration::ZERO && since_down < down_lasts {
            down
        } else {
            self.with.gain
        }
    }

    /// What it sends at least, redundancy included, and in packets of which size.
    fn lowest_plan(&self) -> (Rate, Bytes) {
        let AtLowest {
            packets_per_second,
            per_loss,
            size: (size, at_loss, less),
        } = self.with.at_lowest;
        let size = (size - less * (self.loss - at_loss)).clamp(200.0, 1200.0);
        let packets = packets_per_second * (1.0 + per_loss * self.loss);
        let rate = Rate::from_bps((packets * size * 8.0) as u64);
        (rate, Bytes(size as u64))
    }

    fn highest(&self, now: Instant) -> Rate {
        let Some((from, a_second, most)) = self.with.grows else {
            return self.highest;
        };
        let grown = a_second.mul_f64(self.age(now).saturating_sub(from).as_secs_f64());
        // As far above the usual limit as that one was moved.
        (self.highest + grown).min(most.max(self.highest))
    }
}

impl Controller for Control {
    fn on_report(&mut self, now: Instant, seen: &Seen) {
        let Some(last) = seen.over(WINDOW) else {
            return;
        };
        self.loss = seen.over(LOSS_WINDOW).map_or(0.0, |share| share.loss);
        // What arrived within the window may have been sent while it tried more.
        let times = [now, now.saturating_sub(WINDOW)];
        let tries_more = times.into_iter().any(|at| self.gain(at) > 1.0);
        if last.loss > 0.0 {
            self.starting = false;
        }
        if !tries_more || last.loss < self.with.counts_below_loss {
            self.remember(now, last.rate);
        }
        self.forget(now);
    }

    fn plan(&mut self, now: Instant) -> Plan {
        let rate = match self.starting {
            true => {
                let doublings = self.age(now).as_secs_f64() / DOUBLES_IN;
                self.lowest.mul_f64(doublings.min(16.0).exp2())
            }
            false => self.remembered.mul_f64(self.gain(now)),
        };
        let (lowest, small) = self.lowest_plan();
        let (video, size) = match rate > lowest {
            true => (rate.min(self.highest(now)), self.with.packet),
            false => (lowest, small),
        };
        Plan {
            sound: Rate::ZERO,
            video,
            redundancy: Rate::ZERO,
            pattern: Pattern::Paced { size },
            burst: Bytes(0),
            hung_up: false,
        }
    }
}
