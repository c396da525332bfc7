//! Sans-IO selective forwarding: which packets go to which subscriber
//! ([`Router`], one [`Forwarder`] per subscription), how a subscriber's rate is
//! divided ([`fair_shares`]), and how many keyframe requests go upstream
//! ([`KeyframeAggregator`]).
//!
//! Nothing here knows sockets, crypto or HTTP. Time is given in and never
//! goes backwards.

#![forbid(unsafe_code)]

mod forwarder;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod id;
mod keyframes;
mod layers;
mod offset_map;
mod router;
mod share;

pub use forwarder::{Downlink, Forwarder, Forwarding, Stats};
pub use id::{SubscriptionId, TrackId};
pub use keyframes::KeyframeAggregator;
pub use layers::LayerRates;
pub use router::{Output, Router};
pub use share::fair_shares;
