//! Converts a run's packets to the record format of the simulator, so that all metrics,
//! checks and plots apply.

use weft_emu::{Fate, LinkReport, PacketRecord, StationReport};
use weft_experiment::{
    DelaySample, Distribution, DropRecord, FlowDetail, FlowRecord, LegRecord, LegSample,
    LinkRecord, LinkSample, Record, RouteRecord, Setup, StationRecord,
};
use weft_links::{Counters, StationId, Tally};
use weft_units::{Bytes, Duration, Instant};

use super::testbed::job::End;

/// A packet of a run, with its flow.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Position of its link in the setup.
    pub link: usize,
    /// Station that sent it there.
    pub from: StationId,
    /// Position of its flow, and the end that sent it.
    pub flow: Option<(usize, End)>,
    /// Size with its IP header.
    pub size: Bytes,
    /// Time when it entered the link.
    pub entered: Instant,
    /// Time when it arrived or was dropped.
    pub ended: Instant,
    /// Time in the queue.
    pub queued_for: Duration,
    /// Outcome.
    pub fate: Fate,
}

/// Collects packets into a [`Record`].
pub struct Recorder<'a> {
    setup: &'a Setup,
    /// Keyed by link and station.
    stations: Vec<Vec<TrafficRecorder>>,
    /// Keyed by flow and route, forward then backward.
    legs: Vec<Vec<[TrafficRecorder; 2]>>,
    packets: u64,
}

/// Traffic of one station of a link, or of one direction of a route.
#[derive(Clone, Default)]
struct TrafficRecorder {
    counters: Counters,
    drops: Vec<DropRecord>,
    queue: Vec<Duration>,
    one_way: Vec<Duration>,
    periods: Vec<Period>,
}

#[derive(Clone, Default)]
struct Period {
    sent: Tally,
    delivered: Bytes,
    drops: u32,
    queue: Vec<u64>,
    one_way: Vec<u64>,
}

impl<'a> Recorder<'a> {
    /// Creates a recorder for a run of this setup.
    #[must_use]
    pub fn new(setup: &'a Setup) -> Recorder<'a> {
        let periods = setup
            .duration
            .as_nanos()
            .div_ceil(setup.sample_every.as_nanos().max(1));
        let way = TrafficRecorder {
            periods: vec![Period::default(); periods as usize],
            ..TrafficRecorder::default()
        };
        let both = [way.clone(), way.clone()];
        let (links, flows) = (setup.links.iter(), setup.flows.iter());
        Recorder {
            setup,
            stations: links
                .map(|link| vec![way.clone(); usize::from(link.medium.station_count())])
                .collect(),
            legs: flows
                .map(|flow| vec![both.clone(); flow.routes.len()])
                .collect(),
            packets: 0,
        }
    }

    /// Counts a packet, unless it ended after the run.
    pub fn add(&mut self, packet: &Packet) {
        if packet.ended > Instant::ZERO + self.setup.duration {
            return;
        }
        self.packets += 1;
        let of = Of {
            every: self.setup.sample_every,
            from: Instant::ZERO + self.setup.measure_from,
        };
        self.stations[packet.link][usize::from(packet.from.0)].add(packet, of);
        let Some((flow, sender)) = packet.flow else {
            return;
        };
        let routes = &self.setup.flows[flow].routes;
        let over =
            |route: &weft_experiment::Route| route.hops.iter().any(|hop| hop.link == packet.link);
        if let Some(route) = routes.iter().position(over) {
            let leg = usize::from(sender == End::Sink);
            self.legs[flow][route][leg].add(packet, of);
        }
    }

    /// Returns the record; `reports` are those of the links, and `details` are the flows'
    /// details beyond their packets.
    #[must_use]
    pub fn finish(self, reports: &[LinkReport], details: Vec<FlowDetail>) -> Record {
        let setup = self.setup;
        let every = setup.sample_every;
        let links = setup.links.iter().zip(self.stations).zip(reports);
        let links = links.map(|((link, stations), report)| {
            let stations = stations.into_iter().zip(&report.stations);
            LinkRecord {
                name: link.name.clone(),
                stations: stations.map(|(way, own)| way.station(own, setup)).collect(),
                channels: report.channels.clone(),
            }
        });
        let links = links.collect();
        let flows = setup.flows.iter().zip(self.legs).zip(details);
        let flows = flows.map(|((flow, legs), detail)| {
            let route = |[there, back]: [TrafficRecorder; 2]| RouteRecord {
                there: there.leg(every, setup.duration),
                back: back.leg(every, setup.duration),
            };
            FlowRecord {
                name: flow.name.clone(),
                routes: legs.into_iter().map(route).collect(),
                detail,
            }
        });
        Record {
            ended_at: Instant::ZERO + setup.duration,
            sample_every: every,
            flows: flows.collect(),
            links,
            events: self.packets,
        }
    }
}

/// Parameters for counting packets.
#[derive(Clone, Copy)]
struct Of {
    every: Duration,
    /// Distributions exclude earlier packets.
    from: Instant,
}

impl TrafficRecorder {
    fn add(&mut self, packet: &Packet, of: Of) {
        let last = self.periods.len().saturating_sub(1);
        let index = |at: Instant| ((at.as_nanos() / of.every.as_nanos().max(1)) as usize).min(last);
        let one = Tally {
            packets: 1,
            bytes: packet.size,
        };
        self.counters.sent = self.counters.sent + one;
        if let Some(period) = self.periods.get_mut(index(packet.entered)) {
            period.sent = period.sent + one;
        }
        let Some(period) = self.periods.get_mut(index(packet.ended)) else {
            return;
        };
        match packet.fate {
            Fate::Delivered => {
                let took = packet.ended.saturating_since(packet.entered);
                self.counters.delivered = self.counters.delivered + one;
                period.delivered += packet.size;
                period.queue.push(packet.queued_for.as_nanos());
                period.one_way.push(took.as_nanos());
                if packet.ended >= of.from {
                    self.queue.push(packet.queued_for);
                    self.one_way.push(took);
                }
            }
            Fate::Dropped(reason) => {
                period.drops += 1;
                self.drop(packet, reason, one);
            }
        }
    }

