//! One direction of a cell: assigns its resource blocks every millisecond.

use super::bearer::Bearer;
use super::grants::Grants;
use super::meter::Meter;
use super::quality::Quality;
use super::scheduler::{Candidate, Scheduler};
use super::spec::{LteBearers, LteSpec};
use super::terminal::{Demand, Presence, Process, Terminal};
use super::timing::{TTI, slot, whole};
use crate::line::Line;
use crate::medium::port::Port;
use crate::medium::radio::RadioCounters;
use crate::{Departure, LinkSpec, PacketInfo, ServiceTime, Tally, TrafficClass};
use weft_units::{Deadline, Duration, Instant, Rate, Rng};

/// Direction of a carrier.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CarrierDirection {
    Up,
    Down,
}

pub(super) struct Carrier<P> {
    way: CarrierDirection,
    /// Total number of resource blocks, and the number assigned together.
    blocks: u16,
    group: u16,
    bearers: LteBearers,
    terminals: Vec<Terminal<P>>,
    /// One port for each terminal, or the port of the base station.
    ports: Vec<Port<P>>,
    counters: Vec<RadioCounters>,
    scheduler: Scheduler,
    meter: Meter,
    now: Instant,
    /// Last millisecond that was assigned.
    begun: Instant,
    /// Next millisecond to assign.
    next: Option<Instant>,
    candidates: Vec<Candidate>,
    /// Blocks in the current assignment, by terminal.
    dealt: Vec<u16>,
}

impl<P> Carrier<P> {
    pub fn new(spec: &LteSpec, way: CarrierDirection, rng: &Rng) -> Carrier<P> {
        let count = spec.terminals.len();
        let line = LinkSpec::new(Rate::ZERO, spec.delay);
        let port = |rng: &Rng| Port::new(Line::new(&line, rng));
        let own = |index: usize| rng.stream(&index.to_string());
        let ports: Vec<Port<P>> = match way {
            CarrierDirection::Up => (0..count).map(|index| port(&own(index))).collect(),
            CarrierDirection::Down => vec![port(&rng.stream("base station"))],
        };
        let terminals = (0..count).map(|index| terminal(spec, way, index, &own(index)));
        let terminals = terminals.collect();
        Carrier {
            way,
            blocks: spec.bandwidth.blocks(),
            group: spec.bandwidth.group(),
            bearers: spec.bearers,
            terminals,
            counters: vec![RadioCounters::default(); ports.len()],
            scheduler: Scheduler::new(spec.scheduler, count),
            meter: Meter::new(spec.bandwidth.blocks(), count, ports.len()),
            ports,
            now: Instant::ZERO,
            begun: Instant::ZERO,
            next: None,
            candidates: Vec::new(),
            dealt: vec![0; count],
        }
    }

    /// Adds a packet for or from this terminal.
    pub fn enqueue(&mut self, now: Instant, terminal: usize, info: PacketInfo, packet: P) {
        let now = self.advance(now);
        let is_urgent = info.class >= TrafficClass::Video;
        let bearer = match self.bearers {
            LteBearers::Dedicated if is_urgent => 0,
            LteBearers::Dedicated | LteBearers::Default => 1,
        };
        let port = &mut self.ports[own_port(self.way, terminal)];
        let of = &mut self.terminals[terminal];
        of.bearers[bearer].enqueue(now, info, packet, port);
        let following = self.following();
        let next = self.terminals[terminal].next(following);
        self.next = self.next.into_iter().chain(next.map(whole)).min();
    }

    /// Advances the carrier to `now`.
    pub fn advance(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        while let Some(at) = self.next.filter(|at| *at <= self.now) {
            self.deal(at);
            let following = at + TTI;
            let mut next: Option<Instant> = None;
            for terminal in &mut self.terminals {
                let own = terminal.next(following);
                next = next.into_iter().chain(own).min();
                if next == Some(following) {
                    break;
                }
            }
            self.next = next.map(whole);
        }
        self.now
    }

