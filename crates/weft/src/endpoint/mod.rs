//! The native endpoint: cameras and microphones to peers, peers to decoders.
//!
//! Threads: one per camera ([`feed`]), one per encoder ([`video`]), one per
//! microphone ([`sound`]), one per incoming stream of pictures ([`watch`]),
//! and the network's driver, on which [`caller::Caller`] runs. They talk
//! through channels; nothing is locked for longer than a copy.

pub mod caller;
pub mod connect;
pub mod feed;
pub mod links;
pub mod sound;
pub mod video;
pub mod watch;
