//! Rooms and presence: the participants of each room ([`Registry`]), their
//! public data ([`Participant`]), and their published tracks ([`Publishing`]).
//!
//! The server keeps the registry; media forwarding and the endpoint share its
//! types. This crate contains no sockets, hashes or HTTP. Time is an argument
//! and never decreases.

#![forbid(unsafe_code)]

mod chat;
mod elsewhere;
mod event;
mod figures;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod join;
mod limits;
mod lookup;
mod moderation;
mod name;
mod participant;
mod reaction;
mod recorder;
mod registry;
mod room;
mod seen;
mod talk;

pub use chat::{ChatError, ChatMessage, MAX_CHAT_TEXT, Saying};
pub use elsewhere::{Presence, RoomState, SettingsVersion};
pub use event::{Change, RoomEvent};
pub use join::{HoldError, Join, JoinError, Joined, Proof, Standing, UnknownParticipant};
pub use limits::RegistryLimits;
pub use name::{participant_name, room_name};
pub use participant::{
    Camera, Enabled, LinkReport, LinkState, MAX_CAMERAS, MAX_LINKS, Participant, ParticipantKind,
    Publishing, TroubleKind, Upload,
};
pub use reaction::{Hand, Reaction};
pub use registry::Registry;
pub use room::{Recorder, RoomSettings};
