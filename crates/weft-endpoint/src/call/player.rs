//! A connection that plays one participant.

use std::collections::BTreeMap;
use std::time::Instant;

use weft_peer::PeerKey;
use weft_rooms::Publishing;
use weft_session::ReceivedFrame;
use weft_units::PathId;

use super::fault::OngoingFault;
use super::inbox::Ticket;
use crate::connect::Connection;

/// Connection that plays a participant, or an attempt at one.
pub(super) struct Player {
    /// Tracks requested, as published at that time.
    pub wanted: Publishing,
    pub state: PlayerState,
    pub fault: OngoingFault,
    /// Link of every path so far.
    pub links: BTreeMap<PathId, String>,
}

/// Progress of the connection.
pub(super) enum PlayerState {
    Asked(Ticket),
    Made(Ticket, Connection),
    /// Failed; retried at this time.
    Missing(Instant),
}

impl Player {
    pub fn has(&self, ticket: Ticket) -> bool {
        matches!(self.state, PlayerState::Asked(own) | PlayerState::Made(own, _) if own == ticket)
    }

    pub fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, PlayerState::Missing(at) if now >= at)
    }

    /// The connection's peer, if it exists.
    pub fn peer(&self) -> Option<PeerKey> {
        match &self.state {
            PlayerState::Made(_, connection) => Some(connection.peer),
            PlayerState::Asked(_) | PlayerState::Missing(_) => None,
        }
    }

    /// Links that delivered the frame, without repetition.
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
