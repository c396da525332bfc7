//! Limits of rooms and participants.

/// Limits of a registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegistryLimits {
    /// Maximum number of rooms with participants.
    pub rooms: usize,
    /// Maximum number of participants in one room.
    pub participants_per_room: usize,
    /// Places reserved for hosts, so that the host of a room full of guests can
    /// enter.
    pub kept_for_hosts: usize,
}

impl Default for RegistryLimits {
    fn default() -> RegistryLimits {
        RegistryLimits {
            rooms: 1000,
            participants_per_room: 100,
            kept_for_hosts: 10,
        }
    }
}
