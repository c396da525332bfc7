//! Start and end of our own publication.

use std::time::Instant;

use crate::signalling::{Wanted, escaped};

use super::call_loop::{Answer, CallLoop, RETRY};
use super::inbox::CallMessage;
use super::publication::PublicationState;
use crate::caller::{Command, News};
use crate::connect::{ConnectError, Connection, connect};
use crate::event::Event;

impl CallLoop {
    /// Requests the publication if it is missing and there are tracks to
    /// publish.
    pub(super) fn publish(&mut self, now: Instant) {
        let Some(own) = self.own.inside() else {
            return;
        };
        if self.own.sections.is_empty() || !self.publication.is_due(now) {
            return;
        }
        let sections = self.own.sections.clone();
        let name = escaped(&self.own.name);
        let query = format!("kind=native&name={name}&participant={}", escaped(&own.id));
        let ticket = self.ticket();
        let (room, remote) = (self.queues.room.clone(), self.remote.clone());
        let (mailbox, news) = (self.mailbox.clone(), self.mailbox.listener(ticket));
        let taken = self.queues.connections.push(move || {
            let made = connect(&remote, sections, news, |offer| {
                room.publish(&query, Some(&own), offer)
            });
            mailbox.send(CallMessage::Made(ticket, made));
        });
        if taken {
            self.publication.state = PublicationState::Asked(ticket);
            self.publication.again = Some(now + RETRY);
            self.publication.link_states.clear();
        }
    }

    pub(super) fn on_published(
        &mut self,
        made: Result<Connection, ConnectError>,
    ) -> Result<(), ConnectError> {
        let PublicationState::Asked(ticket) = self.publication.state else {
            return Ok(());
        };
        match made {
            Ok(connection) => {
                self.on_answer();
                // The server does not know the viewers of the new publication yet.
                self.remote.send(Command::Watched(Vec::new()));
                self.publication.state = PublicationState::Made(ticket, connection);
                if !self.sends_everything() {
                    self.tell_switches();
                }
                return Ok(());
            }
            Err(ConnectError::Signalling(error)) if error.is_passing() => self.on_fault(error),
            Err(error) => return Err(error),
        }
        self.publication.state = PublicationState::Missing;
        self.publication.again = Some(Instant::now() + RETRY);
        Ok(())
    }

    /// Pauses encodings that nobody watches.
    pub(super) fn on_wanted(&mut self, wanted: &Wanted) {
        // The server that we are leaving may still have viewers.
        if self.handover.defers(wanted) {
            return;
        }
        let Some(connection) = self.publication.connection() else {
            return;
        };
        if connection.location.rsplit('/').next() == Some(&wanted.resource) {
            self.remote.send(Command::Watched(wanted.cameras.clone()));
        }
    }

    pub(super) fn on_publication(&mut self, news: News) {
        match news {
            News::Unanswered => self.on_unanswered(),
            News::Connected => {
                self.answer = Answer::Had;
                self.handover.on_published();
                let name = self.own.name.clone();
                self.emit(Event::Publishing { name });
            }
            News::Path { path, link, state } => {
                let now = Instant::now();
                let change = self
                    .publication
                    .link_states
                    .on_path(now, path, &link, state);
                if let Some(change) = change {
                    self.queues.room.on_link(&link, change.is_up());
                    self.emit(Event::Link { link, change });
                }
            }
            News::Failed(reason) => {
                self.emit(Event::PublishingFailed { reason });
                self.end_publication();
            }
            News::Frame { frame, .. } => self.mailbox.frames().release(frame.data.len()),
            News::ChannelOpened(label) => self.emit(Event::ChannelOpened { label }),
            News::ChannelClosed(label) => self.emit(Event::ChannelClosed { label }),
            News::Message(label, message) => self.emit(Event::Message { label, message }),
            News::Ended => {}
        }
    }

    pub(super) fn end_publication(&mut self) {
        self.publication.shown = false;
        if let PublicationState::Made(_, connection) = std::mem::take(&mut self.publication.state) {
            self.end(connection);
        }
    }
}
