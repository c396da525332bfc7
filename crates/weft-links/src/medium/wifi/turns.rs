//! Turns on the medium: order and outcome of transmissions.

use super::control::{RadioDirection, Report};
use super::obss::Disturbance;
use super::signal::Signal;
use super::{Air, Radio, Transmission, Wifi};
use crate::medium::service::Service;
use weft_units::{Duration, Instant};

impl<P> Wifi<P> {
    /// Advances the medium to `now`.
    pub fn advance(&mut self, now: Instant) -> Instant {
        let now = self.now.max(now);
        loop {
            match self.air {
                Air::Idle { next: Some(at) } if at <= now => self.begin(at),
                Air::Obss {
                    until,
                    next: Some(at),
                } if at < until && at <= now => self.transmit_all(at),
                Air::Obss { until, .. } if until <= now => self.end_of_obss(until),
                Air::Busy { until, others_idle } if until <= now => self.end(until, others_idle),
                _ => break,
            }
        }
        self.now = now;
        now
    }

    /// Finds the next sender while the cell is silent.
    pub fn contend(&mut self) {
        debug_assert!(self.obss_at().is_none_or(|at| at >= self.busy_until));
        let next = self.contenders.next_access();
        self.air = match self.contenders.obss_until() {
            Some(until) => Air::Obss { until, next },
            None => Air::Idle {
                next: next.into_iter().chain(self.obss_at()).min(),
            },
        };
    }

    /// Returns the start of the next transmission of overlapping networks, if the medium
    /// is idle then.
    fn obss_at(&self) -> Option<Instant> {
        Some(self.obss.as_ref()?.next())
    }

    /// Informs overlapping networks that the medium was busy until then.
    pub fn defer_obss(&mut self, until: Instant) {
        let most_urgent = self.timing.access.last().map(|access| access.ifs);
        if let (Some(obss), Some(ifs)) = (&mut self.obss, most_urgent) {
            obss.defer(until + ifs);
        }
    }

    /// Starts a transmission of overlapping networks.
    fn yield_to_obss(&mut self, at: Instant) {
        let Some(obss) = &mut self.obss else {
            return;
        };
        obss.forget(at);
        let until = obss.take(at);
        self.contenders.yield_to_obss(at, until);
        self.contend();
        self.measure(at);
    }

    fn end_of_obss(&mut self, at: Instant) {
        self.busy_until = at;
        self.defer_obss(at);
        self.contenders.on_obss_gone(at);
        self.contend();
        self.measure(at);
    }

    /// Returns the transmission that survives a collision: it goes to the access point
    /// and is stronger than all others together by the capture margin.
    fn captured(&self) -> Option<usize> {
        let threshold = self.capture?;
        let categories = self.categories();
        // No transmission survives if the access point itself sends.
        let signal = |t: &Transmission| {
            let radio = self.radios.get(t.contender / categories)?;
            Some(radio.signal_up.snr(t.begun))
        };
        let signals: Vec<f64> = self.on_air.iter().map(signal).collect::<Option<_>>()?;
        let power = |db: f64| 10_f64.powf(db / 10.0);
        let all: f64 = signals.iter().copied().map(power).sum();
        let is_stronger = |db: f64| power(db) >= power(threshold) * (all - power(db));
        signals.iter().position(|db| is_stronger(*db))
    }

    /// Starts the next transmission.
    fn begin(&mut self, at: Instant) {
        match self.obss_at() {
            Some(obss) if obss <= at => self.yield_to_obss(at),
            _ => self.transmit_all(at),
        }
    }

