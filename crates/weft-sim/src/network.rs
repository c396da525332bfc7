//! Nodes joined by media: what is sent goes over the links of its leg and
//! ends once, delivered or dropped.

use std::collections::VecDeque;

use weft_experiment::{
    Direction, DirectionRecord, DropRecord, LegRecord, LegSample, LinkRecord, LinkSample,
    LinkSetup, Route,
};
use weft_links::{
    ChannelId, Departure, DropReason, Ecn, FlowId, Medium, MediumSpec, PacketInfo, StationId, Tally,
};
use weft_units::{Bytes, Duration, Instant, Rng};

use crate::agenda::{Agenda, Slot};
use crate::delays::{Delays, Measured};
use crate::packet::{Body, LegId, Packet};

/// All links and all packets on their way, and the agenda of the whole run.
pub(crate) struct Network {
    agenda: Agenda,
    owners: Vec<Owner>,
    links: Vec<Hosted>,
    legs: Vec<Leg>,
}

/// Who is called when a slot's time has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// A channel of a link's medium.
    Channel(usize, ChannelId),
    /// The access delay of a leg.
    Access(LegId),
    /// A timer of a flow; the number is the flow's own.
    Flow(usize, u32),
    /// The next sample.
    Sample,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub packet: Packet,
    pub flow: usize,
    pub fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Delivered,
    Dropped,
}

/// The medium of a link, and what is measured of its stations.
struct Hosted {
    medium: Medium<Packet>,
    /// Of its channels.
    slots: Vec<Slot>,
    stations: Vec<Station>,
}

#[derive(Default)]
struct Station {
    delays: Delays,
    delivered: Bytes,
    drops: u32,
    series: Vec<LinkSample>,
}

struct Leg {
    flow: usize,
    hops: Vec<Crossing>,
    access: Access,
    delay: Duration,
    /// What is within the access delay, in order.
    line: VecDeque<(Instant, Packet)>,
    slot: Slot,
    counts: Counts,
    series: Vec<LegSample>,
}

#[derive(Clone, Copy)]
struct Crossing {
    link: usize,
    direction: Direction,
    /// Who sends.
    station: StationId,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    None,
    BeforeLinks,
    AfterLinks,
}

#[derive(Default)]
struct Counts {
    sent: Tally,
    delivered: Tally,
    queue_delay: Delays,
    one_way_delay: Delays,
    drops: u32,
    dropped: Vec<DropRecord>,
    sent_before: Tally,
    delivered_before: Bytes,
}

impl Crossing {
    fn new(link: usize, direction: Direction) -> Crossing {
        let station = match direction {
            Direction::Forward => weft_links::Direction::Forward,
            Direction::Backward => weft_links::Direction::Backward,
        };
        let station = station.station();
        Crossing {
            link,
            direction,
            station,
        }
    }
}

