//! Playback of the other participants, one connection each.

use std::collections::BTreeMap;
use std::time::Instant;

use weft_peer::{Section, StreamDirection};
use weft_rooms::MAX_CAMERAS;
use weft_session::ReceivedFrame;
use weft_units::MediaKind;

use super::inbox::{CallMessage, Ticket};
use super::player::{Player, PlayerState};
use super::room::MAX_KNOWN;
use super::run::{Answer, CallLoop, RETRY};
use crate::caller::{News, Track};
use crate::connect::{ConnectError, Connection, connect};
use crate::event::{Event, PlayedFrame};
use crate::signalling::Participant;

/// Maximum number of participants played at once: more than a room has by
/// default (`--max-participants`). Chosen by us.
const MAX_PLAYED: usize = 128;

impl CallLoop {
    /// Starts playback of all participants who publish and are not played yet.
    pub(super) fn play_missing(&mut self, now: Instant) {
        let wanted = |p: &&Participant| {
            self.own.receiving.includes(&p.name)
                && !p.publishing.is_nothing()
                && self.players.get(&p.id).is_none_or(|old| old.is_due(now))
        };
        let due: Vec<Participant> = self.others.values().filter(wanted).cloned().collect();
        for participant in due {
            let is_new = !self.players.contains_key(&participant.id);
            if is_new && self.players.len() >= MAX_PLAYED {
                self.on_crowd();
            } else if self.attempts.take(now) {
                self.play(&participant);
            }
        }
    }

    /// Reports, once, that a participant cannot be played because the call is
    /// full.
    fn on_crowd(&mut self) {
        if self.attempts.first_refused() {
            self.emit(Event::Crowded { played: MAX_PLAYED });
        }
    }

    fn play(&mut self, participant: &Participant) {
        let wanted = participant.publishing.clone();
        let section = |kind| Section::new(kind, StreamDirection::Receive);
        let cameras = wanted.cameras.iter().take(MAX_CAMERAS);
        let cameras = cameras.map(|_| section(MediaKind::Video));
        let sound = wanted.audio.then(|| section(MediaKind::Audio));
        let sections: Vec<Section> = cameras.chain(sound).collect();
        let (ticket, id) = (self.ticket(), participant.id.clone());
        let (room, remote) = (self.queues.room.clone(), self.remote.clone());
        let (mailbox, news) = (self.mailbox.clone(), self.mailbox.listener(ticket));
        let own = self.own.identity.clone();
        let taken = self.queues.connections.push(move || {
            let made = connect(&remote, sections, news, |offer| {
                room.play(&id, own.as_ref(), offer)
            });
            mailbox.send(CallMessage::Made(ticket, made));
        });
        if taken {
            let before = self.players.remove(&participant.id);
            let player = Player {
                wanted,
                state: PlayerState::Asked(ticket),
                fault: before.map(|p| p.fault).unwrap_or_default(),
                links: BTreeMap::new(),
            };
            self.players.insert(participant.id.clone(), player);
        }
    }

    /// Participant that the connection of this ticket plays.
    pub(super) fn player_of(&self, ticket: Ticket) -> Option<String> {
        let found = self.players.iter().find(|(_, player)| player.has(ticket));
        found.map(|(id, _)| id.clone())
    }

    pub(super) fn on_played(&mut self, id: &str, made: Result<Connection, ConnectError>) {
        let Some(player) = self.players.get_mut(id) else {
            return;
        };
        let PlayerState::Asked(ticket) = player.state else {
            return;
        };
        let error = match made {
            Ok(connection) => {
                player.state = PlayerState::Made(ticket, connection);
                player.fault.ends(Instant::now());
                if let Some(participant) = self.others.get(id) {
                    self.emit(Event::Playing(participant.clone()));
                }
                return;
            }
            Err(error) => error,
        };
        let now = Instant::now();
        player.state = PlayerState::Missing(now + RETRY);
        // The participant may be about to publish; retry without an event.
        let passing = matches!(&error, ConnectError::Signalling(e) if e.is_passing());
        if !passing && player.fault.begins(now, &error.to_string()) {
            let name = self.name_of(id);
            self.emit(Event::CannotPlay { name, error });
        }
    }

    pub(super) fn on_player(&mut self, ticket: Ticket, news: News) {
        let Some(id) = self.player_of(ticket) else {
            if let News::Frame { frame, .. } = news {
                self.mailbox.frames().release(frame.data.len());
            }
            return;
        };
        match news {
            News::Frame { track, frame, at } => {
                let links = self.players.get(&id).map(|p| p.links_of(&frame));
                self.count(&id, track, at, &frame);
                self.emit(Event::Frame(PlayedFrame {
                    from: id,
                    track,
                    at,
                    frame,
                    links: links.unwrap_or_default(),
                }));
            }
            News::Failed(reason) => {
                let name = self.name_of(&id);
                self.emit(Event::PlayingFailed { name, reason });
                self.stop_playing(&id);
            }
            News::Ended => self.stop_playing(&id),
            News::Path { path, link, .. } => {
                if let Some(player) = self.players.get_mut(&id) {
                    player.links.insert(path, link);
                }
            }
            News::Connected => self.answer = Answer::Had,
            News::Unanswered => self.on_unanswered(),
        }
    }

    fn count(&mut self, id: &str, track: Track, at: weft_units::Instant, frame: &ReceivedFrame) {
        if self.received.len() >= MAX_KNOWN && !self.received.contains_key(id) {
            let others = &self.others;
            self.received.retain(|id, _| others.contains_key(id));
        }
        let received = self.received.entry(id.to_owned()).or_default();
        received.on_frame(track, at, frame);
    }

    /// Name of a participant, or their id after they have left.
    fn name_of(&self, id: &str) -> String {
        let other = self.others.get(id);
        other.map_or_else(|| id.to_owned(), |p| p.name.clone())
    }

    pub(super) fn stop_playing(&mut self, id: &str) {
        let Some(player) = self.players.remove(id) else {
            return;
        };
        if let PlayerState::Made(_, connection) = player.state {
            self.end(connection);
            let id = id.to_owned();
            self.emit(Event::PlayingEnded { id });
        }
    }
}
