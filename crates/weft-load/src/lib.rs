//! Load generator: drives a server with publishers and viewers, which are complete WebRTC
//! clients, and measures what they receive and its cost.
//!
//! [`run`] takes a [`LoadConfig`] and returns a [`LoadReport`]. A few network threads run all
//! clients. Publishers send one clip that was encoded once, and viewers reassemble pictures
//! without decoding them. Each picture carries a stamp with its number and time, so frames
//! and latency are measured from end to end. All clients are in this process, so both ends
//! have the same clock.

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

/// Maximum number of cameras that a weft server sends over a reception
/// (docs/protocol/http.md).
const MAX_CAMERAS: usize = 25;