    /// Starts the transmissions of all contenders whose counters have expired.
    fn transmit_all(&mut self, at: Instant) {
        self.on_air.clear();
        if let Some(obss) = &mut self.obss {
            obss.forget(at);
        }
        // Senders that start within the slot cannot have heard the first.
        let due = self.contenders.take_due(at + self.timing.slot);
        let is_hidden = self
            .contenders
            .are_hidden(due.iter().map(|(index, _)| *index));
        for (index, begun) in &due {
            self.begin_of(*index, *begun, is_hidden);
        }
        self.contenders.give_back(due);
        // A discipline may have dropped all frames of a contender.
        let on_air = self.on_air.iter().map(|t| t.contender);
        let is_hidden = self.contenders.are_hidden(on_air);
        self.air = match self.on_air.len() {
            // Disciplines dropped all frames.
            0 => return self.contend(),
            1 => self.alone(),
            _ => self.collide(at),
        };
        let is_other = |index, _: &_| self.on_air.iter().all(|t| t.contender != index);
        self.contenders.freeze(at, is_other);
        if let (true, Some(obss)) = (is_hidden, &mut self.obss) {
            let end = self.on_air.iter().map(|t| t.ended).max();
            obss.disturb(at, end.unwrap_or(at));
            if let Some(until) = obss.until().filter(|until| *until > at) {
                self.contenders.on_obss(until);
            }
        }
        self.measure(at);
    }

    /// Returns the state of the medium during a single transmission.
    fn alone(&self) -> Air {
        let transmission = &self.on_air[0];
        // The announced time stays reserved (10.3.2.1), with or without an answer.
        let others_idle = transmission.ended + transmission.answer;
        let until = match transmission.is_answered {
            true => others_idle,
            false => transmission.ended,
        };
        Air::Busy { until, others_idle }
    }

    /// Returns the state of the medium during a collision, in which at most one
    /// transmission is received.
    fn collide(&mut self, at: Instant) -> Air {
        let categories = self.categories();
        let captured = self.captured();
        let mut until = at;
        for (index, transmission) in self.on_air.iter_mut().enumerate() {
            self.counters[transmission.contender / categories].collisions += 1;
            transmission.is_answered &= captured == Some(index);
            let answer = match transmission.is_answered {
                true => transmission.answer,
                false => Duration::ZERO,
            };
            until = until.max(transmission.ended + answer);
        }
        let idle_after = match captured {
            Some(_) => Duration::ZERO,
            None => self.timing.eifs_extra,
        };
        Air::Busy {
            until,
            others_idle: until + idle_after,
        }
    }

    /// Starts the transmission of a contender, unless a more urgent category of
    /// the same station has just started, which counts as a collision.
    fn begin_of(&mut self, index: usize, begun: Instant, is_hidden: bool) {
        let categories = self.categories();
        let sender = index / categories;
        let latest = self.on_air.last().map(|t| t.contender / categories);
        if latest == Some(sender) {
            return self.contenders.of(index).on_internal_collision();
        }
        let txop = self.contenders.of(index).txop();
        match self.transmit(sender, index % categories, begun, txop, is_hidden) {
            Some(transmission) => self.on_air.push(transmission),
            None => self.contenders.deactivate(index),
        }
        self.note_leaving(sender);
    }

    /// Takes the frames that a category of this sender transmits from `begun` on. If
    /// overlapping networks hear none of the senders, they do not wait.
    fn transmit(
        &mut self,
        index: usize,
        category: usize,
        begun: Instant,
        txop: Duration,
        is_hidden: bool,
    ) -> Option<Transmission> {
        let categories = self.categories();
        let timing = &self.timing;
        let mut obss = self.obss.as_mut().filter(|_| is_hidden);
        let sender = &mut self.senders[index];
        // A discipline may drop all frames of a lane; then the next lane is
        // served.
        while let Some(lane) = sender.turn(category) {
            let (way, signal) = way(&mut self.radios, index, sender.lane(lane).receiver);
            let attempt = way.attempt(begun, signal);
            let modulation = attempt.choice.modulation;
            let mut disturbance = Disturbance::of(obss.as_deref_mut(), modulation, begun);
            let intact = |frame, reached| {
                let survives_noise = way.is_intact(&attempt, frame);
                let survives_obss = !disturbance.hits(reached);
                survives_noise && survives_obss
            };
            let Some(burst) = sender.transmit(lane, begun, timing, &attempt, txop, intact) else {
                continue;
            };
            let counters = &mut self.counters[index];
            counters.attempts += 1;
            counters.frames += u64::from(burst.frames);
            counters.again += u64::from(burst.again);
            let answer = match burst.frames {
                1 => modulation.ack,
                _ => modulation.block_ack,
            };
            return Some(Transmission {
                contender: index * categories + category,
                lane,
                option: attempt.option,
                frames: burst.frames,
                intact: burst.intact,
                begun,
                ended: begun + modulation.airtime(burst.bytes),
                answer: timing.sifs + answer,
                is_answered: burst.intact > 0,
            });
        }
        None
    }

