use crate::event::PlayedFrame;
use crate::links::LinkChange;

/// Event between the sender and a viewer, whom the name given to
/// [`Direct::offer`](crate::Direct::offer) identifies.
#[derive(Debug)]
#[non_exhaustive]
pub enum DirectEvent {
    /// A viewer sees the pictures.
    Connected {
        /// Name of the viewer's offer.
        viewer: String,
    },
    /// A viewer has answered the offer, but for some seconds nothing has come
    /// back over UDP on any link. Attempts continue.
    Unanswered {
        /// Name of the viewer's offer.
        viewer: String,
    },
    /// A viewer has left, or never connected.
    Ended {
        /// Name of the viewer's offer.
        viewer: String,
        /// Reason for people, a sentence without its full stop.
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
    /// A picture of a viewer's camera is due. The participant is the name of the viewer's
    /// offer.
    Frame(PlayedFrame),
    /// The connection to a viewer who had answered is closed, by either side. No event of
    /// this viewer follows.
    Closed {
        /// Name of the viewer's offer.
        viewer: String,
    },
}
