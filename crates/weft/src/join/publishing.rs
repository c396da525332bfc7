//! Our own publication: asked for, made, ended.

use std::time::Instant;

use weft_endpoint::signalling::escaped;

use super::board::{Board, LinkNews};
use super::call::{Call, RETRY};
use super::inbox::{Ticket, Wish};
use crate::exit::Failure;
use weft_endpoint::caller::News;
use weft_endpoint::connect::{ConnectError, Connection, connect};

/// What we publish.
#[derive(Default)]
pub(super) struct Publication {
    state: State,
    /// The server has shown it.
    shown: bool,
    /// Not tried before.
    again: Option<Instant>,
    board: Board,
}

#[derive(Default)]
enum State {
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

    pub fn is_shown(&self) -> bool {
        self.shown
    }

    pub fn set_shown(&mut self, shown: bool) {
        self.shown = shown;
    }

    fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, State::Missing) && self.again.is_none_or(|at| now >= at)
    }
}

impl Call {
    /// Asks for it, if it is missing and there is something to publish.
    pub(super) fn publish(&mut self, now: Instant) {
        let Some(own) = self.own.identity.clone() else {
            return;
        };
        if self.own.sections.is_empty() || !self.publication.is_due(now) {
            return;
        }
        let sections = self.own.sections.clone();
        let name = escaped(&self.own.name);
        let query = format!("kind=native&name={name}&participant={}", escaped(&own.id));
        let ticket = self.ticket();
        let (room, remote) = (self.desks.room.clone(), self.remote.clone());
        let (mailbox, news) = (self.mailbox.clone(), self.mailbox.listener(ticket));
        let taken = self.desks.connections.take(move || {
            let made = connect(&remote, sections, news, |offer| {
                room.publish(&query, Some(&own), offer)
            });
            mailbox.send(Wish::Made(ticket, made));
        });
        if taken {
            self.publication.state = State::Asked(ticket);
            self.publication.board.clear();
        }
    }

    pub(super) fn on_published(
        &mut self,
        made: Result<Connection, ConnectError>,
    ) -> Result<(), Failure> {
        let State::Asked(ticket) = self.publication.state else {
            return Ok(());
        };
        match made {
            Ok(connection) => {
                self.on_answer();
                self.publication.state = State::Made(ticket, connection);
                return Ok(());
            }
            Err(ConnectError::Signalling(error)) if error.is_passing() => self.on_fault(&error),
            Err(ConnectError::Signalling(error)) => return Err(error.into()),
            Err(error) => return Err(Failure::run(error)),
        }
        self.publication.state = State::Missing;
        self.publication.again = Some(Instant::now() + RETRY);
        Ok(())
    }

    pub(super) fn on_publication(&mut self, news: News) {
        match news {
            News::Connected => complain!("weft: connected, publishing as `{}`", self.own.name),
            News::Path { path, link, up } => {
                let now = Instant::now();
                let news = self.publication.board.on_path(now, path, &link, up);
                if let Some(news) = news {
                    tell(&link, &news);
                    self.desks.room.on_link(&link, up);
                }
            }
            News::Failed(reason) => {
                complain!("weft: publishing failed ({reason}); trying again");
                self.end_publication();
            }
            News::Frame { .. } | News::Ended => {}
        }
    }

    pub(super) fn end_publication(&mut self) {
        self.publication.shown = false;
        self.publication.again = None;
        if let State::Made(_, connection) = std::mem::take(&mut self.publication.state) {
            self.end(connection);
        }
    }
}

fn tell(link: &str, news: &LinkNews) {
    match news {
        LinkNews::Up => complain!("weft: link `{link}` is up"),
        LinkNews::Again(down) => {
            let seconds = down.as_secs_f64();
            complain!("weft: link `{link}` is up again after {seconds:.1} s");
        }
        LinkNews::Down => complain!("weft: link `{link}` is down"),
        LinkNews::AllDown => complain!(
            "weft: link `{link}` is down, and no other leads to the server: the call waits and \
             goes on by itself"
        ),
    }
}
