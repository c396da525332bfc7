//! What a run leaves behind: plain data.

use weft_links::{
    Counters, DropReason, RadioCounters, ServiceTime, StationId, Tally, WiredDirection,
};
use weft_units::{Bytes, Duration, Instant};

use crate::distribution::{DelaySample, Distribution};
use crate::traffic::FlowDetail;

/// Everything that was measured in a run: of the network ([`LinkRecord`]), of
/// each flow's packets on it ([`RouteRecord`]), and of what is above
/// ([`FlowDetail`]). An engine leaves out what it does not see.
#[derive(Clone, PartialEq, Debug)]
pub struct Record {
    /// When it ended: the setup's duration, or earlier if it was stopped.
    pub ended_at: Instant,
    /// The period of the time series; the last sample may cover less.
    pub sample_every: Duration,
    /// One for each link of the setup, in its order.
    pub links: Vec<LinkRecord>,
    /// One for each flow of the setup, in its order.
    pub flows: Vec<FlowRecord>,
    /// Events that were processed: the work behind the run.
    pub events: u64,
}

/// What became of a link, station by station.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRecord {
    /// Its name in the setup.
    pub name: String,
    /// What each station sent, in the medium's order.
    pub stations: Vec<StationRecord>,
    /// What each channel of a cell was used for, from
    /// [`measure_from`](crate::Setup::measure_from) on: by one exchange of frames
    /// (`used`), by several at the same time (`blocked`), or not at all. None
    /// where there is no cell, or the engine does not know.
    pub channels: Vec<ServiceTime>,
}

/// What one station of a link sent.
#[derive(Clone, PartialEq, Debug)]
pub struct StationRecord {
    /// What it took and gave back, drops by reason:
    /// `sent = delivered + dropped + in_flight`.
    pub counters: Counters,
    /// What it holds at the end of the run.
    pub in_flight: Tally,
    /// How long its medium was used by it, idle, or not to be had, from
    /// [`measure_from`](crate::Setup::measure_from) on; `None` where the engine
    /// does not know.
    pub service: Option<ServiceTime>,
    /// What its medium carried to it from then on, where that is counted.
    pub carried_to: Option<Duration>,
    /// What it did with its turns from then on, if it is one of a cell and the
    /// engine knows.
    pub radio: Option<RadioCounters>,
    /// How long its delivered packets waited in the queue, from
    /// [`measure_from`](crate::Setup::measure_from) on.
    pub queue_delay: Distribution,
    /// One for each period.
    pub series: Vec<LinkSample>,
}

/// What a station of a link sent in one period. Packets count in the period in which
/// they ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkSample {
    /// The end of the period.
    pub at: Instant,
    /// Bytes delivered at the other end.
    pub delivered: Bytes,
    /// Packets dropped, for whatever reason.
    pub drops: u32,
    /// Waiting time in the queue of the packets delivered.
    pub queue_delay: DelaySample,
}

/// What a flow sent and received, and what its kind adds.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowRecord {
    /// Its name in the setup.
    pub name: String,
    /// One for each of its routes, in their order.
    pub routes: Vec<RouteRecord>,
    /// What is known beside that.
    pub detail: FlowDetail,
}

/// The packets of a flow on one of its routes.
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
    /// Sizes on the link of what was sent.
    pub sent: Tally,
    /// What reached the other end.
    pub delivered: Tally,
    /// What ended on the way, by link and reason; rows of zero are left out.
    pub dropped: Vec<DropRecord>,
    /// What is within the access delay at the end of the run.
    pub in_access: Tally,
    /// How long delivered packets waited in the queues of all links together,
    /// from [`measure_from`](crate::Setup::measure_from) on.
    pub queue_delay: Distribution,
    /// From sending to delivery, of the same packets.
    pub one_way_delay: Distribution,
    /// One for each period of the run, from its beginning.
    pub series: Vec<LegSample>,
}

/// Packets of one flow that one link dropped for one reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DropRecord {
    /// Position of the link in the setup.
    pub link: usize,
    /// The station that sent them there.
    pub from: StationId,
    /// What the link had against them.
    pub reason: DropReason,
    /// How many of the flow it dropped for that.
    pub packets: u64,
}

/// One direction of a route in one period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LegSample {
    /// The end of the period.
    pub at: Instant,
    /// Sizes on the link of what was sent in the period.
    pub sent: Bytes,
    /// Packets sent in the period, copies and repair included.
    pub sent_packets: u32,
    /// Bytes that reached the other end.
    pub delivered: Bytes,
    /// Packets dropped on the way.
    pub drops: u32,
    /// Waiting time in queues of what was delivered.
    pub queue_delay: DelaySample,
    /// From sending to delivery.
    pub one_way_delay: DelaySample,
}

impl LinkRecord {
    /// What the first station sent: on a wired link all from left to right.
    #[must_use]
    pub fn forward(&self) -> &StationRecord {
        self.sent_by(WiredDirection::Forward.station())
    }

    /// What the second station sent: on a wired link all from right to left.
    #[must_use]
    pub fn backward(&self) -> &StationRecord {
        self.sent_by(WiredDirection::Backward.station())
    }

    /// What this station sent.
    ///
    /// # Panics
    /// When the link has no such station.
    #[must_use]
    pub fn sent_by(&self, station: StationId) -> &StationRecord {
        &self.stations[usize::from(station.0)]
    }

    /// The stations and what each of them sent.
    pub fn by_station(&self) -> impl Iterator<Item = (StationId, &StationRecord)> {
        (0..).map(StationId).zip(&self.stations)
    }
}

impl LegRecord {
    /// Packets that ended on the way.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.dropped.iter().map(|d| d.packets).sum()
    }

    /// Packets that are still on their way at the end of the run, on links or
    /// within the access delay.
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        self.sent.packets - self.delivered.packets - self.drops()
    }
}
