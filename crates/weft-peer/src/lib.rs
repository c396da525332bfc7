//! Sans-IO peer: one association and one session behind one offer or answer.
//!
//! A [`Peer`] is a whole WebRTC connection without sockets: give it datagrams
//! and time, take datagrams and events. [`PeerSet`] shares sockets among many.

mod negotiation;
mod peer;
mod set;

pub use negotiation::{
    AnswerPolicy, Direction, NegotiatedStream, NegotiationError, Offer, Section, answer,
    fragment_candidates,
};
pub use peer::{Event, Output, Peer, PeerConfig};
pub use set::{PeerKey, PeerSet};
