//! Rooms and presence: who is in which room ([`Registry`]), who they are to the
//! others ([`Participant`]), and what they publish ([`Publishing`]).
//!
//! The server keeps the registry; forwarding of media and the endpoint share
//! the words. Nothing here knows sockets, hashes or HTTP. Time is given in and
//! never goes backwards.

#![forbid(unsafe_code)]

mod event;
mod figures;
pub mod fuzz;
mod join;
mod name;
mod participant;
mod registry;
mod seen;

pub use event::{Change, RoomEvent};
pub use join::{HoldError, Join, JoinError, Joined, Proof, Standing, UnknownParticipant};
pub use name::{participant_name, room_name};
pub use participant::{
    Camera, LinkReport, LinkState, MAX_CAMERAS, MAX_LINKS, Participant, ParticipantKind,
    Publishing, TroubleKind, Upload,
};
pub use registry::{Registry, RegistryLimits};
