//! TCP: connections with selective acknowledgements, RACK-TLP loss detection
//! and a choice of congestion controls.
//!
//! Numbers count segments, not bytes: every segment but the last of a transfer is full,
//! like those of a bulk sender.

mod application;
mod congestion;
mod connection;
mod flow;
mod host_queue;
mod ranges;
mod rate;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;

pub(crate) use flow::TcpFlow;
