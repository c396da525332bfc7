//! Sans-IO multipath media session: streams, paths, schedulers, repair,
//! receive buffers.
//!
//! A [`Session`] turns frames into packets on paths, and packets from paths into frames.
//! It decides everything and does no I/O: every call passes the time, the constructor
//! gets the randomness, and [`Session::poll_output`] returns the packets to send.

#![forbid(unsafe_code)]

mod ablation;
mod arrival;
mod config;
mod event;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod path;
mod preference;
pub mod protection;
pub mod receive;
pub mod schedule;
mod send;
mod session;
mod small_map;
mod stats;

pub use ablation::{Ablation, Ablations};
pub use config::{
    Backlog, Config, Feedback, FeedbackFormat, Level, ReceiveStreamConfig, Reporting,
    Retransmission, SendStreamConfig,
};
pub use event::{Event, Frame, Input, Output, Protocol, Repeat, Retention, Transmit};
pub use path::{EcnState, PathQualityStats, PathState};
pub use preference::Preference;
pub use protection::ProtectionKind;
pub use receive::{
    Delivery, ProtectionCounters, ReceivedFrame, ReceiverProfile, ReceiverStats, Reordering,
};
pub use schedule::{
    Metering, PathMode, PathUse, Policy, PolicyError, SchedulerKind, Standing, Weight,
};
pub use send::RepeatStore;
pub use session::{Error, Session};
pub use stats::{Drops, PathStats, SenderStats, Stats};
pub use weft_cc::ControllerKind;
