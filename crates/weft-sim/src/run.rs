//! Main loop: takes the earliest deadline and handles it.

use std::borrow::Cow;
use std::ops::ControlFlow;

use weft_experiment::{Record, Setup, SetupError};
use weft_units::{Instant, Rng};

use crate::capture::CapturedPacket;
use crate::delays::Measured;
use crate::network::{Ended, Fate, Network, Owner};
use crate::traffic::Flows;

/// Observer of a run.
pub trait Observer {
    /// Called at the end of a period of the time series. [`ControlFlow::Break`] ends the
    /// run here; its record covers the time until now.
    fn on_sample(&mut self, at: Instant) -> ControlFlow<()>;

    /// Returns whether the observer wants the packets of calls. Called when the run
    /// advances.
    fn wants_packets(&self) -> bool {
        false
    }

    /// Called for every RTP and RTCP packet of a call, in time order: when it is sent on
    /// a route and when it arrives. Packets of conferences are not captured.
    fn on_packet(&mut self, _packet: &CapturedPacket<'_>) {}
}

/// No observer.
impl Observer for () {
    fn on_sample(&mut self, _at: Instant) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Runs `setup` in virtual time. Equal setups and seeds give equal records.
///
/// # Errors
/// If the setup cannot be run; nothing has been done in this case.
pub fn run(setup: &Setup, seed: u64, observer: &mut dyn Observer) -> Result<Record, SetupError> {
    let mut simulation = Simulation::of(Cow::Borrowed(setup), seed)?;
    simulation.advance(Instant::ZERO + setup.duration, observer);
    Ok(simulation.finish())
}

/// Run that can pause. Its record equals that of [`run`], regardless of its pauses.
pub struct Simulation<'a> {
    setup: Cow<'a, Setup>,
    network: Network,
    flows: Flows,
    now: Instant,
    events: u64,
    has_ended: bool,
}

impl Simulation<'static> {
    /// Creates a run that has not started.
    ///
    /// # Errors
    /// If the setup cannot be run.
    pub fn new(setup: Setup, seed: u64) -> Result<Simulation<'static>, SetupError> {
        Simulation::of(Cow::Owned(setup), seed)
    }
}

impl<'a> Simulation<'a> {
    fn of(setup: Cow<'a, Setup>, seed: u64) -> Result<Simulation<'a>, SetupError> {
        setup.check()?;
        let rng = Rng::new(seed);
        let mut network = Network::new(&setup.links, &rng.stream("links"));
        let flows_rng = rng.stream("flows");
        let flows = Flows::new(&setup.flows, &flows_rng, &mut network);
        let sampler = network.add_slot(Owner::Sample);
        let first = setup.sample_every.min(setup.duration);
        network.set_timer(sampler, Some(Instant::ZERO + first));
        Ok(Simulation {
            setup,
            network,
            flows,
            now: Instant::ZERO,
            events: 0,
            has_ended: false,
        })
    }

    /// Returns whether the run has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Handles all events up to this time, or to the end of the run.
    pub fn advance(&mut self, until: Instant, observer: &mut dyn Observer) {
        let end = Instant::ZERO + self.setup.duration;
        let period = self.setup.sample_every;
        self.network.captured.is_wanted = observer.wants_packets();
        while !self.has_ended
            && let Some((slot, owner, at)) = self.network.next()
            && at <= until
        {
            self.now = at;
            self.events += 1;
            match owner {
                Owner::Channel(link, channel) => {
                    while let Some(ended) = self.network.poll_channel(at, link, channel) {
                        self.dispatch(&ended);
                    }
                }
                Owner::Access(leg) => {
                    while let Some(ended) = self.network.poll_access(at, leg) {
                        self.dispatch(&ended);
                    }
                }
                Owner::Flow(flow, key) => {
                    // The flow sets the slot again.
                    self.network.set_timer(slot, None);
                    self.flows
                        .running(flow)
                        .on_timer(at, key, &mut self.network);
                }
                Owner::Sample => {
                    self.sample(at);
                    // Nothing happens after the last sample, so that the series add up to
                    // the totals.
                    if observer.on_sample(at).is_break() || at >= end {
                        self.has_ended = true;
                        return;
                    }
                    let next = (at + period).min(end);
                    self.network.set_timer(slot, Some(next));
                }
            }
            self.pass_captured(observer);
        }
    }

    fn pass_captured(&mut self, observer: &mut dyn Observer) {
        let (flows, at) = (&self.flows, self.now);
        self.network.captured.drain(|leg, seen, protocol, bytes| {
            if let Some((flow, route, way)) = flows.place_of(leg) {
                observer.on_packet(&CapturedPacket {
                    at,
                    flow,
                    route,
                    way,
                    seen,
                    protocol,
                    bytes,
                });
            }
        });
    }

    fn dispatch(&mut self, ended: &Ended) {
        let flow = self.flows.running(ended.flow);
        match ended.fate {
            Fate::Delivered => flow.on_packet(self.now, &ended.packet, &mut self.network),
            Fate::Dropped => flow.on_dropped(&ended.packet),
            Fate::Left => flow.on_left(self.now, &ended.packet, &mut self.network),
        }
    }

    fn sample(&mut self, at: Instant) {
        let begun = at.saturating_sub(self.setup.sample_every);
        let measured = match begun >= Instant::ZERO + self.setup.measure_from {
            true => Measured::Yes,
            false => Measured::No,
        };
        self.network.sample(at, measured);
        self.flows.sample(at);
    }

    /// Returns the record of the run so far.
    #[must_use]
    pub fn finish(mut self) -> Record {
        let links = self.network.link_records(self.now, &self.setup.links);
        Record {
            ended_at: self.now,
            sample_every: self.setup.sample_every,
            links,
            flows: self.flows.into_records(&mut self.network),
            events: self.events,
        }
    }
}

#[cfg(test)]
mod tests;
