//! Nodes joined by media: a packet crosses the links of its leg, and is delivered or
//! dropped exactly once.

mod counts;

use std::collections::VecDeque;

use weft_experiment::{
    DropRecord, Hop, LegRecord, LegSample, LinkRecord, LinkSample, LinkSetup, Route, StationRecord,
};
use weft_links::{
    ChannelId, Departure, DropReason, Ecn, FlowId, Medium, MediumSpec, PacketInfo, RadioCounters,
    ServiceTime, StationId, Tally, TrafficClass, VaryingDelay,
};
use weft_units::{Bytes, Duration, Instant, Rng};

use crate::capture::Captured;
use crate::delays::{Delays, Measured};
use crate::event_queue::{EventQueue, Slot};
use crate::packet::{Body, LegId, Packet};
use counts::Counts;

/// All links, all packets in flight, and the event queue of the whole run.
pub(crate) struct Network {
    event_queue: EventQueue,
    owners: Vec<Owner>,
    links: Vec<LinkState>,
    legs: Vec<Leg>,
    /// Packets for the observer.
    pub captured: Captured,
}

/// Component that is called when a slot's time has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// Channel of a link's medium.
    Channel(usize, ChannelId),
    /// Access delay of a leg.
    Access(LegId),
    /// Timer of a flow; the number is the flow's own.
    Flow(usize, u32),
    /// Next sample.
    Sample,
}

/// End of a packet.
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
    /// The packet has crossed the first of several links of its leg, and its flow asked
    /// to be notified.
    Left,
}

/// Medium of a link, with the measurements of its stations.
struct LinkState {
    /// Specification that the medium was built from.
    spec: MediumSpec,
    rng: Rng,
    medium: Medium<Packet>,
    /// Slots of its channels in the event queue.
    slots: Vec<Slot>,
    /// Service time before the measured part.
    channels_before: Vec<ServiceTime>,
    stations: Vec<Station>,
}

#[derive(Default)]
struct Station {
    delays: Delays,
    delivered: Bytes,
    drops: u32,
    /// Service time before the measured part.
    service_before: ServiceTime,
    radio_before: RadioCounters,
    carried_before: Duration,
    series: Vec<LinkSample>,
}

struct Leg {
    flow: usize,
    class: TrafficClass,
    hops: Vec<Hop>,
    access: Access,
    delay: VaryingDelay,
    /// Packets within the access delay, in order.
    line: VecDeque<(Instant, Packet)>,
    slot: Slot,
    /// Whether the flow is notified when a packet has crossed the first link.
    tells_left: bool,
    counts: Counts,
    series: Vec<LegSample>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    None,
    BeforeLinks,
    AfterLinks,
}

impl Network {
    /// Creates a network of these links. The random streams of each are named after the
    /// link.
    pub fn new(links: &[LinkSetup], rng: &Rng) -> Network {
        let mut network = Network {
            event_queue: EventQueue::new(),
            owners: Vec::new(),
            links: Vec::new(),
            legs: Vec::new(),
            captured: Captured::default(),
        };
        for setup in links {
            let (spec, rng) = (setup.medium.clone(), rng.stream(&setup.name));
            let medium = Medium::new(&spec, &rng);
            let link = network.links.len();
            let channels = medium.channels();
            let slot = |channel| network.add_slot(Owner::Channel(link, channel));
            let slots = channels.map(slot).collect();
            let stations = spec.stations().map(|_| Station::default()).collect();
            network.links.push(LinkState {
                spec,
                rng,
                medium,
                slots,
                channels_before: Vec::new(),
                stations,
            });
        }
        network
    }

    /// Adds a slot of the event queue for `owner`.
    pub fn add_slot(&mut self, owner: Owner) -> Slot {
        self.owners.push(owner);
        self.event_queue.add()
    }

    /// Adds the legs of a route: from the source to the sink, and back.
    pub fn add_route(
        &mut self,
        flow: usize,
        class: TrafficClass,
        route: &Route,
        rng: &Rng,
    ) -> (LegId, LegId) {
        let there = route.hops.clone();
        let back = there.iter().rev().map(|hop| hop.reversed()).collect();
        let (delay, jitter) = (route.access_delay, route.access_jitter);
        let is_none = delay + jitter == Duration::ZERO;
        let access = |access| if is_none { Access::None } else { access };
        let varying = |way| VaryingDelay::new(delay, jitter, rng.stream(way));
        let (before, after) = (access(Access::BeforeLinks), access(Access::AfterLinks));
        (
            self.add_leg(flow, class, there, before, varying("access there")),
            self.add_leg(flow, class, back, after, varying("access back")),
        )
    }

