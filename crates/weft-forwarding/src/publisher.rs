//! Publishers, and the places of their tracks.

use weft_wire::payload::Form;

/// Participant who publishes, and the room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Publisher {
    /// Name of the room, as in the URL of the request.
    pub room: String,
    /// Participant id of the publisher.
    pub participant: String,
}

/// Place of a stream among those of its connection. A publisher's first camera is a
/// player's first video stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// Camera with this index in the description.
    Camera(usize),
    /// First audio stream.
    Sound,
}

/// Places of a source's tracks, with their forms and numbers of encodings.
pub(crate) type Places = Vec<(Slot, Form, usize)>;
