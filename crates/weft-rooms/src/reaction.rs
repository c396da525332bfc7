//! Raised hands and reactions.

use serde::{Deserialize, Serialize};

/// State of a participant's hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    /// The participant wants to speak.
    Raised,
    /// The participant does not.
    Lowered,
}

/// Short reaction that the room sees for a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reaction {
    /// Thumbs up.
    ThumbsUp,
    /// Clapping hands.
    Clap,
    /// Heart.
    Heart,
    /// Laughing face.
    Laugh,
    /// Surprised face.
    Surprise,
    /// Party popper.
    Party,
}
