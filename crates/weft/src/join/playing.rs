//! Everybody else: one connection plays one participant.

use std::time::Instant;

use weft_peer::{Direction, Section};
use weft_server::MAX_CAMERAS;

use super::call::{Call, RETRY};
use super::fault::Fault;
use super::inbox::{Ticket, Wish};
use weft_endpoint::caller::News;
use weft_endpoint::connect::{ConnectError, Connection, connect};
use weft_endpoint::signalling::{Participant, Publishing};
use weft_units::MediaKind;

/// A connection that plays a participant, or is to.
pub(super) struct Player {
    /// What was asked for, as they published then.
    pub wanted: Publishing,
    state: State,
    fault: Fault,
}

enum State {
    Asked(Ticket),
    Made(Ticket, Connection),
    /// Failed, and tried again then.
    Missing(Instant),
}

impl Player {
    fn has(&self, ticket: Ticket) -> bool {
        matches!(self.state, State::Asked(own) | State::Made(own, _) if own == ticket)
    }

    fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, State::Missing(at) if now >= at)
    }
}

impl Call {
    /// Plays everybody who publishes and is not played yet.
    pub(super) fn play_missing(&mut self, now: Instant) {
        if !self.own.receiving {
            return;
        }
        let due = |p: &&Participant| {
            !p.publishing.is_nothing() && self.players.get(&p.id).is_none_or(|old| old.is_due(now))
        };
        for participant in self
            .others
            .values()
            .filter(due)
            .cloned()
            .collect::<Vec<_>>()
        {
            self.play(&participant);
        }
    }

    fn play(&mut self, participant: &Participant) {
        let wanted = participant.publishing.clone();
        let section = |kind| Section::new(kind, Direction::Receive);
        let cameras = wanted.cameras.iter().take(MAX_CAMERAS);
        let cameras = cameras.map(|_| section(MediaKind::Video));
        let sound = wanted.audio.then(|| section(MediaKind::Audio));
        let sections: Vec<Section> = cameras.chain(sound).collect();
        let (ticket, id) = (self.ticket(), participant.id.clone());
        let (room, remote) = (self.desks.room.clone(), self.remote.clone());
        let (mailbox, news) = (self.mailbox.clone(), self.mailbox.listener(ticket));
        let taken = self.desks.connections.take(move || {
            let made = connect(&remote, sections, news, |offer| room.play(&id, offer));
            mailbox.send(Wish::Made(ticket, made));
        });
        if taken {
            let before = self.players.remove(&participant.id);
            let player = Player {
                wanted,
                state: State::Asked(ticket),
                fault: before.map(|p| p.fault).unwrap_or_default(),
            };
            self.players.insert(participant.id.clone(), player);
        }
    }

    /// Whom the connection of this ticket plays.
    pub(super) fn player_of(&self, ticket: Ticket) -> Option<String> {
        let found = self.players.iter().find(|(_, player)| player.has(ticket));
        found.map(|(id, _)| id.clone())
    }

    pub(super) fn on_played(&mut self, id: &str, made: Result<Connection, ConnectError>) {
        let Some(player) = self.players.get_mut(id) else {
            return;
        };
        let State::Asked(ticket) = player.state else {
            return;
        };
        let error = match made {
            Ok(connection) => {
                player.state = State::Made(ticket, connection);
                player.fault.ends(Instant::now());
                if let (Some(recording), Some(participant)) =
                    (&mut self.outlets.recording, self.others.get(id))
                {
                    recording.begin(participant);
                }
                return;
            }
            Err(error) => error,
        };
        let now = Instant::now();
        player.state = State::Missing(now + RETRY);
        // They may be about to publish: that is tried again without a word.
        let passing = matches!(&error, ConnectError::Signalling(e) if e.is_passing());
        if !passing && player.fault.begins(now, &error.to_string()) {
            let name = self.others.get(id).map_or(id, |p| &p.name);
            complain!("weft: cannot receive `{name}`: {error}; trying again");
        }
    }

    pub(super) fn on_player(&mut self, ticket: Ticket, news: News) {
        let Some(id) = self.player_of(ticket) else {
            return;
        };
        match news {
            News::Frame { track, frame, at } => {
                if let Some(recording) = &mut self.outlets.recording {
                    recording.take(&id, track, at, &frame);
                }
                if let Some(stats) = &mut self.outlets.stats {
                    stats.on_frame(&id, track, at, &frame);
                }
            }
            News::Failed(reason) => {
                let name = self.others.get(&id).map_or(id.as_str(), |p| &p.name);
                complain!("weft: receiving `{name}` failed ({reason}); trying again");
                self.stop_playing(&id);
            }
            News::Ended => self.stop_playing(&id),
            News::Connected | News::Path { .. } => {}
        }
    }

    pub(super) fn stop_playing(&mut self, id: &str) {
        if let Some(Player {
            state: State::Made(_, connection),
            ..
        }) = self.players.remove(id)
        {
            self.end(connection);
        }
        if let Some(recording) = &mut self.outlets.recording {
            recording.end(id);
        }
    }
}
