//! Congestion controllers and the pacer, one instance per path.
//!
//! A [`Controller`] sees the packets of one path only: when each left and when it
//! arrived. It returns a target rate for the application, a pacing rate for the [`Pacer`]
//! and, occasionally, a [`ProbeCluster`]: a few packets to send faster than the target,
//! which show whether the path carries more.

#![forbid(unsafe_code)]

mod controller;
mod custom;
mod fixed;
mod gcc;
mod gcc_draft;
mod kind;
mod measure;
mod nada;
mod pacer;
mod reports;
mod scream;
mod scream_v1;

pub use controller::{
    Controller, Internal, Limits, PacketResult, ProbeCluster, ProbeId, SentPacket, Snapshot,
};
pub use custom::{CustomController, MakeController};
pub use fixed::Fixed;
pub use gcc::{Behaviour, Gcc};
pub use gcc_draft::GccDraft;
pub use kind::{ControllerKind, ControllerKindError, build, build_without_feedback};
pub use nada::Nada;
pub use pacer::Pacer;
pub use reports::Reports;
pub use scream::Scream;
pub use scream_v1::ScreamV1;