    fn add_leg(
        &mut self,
        flow: usize,
        class: TrafficClass,
        hops: Vec<Hop>,
        access: Access,
        delay: VaryingDelay,
    ) -> LegId {
        let id = LegId(self.legs.len() as u32);
        let slot = self.add_slot(Owner::Access(id));
        self.legs.push(Leg {
            flow,
            class,
            hops,
            access,
            delay,
            line: VecDeque::new(),
            slot,
            tells_left: false,
            counts: Counts::default(),
            series: Vec::new(),
        });
        id
    }

    /// Notifies the leg's flow from now on when a packet has crossed the first of several
    /// links: [`Fate::Left`].
    pub fn tell_left(&mut self, leg: LegId) {
        self.legs[leg.0 as usize].tells_left = true;
    }

    /// Returns the round trip of a route with empty queues, without transmission times.
    pub fn empty_rtt(&self, route: &Route) -> Duration {
        let both = route.hops.iter().flat_map(|hop| [*hop, hop.reversed()]);
        both.fold(route.access_delay * 2, |rtt, hop| {
            rtt + self.links[hop.link].medium.delay(hop.from)
        })
    }

    /// Returns the specification and generator of a link's medium: a medium built from
    /// them has the same capacity at any time.
    pub fn made_of(&self, link: usize) -> (&MediumSpec, &Rng) {
        (&self.links[link].spec, &self.links[link].rng)
    }

    /// Returns the next slot with its owner and time.
    pub fn next(&self) -> Option<(Slot, Owner, Instant)> {
        let (slot, at) = self.event_queue.first()?;
        Some((slot, self.owners[slot.0 as usize], at))
    }

    /// Sets the deadline of a slot of a flow.
    pub fn set_timer(&mut self, slot: Slot, at: Option<Instant>) {
        self.event_queue.set(slot, at);
    }

