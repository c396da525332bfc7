//! Events of the room: participants and their publications.

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use super::call_loop::{CallLoop, RETRY};
use super::handover::Handover;
use super::inbox::CallMessage;
use super::listening::Listening;
use crate::caller::Command;
use crate::connect::ConnectError;
use crate::event::Event;
use crate::signalling::{Identity, Participant, Room, RoomEvent, SignallingError, escaped};

/// Maximum number of remembered participants: several full rooms. Chosen by us.
pub(super) const MAX_KNOWN: usize = 1000;

impl CallLoop {
    /// Starts a thread that reads the room's events until they end. Events of
    /// an earlier thread, which may hang on a dead link, are ignored from now
    /// on.
    pub(super) fn listen_to_room(&mut self) {
        let room = self.queues.room.clone();
        self.listen_at(room);
    }

    /// Listens like [`CallLoop::listen_to_room`], on this client's server.
    pub(super) fn listen_at(&mut self, room: Room) {
        self.listening = Listening {
            number: self.listening.number + 1,
            began: Instant::now(),
            heard: Instant::now(),
            again: None,
            moved: self.listening.moved,
        };
        let stream = self.listening.number;
        let mailbox = self.mailbox.clone();
        let mut query = format!("kind=native&name={}", escaped(&self.own.name));
        let own = self.own.identity.clone();
        if let Some(own) = &own {
            query.push_str(&format!("&id={}", escaped(&own.id)));
        }
        thread::spawn(move || {
            let told = mailbox.clone();
            // One event at a time; further ones wait in TCP.
            let ended = room.events(&query, own.as_ref(), move |event| {
                let (heard, goes_on) = channel();
                told.send(CallMessage::Room(stream, event, heard)) && goes_on.recv() == Ok(true)
            });
            let error = ended.err().unwrap_or_else(|| SignallingError::Unreachable {
                url: "the room".to_owned(),
                error: "its event stream ended".to_owned(),
            });
            mailbox.send(CallMessage::RoomLost(stream, error));
        });
    }

    /// Reconnects the event stream when it is due.
    pub(super) fn listen_again(&mut self, now: Instant) {
        if self.listening.again.is_some_and(|at| now >= at) {
            self.listen_to_room();
        } else if self.listening.is_silent(now) {
            self.queues.room.on_silence();
            if self.fault.begins(now, "silence") {
                self.emit(Event::RoomSilent);
            }
            self.listen_to_room();
        }
    }

    pub(super) fn on_room_lost(
        &mut self,
        stream: u32,
        error: SignallingError,
    ) -> Result<(), ConnectError> {
        if stream != self.listening.number {
            return Ok(());
        }
        if self.handover.cancel() {
            // The other server did not admit us; the present one still has us.
            self.listen_to_room();
            return Ok(());
        }
        if !error.is_passing() || self.own.identity.is_none() {
            return Err(error.into());
        }
        self.on_fault(error);
        let now = Instant::now();
        match self.listening.has_lasted(now) {
            true => self.listen_to_room(),
            false => self.listening.again = Some(now + RETRY),
        }
        Ok(())
    }

    /// Handles an event of the present stream.
    pub(super) fn on_room(&mut self, event: RoomEvent) -> Result<(), ConnectError> {
        let now = Instant::now();
        self.listening.heard = now;
        self.on_answer();
        match event {
            RoomEvent::Welcome {
                own,
                participants,
                turn_servers,
            } => {
                self.remote.send(Command::NameTurnServers(turn_servers));
                self.on_welcome(own, participants);
            }
            RoomEvent::TurnServers(servers) => {
                self.remote.send(Command::NameTurnServers(servers));
            }
            RoomEvent::Waiting(own) => self.on_waiting(own),
            RoomEvent::Changed(participant) => {
                if Some(&participant.id) == self.own.identity.as_ref().map(|own| &own.id) {
                    self.on_own(&participant);
                } else {
                    self.take_in(participant);
                }
            }
            RoomEvent::Left(id) => self.on_left(&id),
            RoomEvent::Wanted(wanted) => self.on_wanted(&wanted),
            RoomEvent::Reception(resource, viewing) => self.on_reception_news(&resource, viewing),
            RoomEvent::ConnectionEnded(resource) => self.on_connection_ended(&resource),
            RoomEvent::Move(url) => self.on_move(&url),
            RoomEvent::Alive => return Ok(()),
        }
        self.catch_up(now);
        Ok(())
    }

