use std::collections::BTreeMap;
use std::time::Duration;

use weft_peer::PeerKey;

use crate::caller::PeerReport;
use crate::links::LinkTrouble;
use crate::received::Received;
use crate::signalling::Participant;

/// Figures of a call at one moment.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Since the call began.
    pub elapsed: Duration,
    /// Every connection that there is.
    pub peers: Vec<PeerReport>,
    /// Which of them publishes.
    pub publication: Option<PeerKey>,
    /// Which of them play whom: participants' ids.
    pub players: BTreeMap<PeerKey, String>,
    /// Everybody else who is in the room.
    pub participants: Vec<Participant>,
    /// What has come from others, by participants' ids, those who have left
    /// included. Frames that were dropped are not counted.
    pub received: BTreeMap<String, Received>,
    /// Why links carry nothing, by their names, as far as it was found out.
    pub troubles: BTreeMap<String, LinkTrouble>,
    /// Frames that came while too many waited for [`Call::next_event`](crate::Call::next_event).
    pub dropped_frames: u64,
    /// Requests that were not made, since earlier ones hung.
    pub refused_requests: u64,
}

impl Statistics {
    /// The connection that publishes.
    #[must_use]
    pub fn published(&self) -> Option<&PeerReport> {
        let key = self.publication?;
        self.peers.iter().find(|report| report.peer == key)
    }
}
