//! Sans-IO peer: one association and one session behind one offer or answer.
//!
//! A [`Peer`] is a whole WebRTC connection without sockets: you pass in datagrams and time, and
//! it returns datagrams and events. A [`PeerSet`] shares sockets among many peers.

#![forbid(unsafe_code)]

mod config;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod negotiation;
mod paths;
mod peer;
mod set;
mod stream;

pub use config::{Entropy, PeerConfig, TimeOrigin};
pub use negotiation::{AnswerPolicy, Fragment, NegotiationError, Outgoing, Section};
pub use peer::{CapturedPacket, Event, MAX_DATAGRAM, Offer, Output, PacketWay, Peer, answer};
pub use set::{PeerKey, PeerSet, is_stun, stun_user_name};
pub use stream::{NegotiatedStream, StreamDirection};
/// Types of data channels.
pub use weft_data as data;

use weft_units::Duration;

/// Time for which both sides of a connection at [`weft_session::Level::Full`] keep it
/// without any path, as in a tunnel, in a valley or while the modems restart. Chosen by
/// us: it covers an outage of a little more than two minutes.
pub const RECONNECT_GRACE: Duration = Duration::from_secs(180);