    /// Ends the transmissions on the air, with the answer if there was one.
    fn end(&mut self, at: Instant, others_idle: Instant) {
        let categories = self.categories();
        self.busy_until = at;
        // Stations that do not hear the sender hear the access point's answer.
        let is_answered = self.on_air.iter().any(|t| t.is_answered);
        let on_air = self.on_air.iter().map(|t| t.contender);
        if is_answered || !self.contenders.are_hidden(on_air) {
            self.defer_obss(at);
        }
        self.contenders.resume(at, others_idle);
        let mut on_air = std::mem::take(&mut self.on_air);
        for transmission in on_air.drain(..) {
            let index = transmission.contender;
            let sender = &mut self.senders[index / categories];
            let contender = self.contenders.of(index);
            let attempts = self.timing.attempts;
            let Transmission {
                lane, is_answered, ..
            } = transmission;
            let (way, _) = way(
                &mut self.radios,
                index / categories,
                sender.lane(lane).receiver,
            );
            way.on_report(Report {
                option: transmission.option,
                sent: transmission.frames,
                received: match is_answered {
                    true => transmission.intact,
                    false => 0,
                },
            });
            let took = transmission.took();
            sender.conclude(at, lane, took, is_answered, attempts);
            if transmission.is_answered {
                contender.on_answered();
            } else {
                self.counters[index / categories].failed += 1;
                contender.on_unanswered(attempts);
                // The standard does not define how a station treats the undecodable rest
                // of a frame longer than its own; here all collided stations continue
                // together.
                contender.resume(at + self.timing.ack_timeout);
            }
            if !sender.has_work(index % categories) {
                self.contenders.deactivate(index);
            }
            self.note_leaving(index / categories);
        }
        self.on_air = on_air;
        self.contend();
        self.measure(at);
    }

    /// Records the state of the medium for each station from `at` on. A collision does
    /// not count as use by any station, nor does the time in which stations wait for
    /// their turns.
    pub fn measure(&mut self, at: Instant) {
        let categories = self.categories();
        let alone = match &self.on_air[..] {
            [transmission] => Some(transmission.contender / categories),
            _ => None,
        };
        let service = match (self.air, alone) {
            (Air::Idle { .. }, _) => Service::Idle,
            (Air::Busy { .. }, Some(_)) => Service::Used,
            (Air::Busy { .. } | Air::Obss { .. }, _) => Service::Blocked,
        };
        self.channel.set(at, service);
        for (index, meter) in self.meters.iter_mut().enumerate() {
            let is_up = self.senders[index].port().is_up();
            let waits = || self.contenders.has_active(index);
            let is_idle = match self.air {
                Air::Idle { .. } => true,
                Air::Obss { .. } => !self.contenders.waits_for_obss(index * categories),
                Air::Busy { .. } => false,
            };
            let service = match is_idle {
                _ if !is_up => Service::Blocked,
                true if waits() => Service::Blocked,
                true => Service::Idle,
                false if alone == Some(index) => Service::Used,
                false => Service::Blocked,
            };
            meter.set(at, service);
        }
    }

    pub(super) fn categories(&self) -> usize {
        self.timing.access.len()
    }

    /// Records that a sender may have packets to return.
    pub(super) fn note_leaving(&mut self, sender: usize) {
        let may_leave = self.senders[sender].port().poll_timeout().is_some();
        if let (true, Err(place)) = (may_leave, self.leaving.binary_search(&sender)) {
            self.leaving.insert(place, sender);
        }
    }
}

/// Returns the rate control and signal from this sender to this receiver; the access
/// point comes after the stations.
fn way(radios: &mut [Radio], sender: usize, receiver: usize) -> (&mut RadioDirection, &Signal) {
    let is_up = sender < radios.len();
    let radio = &mut radios[if is_up { sender } else { receiver }];
    match is_up {
        true => (&mut radio.up, &radio.signal_up),
        false => (&mut radio.down, &radio.signal_down),
    }
}