impl Network {
    /// Over these media, each with its link's name.
    pub fn new<'a>(media: impl Iterator<Item = (&'a str, MediumSpec)>, rng: &Rng) -> Network {
        let mut network = Network {
            agenda: Agenda::new(),
            owners: Vec::new(),
            links: Vec::new(),
            legs: Vec::new(),
        };
        for (name, spec) in media {
            let medium = Medium::new(&spec, &rng.stream(name));
            let link = network.links.len();
            let channels = medium.channels();
            let slot = |channel| network.add_slot(Owner::Channel(link, channel));
            let slots = channels.map(slot).collect();
            network.links.push(Hosted {
                medium,
                slots,
                stations: spec.stations().map(|_| Station::default()).collect(),
            });
        }
        network
    }

    /// A slot of the agenda for `owner`.
    pub fn add_slot(&mut self, owner: Owner) -> Slot {
        self.owners.push(owner);
        self.agenda.add()
    }

    /// The legs of a route: from the source to the sink, and back.
    pub fn add_route(&mut self, flow: usize, route: &Route) -> (LegId, LegId) {
        let hops = route.hops.iter();
        let there = hops.clone().map(|h| Crossing::new(h.link, h.direction));
        let back = hops
            .rev()
            .map(|h| Crossing::new(h.link, h.direction.reversed()));
        let (there, back) = (there.collect(), back.collect());
        let delay = route.access_delay;
        let access = |access| {
            if delay == Duration::ZERO {
                Access::None
            } else {
                access
            }
        };
        (
            self.add_leg(flow, there, access(Access::BeforeLinks), delay),
            self.add_leg(flow, back, access(Access::AfterLinks), delay),
        )
    }

    fn add_leg(
        &mut self,
        flow: usize,
        hops: Vec<Crossing>,
        access: Access,
        delay: Duration,
    ) -> LegId {
        let id = LegId(self.legs.len() as u32);
        let slot = self.add_slot(Owner::Access(id));
        self.legs.push(Leg {
            flow,
            hops,
            access,
            delay,
            line: VecDeque::new(),
            slot,
            counts: Counts::default(),
            series: Vec::new(),
        });
        id
    }

    /// The round trip of a route whose queues are empty, without the time that
    /// packets take to be transmitted.
    pub fn empty_rtt(&self, route: &Route) -> Duration {
        let hops = route.hops.iter();
        let ways = hops.flat_map(|h| {
            let directions = [h.direction, h.direction.reversed()];
            directions.map(|direction| Crossing::new(h.link, direction))
        });
        ways.fold(route.access_delay * 2, |rtt, way| {
            rtt + self.links[way.link].medium.delay(way.station)
        })
    }

    /// Whose turn it is, and when.
    pub fn next(&self) -> Option<(Slot, Owner, Instant)> {
        let (slot, at) = self.agenda.first()?;
        Some((slot, self.owners[slot.0 as usize], at))
    }

    /// Sets the deadline of a slot of a flow.
    pub fn set_timer(&mut self, slot: Slot, at: Option<Instant>) {
        self.agenda.set(slot, at);
    }

    /// Sets the deadline of a slot to `at` unless it is earlier already.
    pub fn hasten_timer(&mut self, slot: Slot, at: Instant) {
        self.agenda.hasten(slot, at);
    }

    /// Sends a packet of `size` bytes on the link.
    pub fn send(
        &mut self,
        now: Instant,
        leg: LegId,
        connection: u32,
        size: u16,
        ecn: Ecn,
        body: Body,
    ) {
        let packet = Packet {
            leg,
            hop: 0,
            ecn,
            size,
            connection,
            sent_at: now,
            queued: Duration::ZERO,
            body,
        };
        let entry = &mut self.legs[leg.0 as usize];
        add(&mut entry.counts.sent, size);
        if entry.access == Access::BeforeLinks {
            entry.delay(now, packet);
            let due = entry.line.front().map(|(at, _)| *at);
            self.agenda.set(entry.slot, due);
        } else {
            self.enqueue(now, packet);
        }
    }

    /// The next packet that has ended on this channel of a link, or gone on
    /// from it and ended elsewhere at once. Call until `None`.
    pub fn poll_channel(
        &mut self,
        now: Instant,
        index: usize,
        channel: ChannelId,
    ) -> Option<Ended> {
        loop {
            let link = &mut self.links[index];
            let Some((station, departure)) = link.medium.poll(now, channel) else {
                link.set_deadline(channel, &mut self.agenda);
                return None;
            };
            let station = &mut link.stations[usize::from(station.0)];
            match departure {
                Departure::Delivered {
                    mut packet,
                    queued_for,
                    ecn,
                    ..
                } => {
                    packet.ecn = ecn;
                    station.delivered += Bytes(u64::from(packet.size));
                    station.delays.add(queued_for);
                    packet.hop += 1;
                    packet.queued += queued_for;
                    if let Some(ended) = self.go_on(now, packet) {
                        return Some(ended);
                    }
                }
                Departure::Dropped { packet, reason, .. } => {
                    station.drops += 1;
                    return Some(self.drop_packet(packet, reason));
                }
            }
        }
    }

    /// The next packet that has come out of the access delay of a leg.
    pub fn poll_access(&mut self, now: Instant, leg: LegId) -> Option<Ended> {
        loop {
            let entry = &mut self.legs[leg.0 as usize];
            let due = entry.line.front().map(|(at, _)| *at);
            if due.is_none_or(|at| at > now) {
                self.agenda.set(entry.slot, due);
                return None;
            }
            let (_, packet) = entry.line.pop_front()?;
            if entry.access == Access::AfterLinks {
                return Some(self.deliver(now, packet));
            }
            self.enqueue(now, packet);
        }
    }

    fn enqueue(&mut self, now: Instant, packet: Packet) {
        let crossing = self.legs[packet.leg.0 as usize].hops[usize::from(packet.hop)];
        let link = &mut self.links[crossing.link];
        // Two ends and a connection make a flow to a router.
        let flow = u64::from(packet.leg.0) << 32 | u64::from(packet.connection);
        let info = PacketInfo::new(Bytes(u64::from(packet.size)))
            .with_flow(FlowId(flow))
            .with_ecn(packet.ecn);
        link.medium.enqueue(now, crossing.station, info, packet);
        link.set_deadline(link.medium.channel_of(crossing.station), &mut self.agenda);
    }

    /// A packet has come over a link.
    fn go_on(&mut self, now: Instant, packet: Packet) -> Option<Ended> {
        let leg = &mut self.legs[packet.leg.0 as usize];
        if usize::from(packet.hop) < leg.hops.len() {
            self.enqueue(now, packet);
            return None;
        }
        if leg.access == Access::AfterLinks {
            leg.delay(now, packet);
            let due = leg.line.front().map(|(at, _)| *at);
            self.agenda.set(leg.slot, due);
            return None;
        }
        Some(self.deliver(now, packet))
    }

    fn deliver(&mut self, now: Instant, packet: Packet) -> Ended {
        let leg = &mut self.legs[packet.leg.0 as usize];
        add(&mut leg.counts.delivered, packet.size);
        leg.counts.queue_delay.add(packet.queued);
        leg.counts.one_way_delay.add(now - packet.sent_at);
        Ended {
            packet,
            flow: leg.flow,
            fate: Fate::Delivered,
        }
    }

    fn drop_packet(&mut self, packet: Packet, reason: DropReason) -> Ended {
        let leg = &mut self.legs[packet.leg.0 as usize];
        let Crossing {
            link, direction, ..
        } = leg.hops[usize::from(packet.hop)];
        leg.counts.drops += 1;
        let rows = &mut leg.counts.dropped;
        let same =
            |d: &&mut DropRecord| (d.link, d.direction, d.reason) == (link, direction, reason);
        match rows.iter_mut().find(same) {
            Some(row) => row.packets += 1,
            None => rows.push(DropRecord {
                link,
                direction,
                reason,
                packets: 1,
            }),
        }
        Ended {
            packet,
            flow: leg.flow,
            fate: Fate::Dropped,
        }
    }

    /// The end of a period.
    pub fn sample(&mut self, at: Instant, measured: Measured) {
        for station in self.links.iter_mut().flat_map(|link| &mut link.stations) {
            station.series.push(LinkSample {
                at,
                delivered: std::mem::take(&mut station.delivered),
                drops: std::mem::take(&mut station.drops),
                queue_delay: station.delays.take_period(measured),
            });
        }
        for leg in &mut self.legs {
            let sample = leg.counts.take_period(at, measured);
            leg.series.push(sample);
        }
    }

    /// What the links measured until now. Call after the last sample.
    pub fn link_records(&mut self, now: Instant, links: &[LinkSetup]) -> Vec<LinkRecord> {
        let record = |(setup, link): (&LinkSetup, &mut Hosted)| {
            let mut take = |direction| link.take_record(now, Crossing::new(0, direction).station);
            LinkRecord {
                name: setup.name.clone(),
                forward: take(Direction::Forward),
                backward: take(Direction::Backward),
            }
        };
        links.iter().zip(&mut self.links).map(record).collect()
    }

    /// What became of the packets of a leg. Call after the last sample.
    pub fn leg_record(&mut self, id: LegId) -> LegRecord {
        let leg = &mut self.legs[id.0 as usize];
        let counts = &mut leg.counts;
        counts
            .dropped
            .sort_by_key(|d| (d.link, d.direction, d.reason));
        let mut in_access = Tally::default();
        leg.line
            .iter()
            .for_each(|(_, p)| add(&mut in_access, p.size));
        LegRecord {
            sent: counts.sent,
            delivered: counts.delivered,
            dropped: std::mem::take(&mut counts.dropped),
            in_access,
            queue_delay: counts.queue_delay.take_distribution(),
            one_way_delay: counts.one_way_delay.take_distribution(),
            series: std::mem::take(&mut leg.series),
        }
    }
}

