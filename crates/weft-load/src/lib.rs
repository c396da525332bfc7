//! Load generator: drives a server with publishers and viewers, which are whole WebRTC
//! clients, and measures what they get and what that costs.
//!
//! [`run`] takes a [`LoadConfig`] and returns a [`LoadReport`]. A few network threads run all
//! clients: publishers send one clip that was encoded once, and viewers put pictures together
//! without decoding them. Each picture carries a stamp with its number and time, so frames
//! and latency are counted from end to end. Everybody is in this process, so both ends have
//! one clock.

#![forbid(unsafe_code)]

mod clip;
mod config;
mod machine;
mod member;
mod node;
mod page;
mod received;
mod replay;
mod report;
mod run;
mod stamp;
mod summary;
mod weak;

pub use clip::ClipError;
pub use config::{Arrival, Clients, ConfigError, LoadConfig, People, Sound, Target, Video, Weak};
pub use machine::UsageError;
pub use page::page;
pub use report::{
    Failures, Generator, Group, LoadReport, PacketLoss, Participants, Publishers, Quantiles,
    RunDescription, ServerUsage, SetUp, ThreadUsage, Viewer,
};
pub use run::{LoadError, Progress, run};
pub use summary::summary;

/// Most cameras that a weft server sends over a reception (docs/protocol/http.md).
const MAX_CAMERAS: usize = 25;
