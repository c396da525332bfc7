//! A connection that plays one participant.

use std::collections::BTreeMap;
use std::time::Instant;

use weft_peer::PeerKey;
use weft_rooms::Publishing;
use weft_session::ReceivedFrame;
use weft_units::PathId;

use super::fault::Fault;
use super::inbox::Ticket;
use crate::connect::Connection;

/// A connection that plays a participant, or is to.
pub(super) struct Player {
    /// What was asked for, as they published then.
    pub wanted: Publishing,
    pub state: State,
    pub fault: Fault,
    /// The link of each path that it ever had.
    pub links: BTreeMap<PathId, String>,
}

/// How far it is.
pub(super) enum State {
    Asked(Ticket),
    Made(Ticket, Connection),
    /// Failed, and tried again then.
    Missing(Instant),
}

impl Player {
    pub fn has(&self, ticket: Ticket) -> bool {
        matches!(self.state, State::Asked(own) | State::Made(own, _) if own == ticket)
    }

    pub fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, State::Missing(at) if now >= at)
    }

    /// Its connection, if there is one.
    pub fn peer(&self) -> Option<PeerKey> {
        match &self.state {
            State::Made(_, connection) => Some(connection.peer),
            State::Asked(_) | State::Missing(_) => None,
        }
    }

    /// The links that brought a frame, each once.
    pub fn links_of(&self, frame: &ReceivedFrame) -> Vec<String> {
        let mut links: Vec<String> = Vec::new();
        for share in &frame.paths {
            if let Some(link) = self.links.get(&share.path)
                && !links.contains(link)
            {
                links.push(link.clone());
            }
        }
        links
    }
}
