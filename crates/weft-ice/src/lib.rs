//! A sans-IO ICE agent (RFC 8445) that keeps *every* working candidate pair
//! valid, where others nominate one and drop the rest.
//!
//! A *path* is such a pair with a number: our address, the peer's address. The
//! [`Agent`] finds the paths with connectivity checks, keeps them alive with
//! consent (RFC 7675), reports which of them answer, detects a dead one within
//! 200 ms of a suspicion, and selects one of them for peers that send on one
//! path only. It sends only STUN, with the short-term credentials of the
//! session descriptions; traffic on the paths, and its encryption, belong to
//! the owner.
//!
//! It opens no socket and reads no clock. Inputs are time, randomness and
//! datagrams; outputs are datagrams, events and a deadline. The same inputs
//! give the same bytes, so it runs on sockets and in virtual time.
//!
//! ```
//! use std::net::SocketAddr;
//! use weft_ice::{
//!     Agent, Checks, Config, Credentials, Event, IceRole, LinkId, LocalAddress, Output, RemoteCandidate,
//!     RemoteFilter,
//! };
//! use weft_units::{Instant, Rng, Transport};
//!
//! // Two agents with an address each; their datagrams arrive at once.
//! let addresses = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 5000)));
//! let roles = [IceRole::Controlling, IceRole::Controlled];
//! let mut agents = [0, 1].map(|i| {
//!     let credentials = Credentials::from_entropy(&[i as u8; 32]);
//!     let (role, tie_breaker, rng) = (roles[i], i as u64, Rng::new(i as u64));
//!     let checks = Checks::All;
//!     let mut agent = Agent::new(Config { role, credentials, tie_breaker, checks, rng });
//!     let (addr, link, remotes) = (addresses[i], LinkId(0), RemoteFilter::Any);
//!     let transport = Transport::Udp;
//!     agent.add_local(Instant::ZERO, LocalAddress { transport, addr, link, cost: 0, remotes });
//!     agent
//! });
//! for i in [0, 1] {
//!     let credentials = agents[1 - i].credentials().clone();
//!     let candidate = RemoteCandidate { addr: addresses[1 - i], priority: 1 };
//!     agents[i].set_remote(Instant::ZERO, &credentials, &[candidate]);
//! }
//! let mut up = 0;
//! for i in [0, 1, 0, 1, 0] {
//!     while let Some(output) = agents[i].poll_output() {
//!         match output {
//!             Output::Transmit { tuple, datagram } => {
//!                 let peer = &mut agents[1 - i];
//!                 let received = peer.handle_datagram(Instant::ZERO, tuple.reversed(), &datagram);
//!                 received.expect("the peer knows its password");
//!             }
//!             Output::Event(Event::PathUp { .. }) => up += 1,
//!             Output::Event(_) => {}
//!         }
//!     }
//! }
//! assert_eq!(up, 2, "both ends have a path");
//! ```

#![forbid(unsafe_code)]

mod agent;
mod counters;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod output;
mod stun;
mod types;

pub use agent::{Agent, Phase};
pub use counters::{Counters, DropReason};
pub use output::{Event, Outbox, Output};
pub use types::{
    Checks, Config, Credentials, DownReason, IceRole, LinkId, LocalAddress, Path, PathState,
    RemoteCandidate, RemoteFilter, Route,
};
