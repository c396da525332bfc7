//! Connection for our own publication.

use std::time::Instant;

use super::inbox::Ticket;
use crate::connect::Connection;
use crate::links::Board;

/// Our own publication.
#[derive(Default)]
pub(super) struct Publication {
    pub state: State,
    /// Whether the server has listed it.
    pub shown: bool,
    /// Earliest time of the next attempt.
    pub again: Option<Instant>,
    pub board: Board,
}

/// Progress of the connection.
#[derive(Default)]
pub(super) enum State {
    #[default]
    Missing,
    Asked(Ticket),
    Made(Ticket, Connection),
}

impl Publication {
    /// Whether the ticket belongs to this connection.
    pub fn has(&self, ticket: Ticket) -> bool {
        matches!(self.state, State::Asked(own) | State::Made(own, _) if own == ticket)
    }

    pub fn connection(&self) -> Option<&Connection> {
        match &self.state {
            State::Made(_, connection) => Some(connection),
            State::Missing | State::Asked(_) => None,
        }
    }

    pub fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, State::Missing) && self.again.is_none_or(|at| now >= at)
    }
}