    fn on_welcome(&mut self, own: Identity, participants: Vec<Participant>) {
        let all = participants.into_iter().map(|p| (p.id.clone(), p));
        let mut all: BTreeMap<String, Participant> = all.collect();
        let shown = all.remove(&own.id);
        self.handover.forget_ourselves(&mut all);
        let gone = self.others.keys().filter(|id| !all.contains_key(*id));
        for id in gone.cloned().collect::<Vec<_>>() {
            self.on_left(&id);
        }
        all.into_values().for_each(|p| self.take_in(p));
        let admitted = std::mem::take(&mut self.own.waits);
        if self.own.identity.as_ref() != Some(&own) || admitted {
            // The server does not recognise us: it restarted, or we were away for long.
            // Our connections are gone, unless this is a move.
            if !self.move_in() {
                self.end_connections();
            }
            let id = own.id.clone();
            self.own.identity = Some(own);
            if admitted {
                self.emit(Event::Admitted);
            }
            self.emit(Event::Joined { id });
        } else {
            self.handover.cancel();
            self.refresh_view();
        }
        if let Some(shown) = shown {
            self.on_own(&shown);
        }
    }

    fn on_waiting(&mut self, own: Identity) {
        if !std::mem::replace(&mut self.own.waits, true) {
            self.emit(Event::WaitingForAdmission);
        }
        if self.own.identity.as_ref() != Some(&own) {
            if !self.move_in() {
                self.end_connections();
            }
            self.own.identity = Some(own);
        }
    }

    /// Asks another server for admission, because the present one is about to stop.
    fn on_move(&mut self, url: &str) {
        let now = Instant::now();
        let is_busy = !matches!(self.handover, Handover::None);
        if is_busy || self.own.identity.is_none() || !self.listening.may_move(now) {
            return;
        }
        self.listening.moved = Some(now);
        match self.queues.room.elsewhere(url) {
            Ok(to) => {
                let stream = self.listening.number;
                self.emit(Event::Moving {
                    url: url.to_owned(),
                });
                self.listen_at(to.clone());
                self.handover = Handover::Asked { to, stream };
            }
            Err(error) => self.on_fault(error),
        }
    }

    /// Switches to the other server after it has admitted us, and keeps the connections
    /// to the former one; returns whether this is a move.
    fn move_in(&mut self) -> bool {
        match (std::mem::take(&mut self.handover), &self.own.identity) {
            (Handover::Asked { to, stream }, Some(own)) => {
                let room = std::mem::replace(&mut self.queues.room, to);
                let publication = std::mem::take(&mut self.publication);
                let reception = std::mem::take(&mut self.reception);
                let connections = (publication, reception);
                self.handover
                    .leave(own.clone(), (room, stream), connections);
                true
            }
            (other, _) => {
                self.handover = other;
                false
            }
        }
    }

    /// The server has ended a connection; sets it up again at once instead of waiting
    /// until its paths are silent.
    fn on_connection_ended(&mut self, resource: &str) {
        let connection = self.publication.connection();
        if connection.is_some_and(|c| c.is_resource(resource)) {
            self.emit(Event::PublicationEnded);
            self.end_publication();
        }
        let reception = self.reception.made();
        if reception.is_some_and(|made| made.connection.is_resource(resource)) {
            self.stop_receiving();
        }
    }

    fn on_left(&mut self, id: &str) {
        if let Some(gone) = self.others.remove(id) {
            self.emit(Event::ParticipantLeft(gone));
        }
    }

    /// Adds or updates a participant. Newcomers beyond [`MAX_KNOWN`] are
    /// ignored.
    fn take_in(&mut self, participant: Participant) {
        let id = participant.id.clone();
        if self.handover.is_ours(&id) {
            return;
        }
        if self.others.len() >= MAX_KNOWN && !self.others.contains_key(&id) {
            return;
        }
        let before = self.others.insert(id, participant.clone());
        match before {
            None => self.emit(Event::ParticipantCame(participant)),
            Some(before) if before != participant => {
                self.emit(Event::ParticipantChanged(participant));
            }
            Some(_) => {}
        }
    }

    /// Handles the server's state of our participant. It may be the only sign that the
    /// server ended our publication for inactivity.
    fn on_own(&mut self, own: &Participant) {
        if self.own.muted != own.muted {
            self.own.muted = own.muted;
            self.mute();
            self.emit(match own.muted {
                true => Event::Muted,
                false => Event::Unmuted,
            });
        }
        // Muted or switched-off sources are not listed.
        let hidden = own.muted || !self.sends_everything();
        let shown = !own.publishing.is_nothing() || hidden;
        if self.publication.shown && !shown {
            self.emit(Event::PublicationEnded);
            self.end_publication();
        }
        self.publication.shown = shown;
    }

    /// Makes the missing connections.
    pub(super) fn catch_up(&mut self, now: Instant) {
        self.publish(now);
        self.receive(now);
    }

    /// Ends our publication and reception.
    pub(super) fn end_connections(&mut self) {
        self.stop_receiving();
        self.end_publication();
    }
}
