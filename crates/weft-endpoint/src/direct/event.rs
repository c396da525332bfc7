use crate::event::PlayedFrame;
use crate::links::LinkChange;

/// Event between the sender and a viewer, identified by the name given to
/// [`Direct::offer`](crate::Direct::offer).
#[derive(Debug)]
#[non_exhaustive]
pub enum DirectEvent {
    /// A viewer sees the pictures.
    Connected {
        /// Name of the viewer's offer.
        viewer: String,
    },
    /// A viewer has answered the offer, but no UDP packets have returned on any link for
    /// some seconds. Attempts continue.
    Unanswered {
        /// Name of the viewer's offer.
        viewer: String,
    },
    /// A viewer has left, or never connected.
    Ended {
        /// Name of the viewer's offer.
        viewer: String,
        /// Reason for display: a sentence without its full stop.
        reason: String,
    },
    /// A link to a viewer came up, went down, or became suspect.
    Link {
        /// Name of the viewer's offer.
        viewer: String,
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Change of the link for this viewer.
        change: LinkChange,
    },
    /// A picture of a viewer's camera was released. The participant is the name of the
    /// viewer's offer.
    Frame(PlayedFrame),
    /// Either side closed the connection to a viewer that had answered. No further event
    /// of this viewer follows.
    Closed {
        /// Name of the viewer's offer.
        viewer: String,
    },
}
