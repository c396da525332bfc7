//! Sans-IO forwarding of media: publishers, players, and the packets between them.
//!
//! A [`Plane`] is the media side of a conference server without sockets and HTTP: you
//! pass in session descriptions, datagrams and time, and it returns datagrams and events.
//! Every participant is a separate [`weft_peer::Peer`] with its own repair, rate and
//! paths; a router decides which packets each of them gets. A server may have several
//! planes, each for some of its participants; they exchange [`Relayed`] messages.

#![forbid(unsafe_code)]

mod allocation;
mod announcing;
mod bounds;
mod capacity;
mod ceiling;
mod census;
mod connection;
mod demand;
mod division;
mod early;
mod encoding;
mod ended;
mod error;
mod event;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod handshakes;
mod imports;
mod limits;
mod linking;
mod loudest;
mod messages;
mod mute;
mod negotiation;
mod plane;
mod player;
mod publication;
mod publisher;
mod receiving;
mod reception;
mod receptions;
mod recording;
mod relay;
mod relays;
mod routing;
mod ruled;
mod rules;
mod settings;
mod stats;
mod steering;
mod taps;
mod topics;
mod traffic;
mod trickle;
mod waiting;
mod wanted;
mod watched;

pub use capacity::Capacity;
pub use census::Census;
pub use connection::{Purpose, ResourceId};
pub use error::MediaError;
pub use event::{Event, Output};
pub use mute::Sound;
pub use negotiation::Negotiated;
pub use plane::Plane;
pub use publisher::Publisher;
pub use receiving::Viewing;
pub use reception::{Line, LineContent, MAX_LINES, View, ViewedCamera};
pub use relay::{MAX_PLANES, PlaneId, Relayed};
pub use rules::AllocatorKind;
pub use settings::Settings;
pub use stats::Stats;
pub use taps::{Recorded, RecordedKind, RecordedTrack};
pub use trickle::{IceCondition, IceUpdate, Restarted};
