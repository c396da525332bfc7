//! Main loop of a call: its messages and periodic work.

use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::call_loop::{Answer, CallLoop};
use super::inbox::{CallMessage, Inbox, Ticket};
use crate::caller::{Command, PeerReport, ask};
use crate::connect::{ConnectError, Connection};
use crate::event::Event;
use crate::links::LinkTrouble;

/// Interval of the link statistics for the room.
const FIGURES: Duration = Duration::from_secs(1);
/// Time for the last requests when the call ends. The server also detects the end without
/// them, and a program should exit within a second.
const LAST_REQUESTS: Duration = Duration::from_millis(500);

impl CallLoop {
    /// Runs until the call ends or cannot continue.
    pub fn run(&mut self, inbox: &Inbox) -> Result<(), ConnectError> {
        self.listen_to_room();
        let mut next_figures = Instant::now() + FIGURES;
        loop {
            let now = Instant::now();
            if now >= next_figures {
                next_figures = now + FIGURES;
                if let Ok(reports) = ask(&self.remote, Command::Report) {
                    self.look_at_links(&reports);
                    self.tell_figures(&reports);
                }
                self.listen_again(now);
                self.catch_up(now);
                self.look_at_handover(now);
            }
            match inbox.next(next_figures.saturating_duration_since(now)) {
                Ok(CallMessage::End) | Err(RecvTimeoutError::Disconnected) => {
                    return match self.answer {
                        Answer::Missed => Err(ConnectError::Unanswered),
                        Answer::Awaited | Answer::Had => Ok(()),
                    };
                }
                Ok(CallMessage::Figures(reply)) => {
                    if let Some(figures) = self.figures(inbox.dropped_frames()) {
                        let _ = reply.send(figures);
                    }
                }
                Ok(message) => self.on_message(message)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn on_message(&mut self, message: CallMessage) -> Result<(), ConnectError> {
        match message {
            CallMessage::Room(stream, event, heard) => {
                let is_current = stream == self.listening.number;
                let (goes_on, done) = match is_current {
                    true => (true, self.on_room(event)),
                    false => (self.handover.on_event(stream, event), Ok(())),
                };
                // The thread of an ended stream does not wait for the answer.
                let _ = heard.send(goes_on);
                done
            }
            CallMessage::RoomLost(stream, error) => self.on_room_lost(stream, error),
            CallMessage::Made(ticket, made) => self.on_made(ticket, made),
            CallMessage::Diagnosed(link, trouble) => {
                self.on_trouble(link, trouble);
                Ok(())
            }
            CallMessage::News(ticket, news) => {
                if self.publication.has(ticket) {
                    self.on_publication(news);
                } else if self.reception.has(ticket) {
                    self.on_reception(news);
                } else {
                    self.on_former(ticket, news);
                }
                Ok(())
            }
            CallMessage::Microphone(switch) => {
                self.switch_microphone(switch);
                Ok(())
            }
            CallMessage::Cameras(switch) => {
                self.switch_cameras(switch);
                Ok(())
            }
            CallMessage::UseLink(link, usage) => {
                self.remote.send(Command::UseLink(link, usage));
                Ok(())
            }
            CallMessage::RequestKeyframes => {
                self.request_keyframes();
                Ok(())
            }
            CallMessage::Unmute => {
                self.unmute();
                Ok(())
            }
            CallMessage::UnmuteFailed(error) => {
                self.emit(Event::UnmuteFailed(error));
                Ok(())
            }
            CallMessage::Viewed(ticket, viewed) => {
                self.on_viewed(ticket, viewed);
                Ok(())
            }
            CallMessage::Answered(ticket, answered) => {
                self.on_answered(ticket, answered);
                Ok(())
            }
            CallMessage::End | CallMessage::Figures(_) => Ok(()),
        }
    }

    fn on_made(
        &mut self,
        ticket: Ticket,
        made: Result<Connection, ConnectError>,
    ) -> Result<(), ConnectError> {
        if self.publication.has(ticket) {
            return self.on_published(made);
        }
        if self.reception.has(ticket) {
            self.on_receiving(ticket, made);
        } else if let Ok(connection) = made {
            // The request is obsolete.
            self.end(connection);
        }
        Ok(())
    }

    /// Reports the state of the links to the room.
    fn tell_figures(&mut self, reports: &[PeerReport]) {
        let Some(publication) = self.publication.connection() else {
            return;
        };
        let (peer, location) = (publication.peer, publication.location.clone());
        let own = reports.iter().find(|r| r.peer == peer);
        if let Some(own) = own.filter(|r| r.connected) {
            let (room, mut figures) = (self.queues.room.clone(), own.link_reports());
            for figure in &mut figures {
                let trouble = self.diagnosis.troubles().get(&figure.name);
                figure.trouble = trouble.map(LinkTrouble::kind);
            }
            self.queues.figures.push(move || {
                let _ = room.put_links(&location, &figures);
            });
        }
    }

    /// Closes all connections, and waits a limited time for the last requests.
    pub fn leave(mut self) {
        self.end_connections();
        self.leave_former();
        self.remote.send(Command::Stop);
        let until = Instant::now() + LAST_REQUESTS;
        self.queues.connections.close(LAST_REQUESTS);
        let left = until.saturating_duration_since(Instant::now());
        self.queues.farewells.close(left);
    }
}
