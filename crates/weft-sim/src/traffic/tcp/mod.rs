//! TCP: connections with selective acknowledgements, RACK-TLP loss detection and several
//! congestion controls.
//!
//! Numbers count segments, not bytes: every segment except the last of a transfer is
//! full, as with a bulk sender.

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
