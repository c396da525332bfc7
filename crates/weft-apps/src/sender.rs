use std::collections::VecDeque;

use weft_units::{Bytes, Deadline, Duration, Instant, Rate, Rng};

use crate::family::{Controller, FULL_PACKET, Model, Pattern, Plan};
use crate::packet::{Packet, Report};
use crate::report_history::ReportHistory;

/// Interval of sound packets: 20 ms, as in Opus and most telephony codecs.
const SOUND_EVERY: Duration = Duration::from_millis(20);
/// Smallest packet: IPv4, UDP and RTP headers.
const LEAST_PACKET: u64 = 40;
/// Interval at which a rate of zero is checked again.
const IDLE: Duration = Duration::from_millis(100);

/// The sending end: decides the times and sizes of its packets.
///
/// Call [`Sender::handle_timeout`] at the time that [`Sender::poll_timeout`] returns, and
/// after that [`Sender::poll_transmit`] until `None`. Time must not decrease.
#[derive(Debug)]
pub struct Sender {
    controller: Box<dyn Controller>,
    history: ReportHistory,
    swing: Swing,
    plan: Plan,
    next_sound: Instant,
    next_picture: Instant,
    waiting: VecDeque<Packet>,
    /// Number of the last packet.
    number: u64,
    sent: Bytes,
}

impl Sender {
    /// Creates a sender that begins at `start`. Its packets depend only on the reports
    /// and on `rng`.
    #[must_use]
    pub fn new(model: &Model, start: Instant, rng: &Rng) -> Sender {
        let mut controller = model.controller(start);
        let plan = controller.plan(start);
        // Two calls that start together do not capture in step.
        let phase = SOUND_EVERY.mul_f64(rng.stream("phase").unit());
        Sender {
            controller,
            history: ReportHistory::default(),
            swing: Swing::new(model.swing, rng.stream("swing")),
            plan,
            next_sound: start + phase,
            next_picture: start + phase,
            waiting: VecDeque::new(),
            number: 0,
            sent: Bytes(0),
        }
    }

    /// Handles a report. Ignores a report that is older than another one, or whose
    /// counters contradict earlier ones.
    pub fn handle_report(&mut self, now: Instant, report: &Report) {
        if report.highest <= self.number && self.history.add(report) {
            self.controller.on_report(now, &self.history);
        }
    }

    /// Makes the packets that are due.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.plan.hung_up {
            return;
        }
        self.plan = self.controller.plan(now);
        if self.plan.hung_up {
            return;
        }
        self.push(self.plan.burst, FULL_PACKET);
        while self.next_sound <= now {
            self.push(self.plan.sound * SOUND_EVERY, FULL_PACKET);
            self.next_sound += SOUND_EVERY;
        }
        while self.next_picture <= now {
            let interval = self.picture();
            self.next_picture += interval;
        }
    }

    /// Returns the next packet to send at once; call until `None`.
    pub fn poll_transmit(&mut self) -> Option<Packet> {
        self.waiting.pop_front()
    }

    /// Returns the time of the next packet; `None` after hanging up.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        (!self.plan.hung_up).then(|| Deadline {
            at: self.next_sound.min(self.next_picture),
            reason: "packet",
        })
    }

    /// Returns the present sending rate, headers included.
    #[must_use]
    pub fn rate(&self) -> Rate {
        match self.plan.hung_up {
            true => Rate::ZERO,
            false => self.plan.rate(),
        }
    }

    /// Makes one picture with its redundancy; returns the time until the next one.
    fn picture(&mut self) -> Duration {
        match self.plan.pattern {
            Pattern::Frames {
                per_second,
                largest,
            } => {
                let interval = Duration::from_secs_f64(1.0 / per_second);
                let factor = self.swing.next(interval);
                let size = self.plan.video.mul_f64(factor) * interval;
                self.push(size, largest);
                self.push(self.plan.redundancy * interval, largest);
                interval
            }
            Pattern::Paced { size } => match self.plan.video.time_for(size) {
                Some(interval) => {
                    self.push(size, size);
                    interval
                }
                None => IDLE,
            },
        }
    }

    /// Adds this many bytes in packets of about equal size, none above `largest`.
    fn push(&mut self, size: Bytes, largest: Bytes) {
        let packets = size.0.div_ceil(largest.0.max(1));
        for i in 0..packets {
            let part = size.0 * (i + 1) / packets - size.0 * i / packets;
            let size = Bytes(part.max(LEAST_PACKET));
            self.number += 1;
            self.sent += size;
            self.waiting.push_back(Packet {
                number: self.number,
                size,
                sent: self.sent,
            });
        }
    }
}

/// Deviation of picture sizes from the mean: a first-order autoregressive process.
#[derive(Debug)]
struct Swing {
    deviation: f64,
    lasts: Duration,
    value: f64,
    rng: Rng,
}

impl Swing {
    fn new((deviation, lasts): (f64, Duration), rng: Rng) -> Swing {
        Swing {
            deviation,
            lasts,
            value: 0.0,
            rng,
        }
    }

    /// Returns the factor for a picture this long after the previous one.
    fn next(&mut self, after: Duration) -> f64 {
        let keeps = (-after.as_secs_f64() / self.lasts.as_secs_f64()).exp();
        let drawn = self.rng.normal() * (1.0 - keeps * keeps).sqrt();
        self.value = self.value * keeps + drawn;
        (1.0 + self.deviation * self.value).max(0.1)
    }
}

#[cfg(test)]
mod tests;
