//! What a run leaves behind: plain data.

use weft_links::{Counters, DropReason, ServiceTime, Tally};
use weft_units::{Bytes, Duration, Instant};

use crate::counters::CounterLog;
use crate::distribution::{DelaySample, Distribution};
use crate::setup::Direction;
use crate::traffic::{CallRecord, TcpRecord};

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

/// A link's two directions.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkRecord {
    /// Its name in the setup.
    pub name: String,
    /// From left to right.
    pub forward: DirectionRecord,
    /// From right to left.
    pub backward: DirectionRecord,
}

/// One direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct DirectionRecord {
    /// What it took and gave back, drops by reason:
    /// `sent = delivered + dropped + in_flight`.
    pub counters: Counters,
    /// What it holds at the end of the run.
    pub in_flight: Tally,
    /// How long its medium was used by it, idle, or not to be had, over the
    /// whole run; `None` where the engine does not know.
    pub service: Option<ServiceTime>,
    /// How long its delivered packets waited in the queue, from
    /// [`measure_from`](crate::Setup::measure_from) on.
    pub queue_delay: Distribution,
    /// One for each period.
    pub series: Vec<LinkSample>,
}

/// A link's direction in one period. Packets count in the period in which
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
    /// The direction that they went.
    pub direction: Direction,
    /// What the link had against them.
    pub reason: DropReason,
    /// How many.
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

/// What is known of a flow beside its packets.
#[derive(Clone, PartialEq, Debug)]
pub enum FlowDetail {
    /// Transport: TCP connections, seen from inside.
    Tcp(TcpRecord),
    /// Application: a call, frame by frame.
    Call(Box<CallRecord>),
    /// Application: what the programs at its ends counted of themselves, an
    /// entry for each that did.
    Counted(Vec<CounterLog>),
    /// Nothing: its packets are all there is, or all that the engine sees.
    Packets,
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
