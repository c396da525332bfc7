//! Sans-IO selective forwarding: who is in which room ([`Registry`]), which
//! packets go to which subscriber ([`Router`], one [`Forwarder`] per
//! subscription), how a subscriber's rate is divided ([`fair_shares`]), and how
//! many keyframe requests go upstream ([`KeyframeAggregator`]).
//!
//! Nothing here knows sockets, crypto or HTTP. Time is given in and never
//! goes backwards.

mod forwarder;
mod keyframes;
mod layers;
mod offset_map;
mod registry;
mod router;
mod share;

pub use forwarder::{Downlink, Forwarder, Forwarding, Stats};
pub use keyframes::KeyframeAggregator;
pub use layers::LayerRates;
pub use registry::{
    Camera, Change, HoldError, Join, JoinError, Joined, LinkReport, LinkState, MAX_CAMERAS,
    MAX_LINKS, Participant, ParticipantKind, Proof, Publishing, Registry, RegistryLimits,
    RoomEvent, UnknownParticipant,
};
pub use router::{Output, Router, SubscriptionId, TrackId};
pub use share::fair_shares;