    /// Returns the first millisecond that can still be assigned.
    fn following(&self) -> Instant {
        let next = whole(self.now + Duration::from_nanos(1));
        next.max(self.begun + TTI)
    }

    /// Assigns a millisecond: first to retransmissions, then to new data.
    fn deal(&mut self, at: Instant) {
        let ports = &self.ports;
        self.meter.begin(at, |index| ports[index].is_up());
        self.begun = at;
        self.dealt.fill(0);
        self.candidates.clear();
        let mut free = self.blocks;
        for index in 0..self.terminals.len() {
            let terminal = &mut self.terminals[index];
            if terminal.presence.reach(at) > at {
                continue;
            }
            let process: &Process = &terminal.processes[slot(at)];
            match process.due() {
                None => self.wish(index, at),
                // Retransmissions postponed by a handover may exceed the free
                // blocks.
                Some(_) if process.blocks > free => {}
                Some(_) => {
                    self.dealt[index] = process.blocks;
                    free -= process.blocks;
                }
            }
        }
        if free > 0 {
            self.share(at, free);
        }
        for index in 0..self.terminals.len() {
            if self.dealt[index] > 0 {
                self.transmit(index, at);
            }
        }
    }

    /// Adds the demand of a terminal to the candidates.
    fn wish(&mut self, index: usize, at: Instant) {
        let terminal = &mut self.terminals[index];
        let Demand { urgent, all } = terminal.demand(at);
        if all == 0 {
            return;
        }
        let Some(cqi) = terminal.quality.cqi(at) else {
            return;
        };
        let rank = terminal.quality.rank as u64;
        let rate = (cqi.block(self.blocks) * rank) as f64;
        let wish = Candidate {
            terminal: index,
            rate,
            wanted: all,
            is_urgent: false,
        };
        self.candidates.push(wish);
        if urgent > 0 {
            self.candidates.push(Candidate {
                wanted: urgent,
                is_urgent: true,
                ..wish
            });
        }
    }

    /// Assigns the free blocks; each candidate gets as many as it can fill.
    fn share(&mut self, at: Instant, mut free: u16) {
        self.scheduler.sort(at, &mut self.candidates);
        for candidate in &self.candidates {
            let terminal = &mut self.terminals[candidate.terminal];
            let Some(cqi) = terminal.quality.cqi(at) else {
                continue;
            };
            let each = candidate.wanted.div_ceil(terminal.quality.rank as u64);
            let had = self.dealt[candidate.terminal];
            let needed = cqi.blocks_for(each, self.blocks);
            let blocks = match self.way {
                CarrierDirection::Down => needed.next_multiple_of(self.group).min(had + free),
                CarrierDirection::Up => width(needed, had + free),
            };
            let more = blocks.saturating_sub(had);
            self.dealt[candidate.terminal] = had + more;
            free -= more;
            if free == 0 {
                return;
            }
        }
    }

    fn transmit(&mut self, index: usize, at: Instant) {
        let port = own_port(self.way, index);
        let blocks = self.dealt[index];
        let terminal = &mut self.terminals[index];
        let (port, counters) = (&mut self.ports[port], &mut self.counters[port]);
        if let Some(bytes) = terminal.transmit(at, blocks, port, counters) {
            self.scheduler.serve(index, bytes);
            self.meter.give(index, blocks);
        }
    }

    pub fn poll(&mut self, now: Instant) -> Option<(usize, Departure<P>)> {
        let now = self.advance(now);
        let mut ports = self.ports.iter_mut().enumerate();
        ports.find_map(|(index, port)| Some((index, port.poll(now)?)))
    }

    pub fn poll_timeout(&self) -> Option<Deadline> {
        let next = self.next.map(|at| Deadline { at, reason: "TTI" });
        let ended = self.ports.iter().map(Port::poll_timeout);
        ended.fold(next, Deadline::earlier)
    }

