//! The native endpoint: cameras and microphones to peers, peers to decoders.
//!
//! Threads: one per camera ([`sources::feed`]), one per encoder
//! ([`sources::video`]), one per microphone ([`sources::sound`]), one per
//! incoming stream of pictures ([`watch`]), and the network's driver, on which
//! [`caller::Caller`] runs. They talk through channels; nothing is locked for
//! longer than a copy.
#![allow(missing_docs)]

pub mod caller;
pub mod connect;
pub mod links;
mod notice;
pub mod signalling;
pub mod sources;
pub mod watch;

pub use notice::{Notice, Notices};