    fn drop(&mut self, packet: &Packet, reason: weft_links::DropReason, one: Tally) {
        use weft_links::DropReason as Reason;
        let counter = match reason {
            Reason::QueueFull => &mut self.counters.queue_full,
            Reason::Aqm => &mut self.counters.aqm,
            Reason::RandomLoss => &mut self.counters.random_loss,
            Reason::BurstLoss => &mut self.counters.burst_loss,
            Reason::Retries => &mut self.counters.retries,
            Reason::LinkDown => &mut self.counters.link_down,
        };
        *counter = *counter + one;
        let same = |d: &&mut DropRecord| d.link == packet.link && d.reason == reason;
        match self.drops.iter_mut().find(same) {
            Some(known) => known.packets += 1,
            None => self.drops.push(DropRecord {
                link: packet.link,
                from: packet.from,
                reason,
                packets: 1,
            }),
        }
    }

    fn station(mut self, report: &StationReport, setup: &Setup) -> StationRecord {
        // Packets in flight were sent, but have no record.
        self.counters.sent = self.counters.sent + report.in_flight;
        let ends = ends(self.periods.len(), setup.sample_every, setup.duration);
        let series = ends.zip(&mut self.periods);
        let series = series.map(|(at, period)| LinkSample {
            at,
            delivered: period.delivered,
            drops: period.drops,
            queue_delay: DelaySample::of(&mut period.queue),
        });
        StationRecord {
            series: series.collect(),
            counters: self.counters,
            in_flight: report.in_flight,
            service: Some(report.service),
            carried_to: report.carried_to,
            radio: report.radio,
            queue_delay: self.queue.into_iter().collect(),
        }
    }

    fn leg(mut self, every: Duration, length: Duration) -> LegRecord {
        let series = ends(self.periods.len(), every, length).zip(&mut self.periods);
        let series = series.map(|(at, period)| LegSample {
            at,
            sent: period.sent.bytes,
            sent_packets: u32::try_from(period.sent.packets).unwrap_or(u32::MAX),
            delivered: period.delivered,
            drops: period.drops,
            queue_delay: DelaySample::of(&mut period.queue),
            one_way_delay: DelaySample::of(&mut period.one_way),
        });
        LegRecord {
            series: series.collect(),
            sent: self.counters.sent,
            delivered: self.counters.delivered,
            dropped: self.drops,
            in_access: Tally::default(),
            queue_delay: self.queue.into_iter().collect::<Distribution>(),
            one_way_delay: self.one_way.into_iter().collect(),
        }
    }
}

/// Iterates over the ends of the periods; the last one may be shorter.
fn ends(count: usize, every: Duration, length: Duration) -> impl Iterator<Item = Instant> {
    (1..=count as u64).map(move |n| Instant::ZERO + (every * n).min(length))
}

/// Converts a record of the emulator, which does not know flows.
#[must_use]
pub fn packet(record: &PacketRecord, link: usize, flow: Option<(usize, End)>) -> Packet {
    Packet {
        link,
        from: record.station,
        flow,
        size: record.size,
        entered: record.entered,
        ended: record.ended,
        queued_for: record.queued_for,
        fate: record.fate,
    }
}

#[cfg(test)]
mod tests;