    /// Switches a station off and drops all its packets.
    pub fn cut(&mut self, now: Instant, port: usize) {
        let now = self.advance(now);
        self.close(now);
        let own = match self.way {
            CarrierDirection::Up => port..port + 1,
            CarrierDirection::Down => 0..self.terminals.len(),
        };
        let mut held = Vec::new();
        for index in own {
            held.extend(self.terminals[index].clear());
            self.meter.take_back(index);
        }
        self.ports[port].cut(now, held.into_iter());
    }

    pub fn restore(&mut self, now: Instant, port: usize) {
        let now = self.advance(now);
        self.close(now);
        self.ports[port].restore();
    }

    fn close(&mut self, now: Instant) {
        let ports = &self.ports;
        self.meter.close(now, |index| ports[index].is_up());
    }

    pub fn service_time(&mut self, now: Instant, port: usize) -> ServiceTime {
        let now = self.advance(now);
        self.close(now);
        self.meter.station(port)
    }

    pub fn carrier_time(&mut self, now: Instant) -> ServiceTime {
        let now = self.advance(now);
        self.close(now);
        self.meter.carrier()
    }

    /// Returns the carrier time used by the blocks for or from a terminal.
    pub fn terminal_time(&mut self, now: Instant, terminal: usize) -> Duration {
        let now = self.advance(now);
        self.close(now);
        self.meter.terminal(terminal)
    }

    pub fn counters(&self, port: usize) -> RadioCounters {
        self.counters[port]
    }

    pub fn port(&self, port: usize) -> &Port<P> {
        &self.ports[port]
    }

    pub fn port_mut(&mut self, now: Instant, port: usize) -> &mut Port<P> {
        self.advance(now);
        &mut self.ports[port]
    }

    /// Returns the packets of a station on the carrier.
    pub fn in_flight(&self, port: usize) -> Tally {
        let own = match self.way {
            CarrierDirection::Up => &self.terminals[port..=port],
            CarrierDirection::Down => &self.terminals[..],
        };
        let held = own.iter().map(Terminal::held);
        held.fold(self.ports[port].in_flight(), |all, one| all + one)
    }
}

fn own_port(way: CarrierDirection, terminal: usize) -> usize {
    match way {
        CarrierDirection::Up => terminal,
        CarrierDirection::Down => 0,
    }
}

fn terminal<P>(spec: &LteSpec, way: CarrierDirection, index: usize, rng: &Rng) -> Terminal<P> {
    let own = &spec.terminals[index];
    let (signal, queue, aqm) = match way {
        CarrierDirection::Up => (own.up, own.queue, own.aqm),
        CarrierDirection::Down => (own.down, spec.queue, spec.aqm),
    };
    let bearer = |bearer: usize| Bearer::new(queue, aqm, &rng.stream(&format!("bearer {bearer}")));
    let offset = rng.stream("requests").next_u64();
    let offset = Grants::offset(spec.request_period, offset);
    Terminal {
        bearers: std::array::from_fn(bearer),
        quality: Quality::new(&signal, spec, rng),
        processes: std::array::from_fn(|_| Process::default()),
        grants: (way == CarrierDirection::Up).then(|| Grants::new(spec.request_period, offset)),
        presence: Presence {
            handovers: own.handovers.iter().map(|at| Instant::ZERO + *at).collect(),
            cycle: spec.drx.filter(|_| way == CarrierDirection::Down),
            active: Instant::ZERO,
        },
    }
}

/// Returns the number of free blocks that an uplink needing `needed` gets: the transform
/// accepts widths that are products of 2, 3 and 5 (3GPP TS 36.211, 5.3.3).
fn width(needed: u16, free: u16) -> u16 {
    let is_smooth = |width: &u16| {
        let rest = |n: u16, by: u16| {
            let mut n = n;
            while n.is_multiple_of(by) {
                n /= by;
            }
            n
        };
        *width > 0 && rest(rest(rest(*width, 2), 3), 5) == 1
    };
    let enough = (needed..=free).find(is_smooth);
    enough.unwrap_or_else(|| (1..=free).rev().find(is_smooth).unwrap_or_default())
}
