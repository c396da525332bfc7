//! The loop: takes the earliest deadline and handles it.

use std::ops::ControlFlow;

use weft_experiment::{Record, Setup, SetupError};
use weft_units::{Instant, Rng};

use crate::delays::Measured;
use crate::network::{Ended, Fate, Network, Owner};
use crate::traffic::Running;

/// Observer of a run.
pub trait Observer {
    /// Called at the end of a period of the time series. [`ControlFlow::Break`] ends the
    /// run here; its record covers the time until now.
    fn on_sample(&mut self, at: Instant) -> ControlFlow<()>;
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
/// If the setup cannot be run; nothing has been done then.
pub fn run(setup: &Setup, seed: u64, observer: &mut dyn Observer) -> Result<Record, SetupError> {
    setup.check()?;
    let rng = Rng::new(seed);
    let mut network = Network::new(&setup.links, &rng.stream("links"));
    let flows_rng = rng.stream("flows");
    let flow = |(index, flow)| Running::new(index, flow, &flows_rng, &mut network);
    let flows = setup.flows.iter().enumerate().map(flow).collect();
    let world = World {
        setup,
        network,
        flows,
        now: Instant::ZERO,
        events: 0,
    };
    Ok(world.run(observer))
}

struct World<'a> {
    setup: &'a Setup,
    network: Network,
    flows: Vec<Running>,
    now: Instant,
    events: u64,
}

impl World<'_> {
    fn run(mut self, observer: &mut dyn Observer) -> Record {
        let end = Instant::ZERO + self.setup.duration;
        let period = self.setup.sample_every;
        let sampler = self.network.add_slot(Owner::Sample);
        let first = (Instant::ZERO + period).min(end);
        self.network.set_timer(sampler, Some(first));
        while let Some((slot, owner, at)) = self.network.next() {
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
                    self.flows[flow].flow.on_timer(at, key, &mut self.network);
                }
                Owner::Sample => {
                    self.sample(at);
                    // Nothing happens after the last sample, so that the
                    // series add up to the totals.
                    if observer.on_sample(at).is_break() || at >= end {
                        break;
                    }
                    let next = (at + period).min(end);
                    self.network.set_timer(slot, Some(next));
                }
            }
        }
        self.into_record()
    }

    fn dispatch(&mut self, ended: &Ended) {
        let flow = &mut self.flows[ended.flow].flow;
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
        for running in &mut self.flows {
            running.flow.sample(at);
        }
    }

    fn into_record(mut self) -> Record {
        let links = self.network.link_records(self.now, &self.setup.links);
        let flows = self.flows.into_iter();
        Record {
            ended_at: self.now,
            sample_every: self.setup.sample_every,
            links,
            flows: flows.map(|f| f.into_record(&mut self.network)).collect(),
            events: self.events,
        }
    }
}

#[cfg(test)]
mod tests;
