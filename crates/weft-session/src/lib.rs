//! Sans-IO multipath media session: streams, paths, schedulers, repair,
//! receive buffers.
//!
//! A [`Session`] turns frames into packets on paths and packets from paths
//! into frames. It decides everything and touches nothing: time comes in with
//! every call, randomness at construction, packets go out through
//! [`Session::poll_output`].

mod ablation;
mod config;
mod event;
mod few;
mod path;
pub mod protection;
pub mod receive;
pub mod schedule;
mod send;
mod session;
mod stats;

pub use ablation::{Ablation, UnknownAblation};
pub use config::{Config, Feedback, Level, Naming, ReceiveStreamConfig, SendStreamConfig};
pub use event::{Event, Frame, Input, Output, Protocol, Transmit};
pub use path::{EcnState, PathState};
pub use protection::ProtectionKind;
pub use receive::{Delivery, ProtectionCounters, ReceivedFrame, ReceiverStats};
pub use schedule::{Metering, PathMode, PathUse, Policy, SchedulerKind, Standing, Weight};
pub use session::{Drops, Error, Session};
pub use stats::{PathQualityStats, PathStats, SenderStats, Stats};
pub use weft_cc::ControllerKind;
