use std::collections::BTreeMap;
use std::time::Duration;

use weft_peer::PeerKey;

use crate::caller::PeerReport;
use crate::links::LinkTrouble;
use crate::received::Received;
use crate::signalling::Participant;
use crate::switches::Switches;

/// Statistics of a call at one time.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Time since the start of the call.
    pub elapsed: Duration,
    /// All present connections.
    pub peers: Vec<PeerReport>,
    /// Connection of our publication.
    pub publication: Option<PeerKey>,
    /// Connection of our reception.
    pub reception: Option<PeerKey>,
    /// Other participants in the room.
    pub participants: Vec<Participant>,
    /// Received totals by participant id, including participants who have left. Dropped
    /// frames are not counted.
    pub received: BTreeMap<String, Received>,
    /// Diagnosed reasons why links carry no packets, by link name.
    pub troubles: BTreeMap<String, LinkTrouble>,
    /// Whether a moderator has muted us.
    pub muted: bool,
    /// Sources that the user has switched off.
    pub switches: Switches,
    /// Frames dropped because too many were waiting for
    /// [`Call::next_event`](crate::Call::next_event).
    pub dropped_frames: u64,
    /// Requests skipped because earlier ones were blocked.
    pub refused_requests: u64,
}

impl Statistics {
    /// Returns the statistics of the publishing connection.
    #[must_use]
    pub fn published(&self) -> Option<&PeerReport> {
        let key = self.publication?;
        self.peers.iter().find(|report| report.peer == key)
    }
}
