//! Selective forwarding of packets: the choice of packets for each subscriber
//! ([`Router`], one [`Forwarder`](forwarder::Forwarder) per subscription), the division
//! of a subscriber's rate ([`fair_shares`]), and the number of keyframe requests that
//! reach the publisher ([`KeyframeAggregator`](keyframes::KeyframeAggregator)).
//!
//! This module knows neither peers nor sessions, only packets, numbers and rates.

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
