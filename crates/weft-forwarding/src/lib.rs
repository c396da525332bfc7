//! Sans-IO forwarding of media: who publishes, who plays, and the packets
//! between them.
//!
//! A [`Plane`] is the media side of a conference server without its sockets
//! and without HTTP: give it session descriptions, datagrams and time, take
//! datagrams and events. Every participant is a [`weft_peer::Peer`] of its
//! own, with its own repair, rate and paths; a [`weft_sfu::Router`] decides who
//! gets which packet.

#![forbid(unsafe_code)]

mod allocation;
mod capacity;
mod ceiling;
mod census;
mod connection;
mod demand;
mod division;
mod encoding;
mod ended;
mod error;
mod event;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod handshakes;
mod limits;
mod loudest;
mod mute;
mod negotiation;
mod plane;
mod player;
mod publication;
mod receiving;
mod reception;
mod receptions;
mod settings;
mod traffic;
mod trickle;
mod wanted;
mod watched;

pub use capacity::Capacity;
pub use census::Census;
pub use connection::ResourceId;
pub use error::MediaError;
pub use event::{Event, Output};
pub use mute::Sound;
pub use negotiation::Negotiated;
pub use plane::{Plane, Stats};
pub use publication::Publisher;
pub use receiving::Viewing;
pub use reception::{Line, LineContent, MAX_LINES, View, ViewedCamera};
pub use settings::Settings;
pub use trickle::{IceCondition, IceUpdate, Restarted};
