//! Record of a run: plain data.

use weft_links::{
    Counters, DropReason, RadioCounters, ServiceTime, StationId, Tally, WiredDirection,
};
use weft_units::{Bytes, Duration, Instant};

use crate::distribution::{DelaySample, Distribution};
use crate::traffic::FlowDetail;

/// Measurements of a run: of the network ([`LinkRecord`]), of each flow's packets on it
/// ([`RouteRecord`]), and of the layers above ([`FlowDetail`]). An engine omits what it
/// cannot observe.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// End of the run: the setup's duration, or earlier if it was stopped.
    pub ended_at: Instant,
    /// Period of the time series; the last sample may cover less.
    pub sample_every: Duration,
    /// One for each link of the setup, in its order.
    pub links: Vec<LinkRecord>,
    /// One for each flow of the setup, in its order.
    pub flows: Vec<FlowRecord>,
    /// Number of processed events, which measures the work of the run.
    pub events: u64,
}

/// Measurements of a link, station by station.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRecord {
    /// Name in the setup.
    pub name: String,
    /// Traffic of each station, in the medium's order.
    pub stations: Vec<StationRecord>,
    /// Time for which each channel of a cell was used by one exchange of frames (`used`),
    /// used by several at once (`blocked`), or idle, from
    /// [`measure_from`](crate::Setup::measure_from) on. Empty without a cell, or if the
    /// engine does not measure it.
    pub channels: Vec<ServiceTime>,
}

/// Traffic that one station sent on a link.
#[derive(Clone, PartialEq, Debug)]
pub struct StationRecord {
    /// Packets sent and delivered, and drops by reason:
    /// `sent = delivered + dropped + in_flight`.
    pub counters: Counters,
    /// Packets in flight at the end of the run.
    pub in_flight: Tally,
    /// Time for which the station used its medium, left it idle, or found it busy, from
    /// [`measure_from`](crate::Setup::measure_from) on; `None` if the engine does not
    /// measure it.
    pub service: Option<ServiceTime>,
    /// Time for which the medium carried packets to the station from that time on, if
    /// counted.
    pub carried_to: Option<Duration>,
    /// Outcomes of the station's transmission turns from that time on, if it is part of a
    /// cell and the engine measures them.
    pub radio: Option<RadioCounters>,
    /// Queueing delay of delivered packets, from
    /// [`measure_from`](crate::Setup::measure_from) on.
    pub queue_delay: Distribution,
    /// One for each period.
    pub series: Vec<LinkSample>,
}

/// Traffic that a station sent in one period. A packet counts in the period in which it
/// was delivered or dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkSample {
    /// End of the period.
    pub at: Instant,
    /// Bytes delivered at the other end.
    pub delivered: Bytes,
    /// Packets dropped, for any reason.
    pub drops: u32,
    /// Queueing delay of the packets delivered.
    pub queue_delay: DelaySample,
}

/// Measurements of a flow: its packets, and the details of its kind.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowRecord {
    /// Name in the setup.
    pub name: String,
    /// One for each of its routes, in their order.
    pub routes: Vec<RouteRecord>,
    /// Measurements that depend on the kind of flow.
    pub detail: FlowDetail,
}

/// Packets of a flow on one of its routes.
#[derive(Clone, PartialEq, Debug)]
pub struct RouteRecord {
    /// From the source to the sink.
    pub there: LegRecord,
    /// From the sink to the source.
    pub back: LegRecord,
}

/// One direction of a route.
#[derive(Clone, PartialEq, Debug)]
pub struct LegRecord {
    /// Packets sent, with their sizes on the link.
    pub sent: Tally,
    /// Packets that reached the other end.
    pub delivered: Tally,
    /// Packets dropped, by link and reason; rows of zero are omitted.
    pub dropped: Vec<DropRecord>,
    /// Packets within the access delay at the end of the run.
    pub in_access: Tally,
    /// Total delay of delivered packets in the queues of all links, from
    /// [`measure_from`](crate::Setup::measure_from) on.
    pub queue_delay: Distribution,
    /// Delay of the same packets from sending to delivery.
    pub one_way_delay: Distribution,
    /// One for each period of the run, from its beginning.
    pub series: Vec<LegSample>,
}

/// Packets of one flow that one link dropped for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DropRecord {
    /// Position of the link in the setup.
    pub link: usize,
    /// Station that sent them.
    pub from: StationId,
    /// Reason given by the link.
    pub reason: DropReason,
    /// Number of the flow's packets dropped for that reason.
    pub packets: u64,
}

/// One direction of a route in one period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LegSample {
    /// End of the period.
    pub at: Instant,
    /// Bytes sent in the period, as sizes on the link.
    pub sent: Bytes,
    /// Packets sent in the period, copies and repair included.
    pub sent_packets: u32,
    /// Bytes that reached the other end.
    pub delivered: Bytes,
    /// Packets dropped on the route.
    pub drops: u32,
    /// Queueing delay of delivered packets.
    pub queue_delay: DelaySample,
    /// Delay from sending to delivery.
    pub one_way_delay: DelaySample,
}

impl LinkRecord {
    /// Returns the traffic of the first station: on a wired link, left to right.
    #[must_use]
    pub fn forward(&self) -> &StationRecord {
        self.sent_by(WiredDirection::Forward.station())
    }

    /// Returns the traffic of the second station: on a wired link, right to left.
    #[must_use]
    pub fn backward(&self) -> &StationRecord {
        self.sent_by(WiredDirection::Backward.station())
    }

    /// Returns the traffic sent by this station.
    ///
    /// # Panics
    /// If the link has no such station.
    #[must_use]
    pub fn sent_by(&self, station: StationId) -> &StationRecord {
        &self.stations[usize::from(station.0)]
    }

    /// Iterates over the stations and their traffic.
    pub fn by_station(&self) -> impl Iterator<Item = (StationId, &StationRecord)> {
        (0..).map(StationId).zip(&self.stations)
    }
}

impl LegRecord {
    /// Returns the number of packets dropped on the route.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.dropped.iter().map(|d| d.packets).sum()
    }

    /// Returns the number of packets that are still in flight at the end of the run, on
    /// links or within the access delay.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.sent.packets - self.delivered.packets - self.drops()
    }
}
