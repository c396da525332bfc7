//! Switches of a call's own sources.

/// Whether a source is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Switch {
    /// Sent.
    #[default]
    On,
    /// Not sent.
    Off,
}

/// Switches of the user; a moderator's mute is separate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Switches {
    /// Switch of the microphone.
    pub microphone: Switch,
    /// Switch of all cameras together.
    pub cameras: Switch,
}
