use super::{SubscriptionId, TrackId};
use weft_wire::media::ForwardedPacket;

/// Request of the router to its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Output {
    /// Send the packet to the subscriber.
    Forward {
        /// The subscription that it is for, and with it the player.
        subscription: SubscriptionId,
        /// With the number, time stamp and layers that this subscription sees.
        packet: ForwardedPacket,
    },
    /// Ask the track's publisher for a keyframe.
    RequestKeyframe {
        /// The track that the publisher is to make a keyframe of.
        track: TrackId,
    },
    /// Forget the pictures that the subscriber has not got yet: they belong to a track that
    /// it is sent no longer.
    Forget {
        /// The subscription that they were for.
        subscription: SubscriptionId,
    },
}
