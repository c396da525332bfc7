//! The main loop: what came, what should be there, the figures.

use std::collections::BTreeMap;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use weft_net::Remote;
use weft_peer::Section;

use super::desk::Desk;
use super::fault::Fault;
use super::inbox::{Inbox, Mailbox, Ticket, Wish};
use super::playing::Player;
use super::publishing::Publication;
use super::record::Recording;
use super::room::Listening;
use crate::exit::Failure;
use crate::statistics::{self, StatsFile};
use weft_endpoint::caller::{Command, ask};
use weft_endpoint::connect::{ConnectError, Connection};
use weft_endpoint::signalling::{Identity, Participant, Room, SignallingError};

/// Between attempts to reach the server or to play somebody again.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// Between figures for the room and the statistics file.
const FIGURES: Duration = Duration::from_secs(1);
/// For the last requests, when the call ends. The server finds out by itself,
/// too, and Ctrl-C is to end the program within a second.
const LAST_REQUESTS: Duration = Duration::from_millis(500);
/// Requests that may wait: a room's worth of participants.
const ERRANDS: usize = 128;

/// Who we are and what we want.
pub struct Myself {
    pub name: String,
    /// What is published.
    pub sections: Vec<Section>,
    pub receiving: bool,
    pub identity: Option<Identity>,
}

/// Where things are written.
pub struct Outlets {
    pub recording: Option<Recording>,
    pub stats: Option<StatsFile>,
}

/// The server's room, and who asks it.
pub(super) struct Desks {
    pub room: Room,
    pub connections: Desk,
    /// One set waits at most; the next replaces what could not be told.
    figures: Desk,
}

/// A call that is going on.
pub struct Call {
    pub(super) desks: Desks,
    pub(super) remote: Remote<Command>,
    pub(super) mailbox: Mailbox,
    pub(super) own: Myself,
    pub(super) outlets: Outlets,
    pub(super) listening: Listening,
    pub(super) publication: Publication,
    pub(super) players: BTreeMap<String, Player>,
    pub(super) others: BTreeMap<String, Participant>,
    /// With the server.
    pub(super) fault: Fault,
    next_ticket: u64,
    started: Instant,
}

impl Call {
    pub fn new(
        room: Room,
        remote: Remote<Command>,
        mailbox: Mailbox,
        own: Myself,
        outlets: Outlets,
    ) -> Call {
        Call {
            desks: Desks {
                room,
                connections: Desk::open(ERRANDS),
                figures: Desk::open(1),
            },
            remote,
            mailbox,
            own,
            outlets,
            listening: Listening::default(),
            publication: Publication::default(),
            players: BTreeMap::new(),
            others: BTreeMap::new(),
            fault: Fault::default(),
            next_ticket: 0,
            started: Instant::now(),
        }
    }

    pub fn run(&mut self, inbox: &Inbox, limit: Option<Duration>) -> Result<(), Failure> {
        self.listen_to_room();
        let end = limit.map(|l| self.started + l);
        let mut next_figures = Instant::now() + FIGURES;
        loop {
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            if now >= next_figures {
                next_figures = now + FIGURES;
                self.tell_figures(inbox.dropped_frames());
                self.listen_again(now);
                self.catch_up(now);
            }
            let mut wait = next_figures.saturating_duration_since(now);
            if let Some(end) = end {
                wait = wait.min(end - now);
            }
            match inbox.next(wait) {
                Ok(Wish::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(wish) => self.on_wish(wish)?,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn on_wish(&mut self, wish: Wish) -> Result<(), Failure> {
        match wish {
            Wish::Room(stream, event) => self.on_room(stream, event),
            Wish::RoomLost(stream, error) => self.on_room_lost(stream, error),
            Wish::Made(ticket, made) => self.on_made(ticket, made),
            Wish::News(ticket, news) => {
                if self.publication.has(ticket) {
                    self.on_publication(news);
                } else {
                    self.on_player(ticket, news);
                }
                Ok(())
            }
            Wish::End => Ok(()),
        }
    }

    fn on_made(
        &mut self,
        ticket: Ticket,
        made: Result<Connection, ConnectError>,
    ) -> Result<(), Failure> {
        if self.publication.has(ticket) {
            return self.on_published(made);
        }
        match (self.player_of(ticket), made) {
            (Some(id), made) => self.on_played(&id, made),
            // Nobody wants it any more.
            (None, Ok(connection)) => self.end(connection),
            (None, Err(_)) => {}
        }
        Ok(())
    }

    /// Makes the connections that should be there.
    pub(super) fn catch_up(&mut self, now: Instant) {
        self.publish(now);
        self.play_missing(now);
    }

    pub(super) fn ticket(&mut self) -> Ticket {
        self.next_ticket += 1;
        Ticket(self.next_ticket)
    }

    /// Ends a connection here, and there when its turn comes. The server
    /// forgets by itself what it is not told to.
    pub(super) fn end(&mut self, connection: Connection) {
        self.remote.send(Command::Close(connection.peer));
        let room = self.desks.room.clone();
        let location = connection.location;
        self.desks.connections.take(move || {
            let _ = room.delete(&location);
        });
    }

    /// The server cannot be reached, or not yet.
    pub(super) fn on_fault(&mut self, error: &SignallingError) {
        let now = Instant::now();
        if self.fault.begins(now, &error.kind()) {
            complain!("weft: {error}; trying again");
        }
    }

    pub(super) fn on_answer(&mut self) {
        if let Some(lasted) = self.fault.ends(Instant::now()) {
            let seconds = lasted.as_secs_f64();
            complain!("weft: the server answers again after {seconds:.0} s");
        }
    }

    /// Tells the room how the links are, and the statistics file everything.
    fn tell_figures(&mut self, dropped_frames: u64) {
        let Ok(reports) = ask(&self.remote, Command::Report) else {
            return;
        };
        if let Some(publication) = self.publication.connection() {
            let own = reports.iter().find(|r| r.peer == publication.peer);
            if let Some(own) = own.filter(|r| r.connected) {
                let figures = statistics::links(own);
                let (room, location) = (self.desks.room.clone(), publication.location.clone());
                self.desks.figures.take(move || {
                    let _ = room.put_links(&location, &figures);
                });
            }
        }
        let refused = self.desks.connections.refused() + self.desks.figures.refused();
        if let Some(stats) = &mut self.outlets.stats {
            stats.set_dropped(dropped_frames, refused);
            stats.write(self.started.elapsed(), &reports);
        }
    }

    pub(super) fn end_connections(&mut self) {
        for id in self.players.keys().cloned().collect::<Vec<_>>() {
            self.stop_playing(&id);
        }
        self.end_publication();
    }

    /// Says goodbye, as far as it is heard in time. An error: what was to be
    /// written is not whole.
    pub fn leave(mut self) -> Result<(), Failure> {
        self.end_connections();
        self.remote.send(Command::Stop);
        self.desks.connections.close(LAST_REQUESTS);
        let recording = self.outlets.recording.map_or(Ok(()), Recording::finish);
        recording.and(self.outlets.stats.map_or(Ok(()), StatsFile::finish))
    }
}
