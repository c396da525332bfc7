//! Prober with a long memory: sends the highest rate that arrived within the last half
//! minute, repeatedly tries more and less, and ignores both loss and delay.

use std::collections::VecDeque;

use weft_units::{Bytes, Duration, Instant, Rate};

use super::{Controller, Pattern, Plan};
use crate::report_history::ReportHistory;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Prober {
    /// Memory of arriving rates.
    pub memory: Duration,
    /// Sending rate relative to the best arriving rate.
    pub gain: f64,
    /// Gain of a trial of a higher rate, and the duration of the trial.
    pub probe_up: (f64, Duration),
    /// Gain of a trial of a lower rate, and the duration of the trial.
    pub probe_down: (f64, Duration),
    /// Interval between two trials of the same kind.
    pub probe_every: Duration,
    /// Loss of a trial below which its arriving rate counts.
    pub counts_below_loss: f64,
    pub overshoot: Option<Overshoot>,
    /// Growth of the highest rate with the call's age: the age at its start, the growth
    /// per second, and its end.
    pub grows: Option<(Duration, Rate, Rate)>,
    /// Packets at the lowest rate: their number per second, the increase with the share
    /// lost, and the mean size with its decrease above a loss.
    pub at_lowest: AtLowest,
    /// Size of packets at higher rates.
    pub packet: Bytes,
}

/// Overshoot after the remembered rate has fallen below half.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Overshoot {
    pub gain: f64,
    pub after: Duration,
    pub lasts: Duration,
}

/// Packets at the lowest rate.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct AtLowest {
    pub packets_per_second: f64,
    /// Additional packets per second for each unit of loss.
    pub per_loss: f64,
    /// Mean size in bytes at this loss, and the decrease in bytes for each unit of loss
    /// above it.
    pub size: (f64, f64, f64),
}

const WINDOW: Duration = Duration::from_secs(1);
/// Time over which loss determines redundancy. Chosen by us.
const LOSS_WINDOW: Duration = Duration::from_secs(5);
/// Time in seconds in which the rate doubles until the first loss. The study's windows
/// begin 30 s after the start, so it does not show the time before. Chosen by us.
const DOUBLES_IN: f64 = 2.0;

#[derive(Debug)]
pub(super) struct Control {
    with: Prober,
    highest: Rate,
    lowest: Rate,
    start: Instant,
    /// Arriving rates with their times, in falling order; the first is the highest that
    /// counts.
    best: VecDeque<(Instant, Rate)>,
    /// Best arriving rate that counts.
    remembered: Rate,
    /// Rate before the fall began, and time of the last fall.
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
            // Decreases within a window belong to one fall.
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

    /// Returns the present gain on the remembered rate.
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
        // Half a period later, so that one trial does not directly follow another.
        let since_down = phase.saturating_sub(self.with.probe_every / 2);
        if phase < up_lasts {
            up
        } else if since_down > Duration::ZERO && since_down < down_lasts {
            down
        } else {
            self.with.gain
        }
    }

    /// Returns the lowest rate, redundancy included, and the packet size at that rate.
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
        // Scaled like the usual limit.
        (self.highest + grown).min(most.max(self.highest))
    }
}

impl Controller for Control {
    fn on_report(&mut self, now: Instant, history: &ReportHistory) {
        let Some(last) = history.over(WINDOW) else {
            return;
        };
        self.loss = history.over(LOSS_WINDOW).map_or(0.0, |share| share.loss);
        // Packets that arrived within the window may have been sent during a trial of a
        // higher rate.
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
