//! Pure models of the media that carry packets: capacity over time, queues under a
//! discipline, propagation, jitter, losses, and a switch. `docs/models/links.md`
//! describes them with their sources.
//!
//! A [`Medium`] takes packets from its stations with [`Medium::enqueue`] and returns each
//! one exactly once, delivered or dropped with a reason, from [`Medium::poll`]. It reads
//! no clock: service is computed in virtual time, so a late caller delays only the
//! packets that it polls late, not those behind them. A [`Link`] is one direction of a
//! wired medium.

#![forbid(unsafe_code)]

mod capacity;
mod counters;
mod delay;
mod discipline;
mod generated;
mod line;
mod loss;
mod medium;
mod packet;
mod queue;
mod schedule;
mod spec;
mod trace;
mod transmitter;

pub use capacity::Capacity;
pub use counters::{Counters, DropReason, Tally};
pub use delay::VaryingDelay;
pub use discipline::{Aqm, EcnMarking};
pub use generated::{
    DirectionCorrelation, Generated, GeneratedError, GeneratedRates, Motion, Network, Scale, Seeds,
};
pub use loss::GilbertElliott;
// Each kind of medium is exported only by the folder of all kinds.
pub use medium::*;
pub use packet::{Departure, Ecn, FlowId, PacketInfo, TrafficClass};
pub use queue::QueueLimit;
pub use schedule::{Schedule, ScheduleError};
pub use spec::{LineStep, LinkSpec, SpecError};
pub use trace::{Trace, TraceError, TraceProblem, TraceStatistics};
