//! Pure models of one direction of a wired or traced link: capacity over
//! time, a queue under a discipline, propagation, jitter, losses, and a
//! switch. `docs/models/links.md` describes them with their sources.
//!
//! A [`Link`] takes packets with [`Link::enqueue`] and gives each one back
//! exactly once, delivered or dropped with a reason, from [`Link::poll`]. It
//! reads no clock: service is computed in virtual time, so a late caller
//! delays what it polls late, and never the packets behind it.

mod capacity;
mod counters;
mod discipline;
mod generated;
mod line;
mod loss;
mod medium;
mod packet;
mod queue;
mod spec;
mod trace;
mod transmitter;

pub use capacity::{Capacity, Schedule, ScheduleError};
pub use counters::{Counters, DropReason, Tally};
pub use discipline::{Aqm, EcnMarking};
pub use generated::{Generated, GeneratedError, GeneratedRates, Motion, Network};
pub use loss::GilbertElliott;
pub use medium::{Departure, Link};
pub use packet::{Ecn, FlowId, PacketInfo};
pub use queue::QueueLimit;
pub use spec::{LineStep, LinkSpec, SpecError};
pub use trace::{Trace, TraceError, TraceProblem, TraceStatistics};
