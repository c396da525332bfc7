use super::{SubscriptionId, TrackId};
use weft_wire::media::ForwardedPacket;

/// Request of the router to its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// Send the packet to the subscriber.
    Forward {
        /// Subscription, which determines the player.
        subscription: SubscriptionId,
        /// Packet with the number, timestamp and layers for this subscription.
        packet: ForwardedPacket,
    },
    /// Ask the track's publisher for a keyframe.
    RequestKeyframe {
        /// Track that needs a keyframe.
        track: TrackId,
    },
    /// Forget the pictures that the subscriber has not received yet: they belong to a
    /// track that it no longer gets.
    Forget {
        /// Subscription that they were for.
        subscription: SubscriptionId,
    },
}
