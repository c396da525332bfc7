//! Publishers, and the places of their tracks.

use weft_wire::payload::Form;

/// Participant that publishes, with its room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Publisher {
    /// Its name, as in the address of the request.
    pub room: String,
    /// Participant id of the publisher.
    pub participant: String,
}

/// Place of a stream among those of its connection. A publisher's first camera
/// is a player's first stream of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// Pictures of the camera with this place in the description.
    Camera(usize),
    /// The first stream of sound.
    Sound,
}

/// Places of a source's tracks, with their forms and the number of their encodings.
pub(crate) type Places = Vec<(Slot, Form, usize)>;
