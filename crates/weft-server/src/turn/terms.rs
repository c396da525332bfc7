use super::authority::Authority;
use super::peers::MediaPeers;
use super::places::Places;
use crate::refusals::Refusals;
use std::sync::Arc;

/// Terms of service for clients.
pub(crate) struct Terms {
    pub(super) authority: Authority,
    pub(super) peers: MediaPeers,
    pub(super) places: Places,
    pub(super) refusals: Arc<Refusals>,
}

impl Terms {
    /// Creates terms with this shared secret, for these peers, and at most this many
    /// allocations in total and per address.
    pub(crate) fn new(
        secret: String,
        peers: MediaPeers,
        (all, per_address): (usize, usize),
        refusals: Arc<Refusals>,
    ) -> Terms {
        Terms {
            authority: Authority::new(secret),
            peers,
            places: Places::new(all, per_address),
            refusals,
        }
    }
}
