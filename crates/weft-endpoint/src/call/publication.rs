//! The connection that publishes.

use std::time::Instant;

use super::inbox::Ticket;
use crate::connect::Connection;
use crate::links::Board;

/// What we publish.
#[derive(Default)]
pub(super) struct Publication {
    pub state: State,
    /// The server has shown it.
    pub shown: bool,
    /// Not tried before.
    pub again: Option<Instant>,
    pub board: Board,
}

/// How far it is.
#[derive(Default)]
pub(super) enum State {
    #[default]
    Missing,
    Asked(Ticket),
    Made(Ticket, Connection),
}

impl Publication {
    /// Whether this ticket is its own.
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