    /// Moves the deadline of a slot to `at` unless it is already earlier.
    pub fn hasten_timer(&mut self, slot: Slot, at: Instant) {
        self.event_queue.hasten(slot, at);
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
            self.event_queue.set(entry.slot, due);
        } else {
            self.enqueue(now, packet);
        }
    }

    /// Returns the next packet that has ended on this channel of a link, or that moved on
    /// from it and ended elsewhere immediately. Call until `None`.
    pub fn poll_channel(
        &mut self,
        now: Instant,
        index: usize,
        channel: ChannelId,
    ) -> Option<Ended> {
        loop {
            let link = &mut self.links[index];
            let Some((station, departure)) = link.medium.poll(now, channel) else {
                link.set_deadline(channel, &mut self.event_queue);
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
                    let leg = &self.legs[packet.leg.0 as usize];
                    if packet.hop == 1 && leg.tells_left {
                        return Some(Ended {
                            packet,
                            flow: leg.flow,
                            fate: Fate::Left,
                        });
                    }
                }
                Departure::Dropped { packet, reason, .. } => {
                    station.drops += 1;
                    return Some(self.drop_packet(packet, reason));
                }
            }
        }
    }

    /// Returns the next packet that has passed the access delay of a leg.
    pub fn poll_access(&mut self, now: Instant, leg: LegId) -> Option<Ended> {
        loop {
            let entry = &mut self.legs[leg.0 as usize];
            let due = entry.line.front().map(|(at, _)| *at);
            if due.is_none_or(|at| at > now) {
                self.event_queue.set(entry.slot, due);
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
        let leg = &self.legs[packet.leg.0 as usize];
        let hop = leg.hops[usize::from(packet.hop)];
        let link = &mut self.links[hop.link];
        // A router sees two ends and a connection as a flow.
        let flow = u64::from(packet.leg.0) << 32 | u64::from(packet.connection);
        let info = PacketInfo::new(Bytes(u64::from(packet.size)))
            .with_flow(FlowId(flow))
            .with_class(leg.class)
            .with_ecn(packet.ecn);
        link.medium.enqueue(now, hop.from, hop.to, info, packet);
        link.set_deadline(link.medium.channel_of(hop.from), &mut self.event_queue);
    }

    /// Moves a packet that has crossed a link to its next hop.
    fn go_on(&mut self, now: Instant, packet: Packet) -> Option<Ended> {
        let leg = &mut self.legs[packet.leg.0 as usize];
        if usize::from(packet.hop) < leg.hops.len() {
            self.enqueue(now, packet);
            return None;
        }
        if leg.access == Access::AfterLinks {
            leg.delay(now, packet);
            let due = leg.line.front().map(|(at, _)| *at);
            self.event_queue.set(leg.slot, due);
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
        let Hop { link, from, .. } = leg.hops[usize::from(packet.hop)];
        leg.counts.drops += 1;
        let rows = &mut leg.counts.dropped;
        let same = |d: &&mut DropRecord| (d.link, d.from, d.reason) == (link, from, reason);
        match rows.iter_mut().find(same) {
            Some(row) => row.packets += 1,
            None => rows.push(DropRecord {
                link,
                from,
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

    /// Ends a sampling period.
    pub fn sample(&mut self, at: Instant, measured: Measured) {
        for link in &mut self.links {
            link.sample(at, measured);
        }
        for leg in &mut self.legs {
            let sample = leg.counts.take_period(at, measured);
            leg.series.push(sample);
        }
    }

    /// Returns the links' measurements until now. Call after the last sample.
    pub fn link_records(&mut self, now: Instant, links: &[LinkSetup]) -> Vec<LinkRecord> {
        let record = |(setup, link): (&LinkSetup, &mut LinkState)| LinkRecord {
            name: setup.name.clone(),
            stations: link.take_records(now),
            channels: link.channel_times(now),
        };
        links.iter().zip(&mut self.links).map(record).collect()
    }

    /// Returns the measurements of a leg's packets. Call after the last sample.
    pub fn leg_record(&mut self, id: LegId) -> LegRecord {
        let leg = &mut self.legs[id.0 as usize];
        let counts = &mut leg.counts;
        counts.dropped.sort_by_key(|d| (d.link, d.from, d.reason));
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

impl LinkState {
    #[inline(always)]
    fn set_deadline(&self, channel: ChannelId, event_queue: &mut EventQueue) {
        let next = self.medium.poll_timeout(channel).map(|d| d.at);
        event_queue.set(self.slots[usize::from(channel.0)], next);
    }

    fn sample(&mut self, at: Instant, measured: Measured) {
        for (id, station) in (0..).map(StationId).zip(&mut self.stations) {
            station.series.push(LinkSample {
                at,
                delivered: std::mem::take(&mut station.delivered),
                drops: std::mem::take(&mut station.drops),
                queue_delay: station.delays.take_period(measured),
            });
            if measured == Measured::No {
                station.service_before = self.medium.service_time(at, id);
                station.radio_before = self.medium.radio(id).unwrap_or_default();
                station.carried_before = self.medium.carried_to(at, id).unwrap_or_default();
            }
        }
        if measured == Measured::No {
            self.channels_before = self.channels_until(at).collect();
        }
    }

    fn channels_until(&mut self, now: Instant) -> impl Iterator<Item = ServiceTime> {
        let medium = &mut self.medium;
        let channels = medium.channels();
        channels.filter_map(move |channel| medium.channel_time(now, channel))
    }

    fn channel_times(&mut self, now: Instant) -> Vec<ServiceTime> {
        let before = std::mem::take(&mut self.channels_before);
        let before = before
            .into_iter()
            .chain(std::iter::repeat(ServiceTime::default()));
        let times = self.channels_until(now).zip(before);
        times.map(|(time, before)| time.since(&before)).collect()
    }

    fn take_records(&mut self, now: Instant) -> Vec<StationRecord> {
        let medium = &mut self.medium;
        let record = |(id, station): (StationId, &mut Station)| StationRecord {
            counters: *medium.counters(id),
            in_flight: medium.in_flight(id),
            service: Some(medium.service_time(now, id).since(&station.service_before)),
            carried_to: medium
                .carried_to(now, id)
                .map(|time| time - station.carried_before),
            radio: medium.radio(id).map(|r| r.since(&station.radio_before)),
            queue_delay: station.delays.take_distribution(),
            series: std::mem::take(&mut station.series),
        };
        let stations = (0..).map(StationId).zip(&mut self.stations);
        stations.map(record).collect()
    }
}

impl Leg {
    fn delay(&mut self, now: Instant, packet: Packet) {
        self.line.push_back((self.delay.arrival(now), packet));
    }
}

fn add(tally: &mut Tally, size: u16) {
    tally.packets += 1;
    tally.bytes += Bytes(u64::from(size));
}
