//! Selective forwarding of packets: which packets go to which subscriber
//! ([`Router`], one [`Forwarder`](forwarder::Forwarder) per subscription), how a
//! subscriber's rate is divided ([`fair_shares`]), and how many keyframe requests reach
//! the publisher ([`KeyframeAggregator`](keyframes::KeyframeAggregator)).
//!
//! Nothing here knows peers or sessions: packets, numbers and rates go in and out.

mod beginning;
mod dependencies;
mod forwarder;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod id;
mod keyframes;
mod layers;
mod offset_map;
mod output;
mod parsed;
mod raises;
mod router;
mod share;

pub(crate) use forwarder::{Downlink, Forwarder, Forwarding};
pub(crate) use id::{SubscriptionId, TrackId};
pub(crate) use output::Output;
pub(crate) use parsed::Parsed;
pub(crate) use raises::Raises;
pub(crate) use router::Router;
pub(crate) use share::{ROOM, fair_shares};
