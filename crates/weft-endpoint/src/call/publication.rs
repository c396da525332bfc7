//! Connection for our own publication.

use std::time::Instant;

use super::inbox::Ticket;
use crate::connect::Connection;
use crate::links::LinkStates;

/// Our own publication.
#[derive(Default)]
pub(super) struct Publication {
    pub state: PublicationState,
    /// Whether the server has listed the publication.
    pub shown: bool,
    /// Earliest time of the next attempt: some time after the last one even if that
    /// succeeded, because a server could end each connection at once.
    pub again: Option<Instant>,
    pub link_states: LinkStates,
}

/// Progress of the connection.
#[derive(Default)]
pub(super) enum PublicationState {
    #[default]
    Missing,
    Asked(Ticket),
    Made(Ticket, Connection),
}

impl Publication {
    /// Whether the ticket belongs to this connection.
    pub fn has(&self, ticket: Ticket) -> bool {
        matches!(self.state, PublicationState::Asked(own) | PublicationState::Made(own, _) if own == ticket)
    }

    pub fn connection(&self) -> Option<&Connection> {
        match &self.state {
            PublicationState::Made(_, connection) => Some(connection),
            PublicationState::Missing | PublicationState::Asked(_) => None,
        }
    }

    pub fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, PublicationState::Missing) && self.again.is_none_or(|at| now >= at)
    }
}