impl Hosted {
    fn set_deadline(&self, channel: ChannelId, agenda: &mut Agenda) {
        let next = self.medium.poll_timeout(channel).map(|d| d.at);
        agenda.set(self.slots[usize::from(channel.0)], next);
    }

    fn take_record(&mut self, now: Instant, id: StationId) -> DirectionRecord {
        let station = &mut self.stations[usize::from(id.0)];
        DirectionRecord {
            counters: *self.medium.counters(id),
            in_flight: self.medium.in_flight(id),
            service: Some(self.medium.service_time(now, id)),
            queue_delay: station.delays.take_distribution(),
            series: std::mem::take(&mut station.series),
        }
    }
}

impl Leg {
    fn delay(&mut self, now: Instant, packet: Packet) {
        self.line.push_back((now + self.delay, packet));
    }
}

impl Counts {
    fn take_period(&mut self, at: Instant, measured: Measured) -> LegSample {
        let sent_before = std::mem::replace(&mut self.sent_before, self.sent);
        let delivered = self.delivered.bytes;
        let delivered_before = std::mem::replace(&mut self.delivered_before, delivered);
        LegSample {
            at,
            sent: self.sent.bytes - sent_before.bytes,
            sent_packets: (self.sent.packets - sent_before.packets) as u32,
            delivered: delivered - delivered_before,
            drops: std::mem::take(&mut self.drops),
            queue_delay: self.queue_delay.take_period(measured),
            one_way_delay: self.one_way_delay.take_period(measured),
        }
    }
}

fn add(tally: &mut Tally, size: u16) {
    tally.packets += 1;
    tally.bytes += Bytes(u64::from(size));
}
