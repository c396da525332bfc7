//! Rooms that span several servers: messages from the others about their participants,
//! and the media of theirs that is needed here.

use super::Hub;
use super::bars::Bar;
use super::cluster::{Action, ActionWanted, ClusterEvent, Removal, cluster_message};
use super::recorded::notify_of_recording;
use crate::media_plane::Sound;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use weft_rooms::{Publishing, RoomState};
use weft_units::Duration;

/// Publication of another server that has players here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PullWanted {
    /// Name of the server.
    pub(crate) node: String,
    pub(crate) publishing: Publishing,
}

impl Hub {
    /// Performs an action on a participant of this server for a moderator of another one.
    /// Returns the removed participant. Can be repeated without harm.
    pub(crate) fn act(&self, wanted: ActionWanted) -> Option<Removal> {
        let ActionWanted { room, id, action } = wanted;
        let mut state = self.lock();
        state.registry.presence(&room, &id)?;
        let removed = match action {
            Action::Mute => {
                self.set_muted(&mut state, &room, &id, Sound::Muted);
                None
            }
            Action::Admit => {
                state.registry.admit(&room, &id);
                None
            }
            Action::Remove { millis } => {
                let length = millis.map(Duration::from_millis);
                Some(self.remove_here(&mut state, &room, id, length))
            }
        };
        self.publish_changes(&mut state);
        removed
    }

    /// Handles an event of another server.
    pub(crate) fn hear(&self, node: &str, event: ClusterEvent) {
        let mut state = self.lock();
        let now = self.clock.now();
        match event {
            ClusterEvent::Present { room, presence } => {
                let epoch = self.ids.fresh();
                state.registry.place(&room, node, presence, &epoch);
            }
            ClusterEvent::Left { room, id } => state.registry.displace(&room, node, &id),
            ClusterEvent::Said { room, message } => {
                state.registry.take_message(now, &room, &message);
            }
            ClusterEvent::Reacted { room, id, reaction } => {
                if state.registry.server_of(&room, &id) == Some(node) {
                    state.registry.react(&room, &id, reaction);
                }
            }
            ClusterEvent::Settings {
                room,
                settings,
                version,
            } => state.registry.take_settings(&room, settings, version),
            ClusterEvent::Recorder { room, recorder } => {
                if state.registry.take_recorder(&room, recorder) {
                    self.follow_recorder(&mut state, &room);
                }
            }
            ClusterEvent::RecordingError { room, error } => {
                notify_of_recording(&mut state, &room, &error);
            }
            ClusterEvent::Barred { room, bar, millis } => {
                let length = Duration::from_millis(millis);
                state.bars.add(now, &room, bar, length);
            }
            ClusterEvent::Closed { room, millis } => {
                self.close_here(&mut state, &room, Duration::from_millis(millis));
            }
            // The hub does not keep the list of tokens.
            ClusterEvent::Revoked { .. } => {}
        }
        self.publish_changes(&mut state);
    }

    /// Applies another server's state of its participants in some rooms.
    pub(crate) fn hear_rooms(&self, node: &str, rooms: Vec<RoomState>) {
        let mut state = self.lock();
        let now = self.clock.now();
        for room in rooms {
            let epoch = self.ids.fresh();
            let name = room.room.clone();
            state.registry.set_elsewhere(now, node, room, &epoch);
            self.follow_recorder(&mut state, &name);
        }
        self.publish_changes(&mut state);
    }

    /// Rules that keep people out of rooms, each with the remaining milliseconds.
    pub(crate) fn bars(&self) -> Vec<(String, Bar, u64)> {
        let now = self.clock.now();
        self.lock().bars.left(now)
    }

    /// Adds the rules of another server.
    pub(crate) fn take_bars(&self, bars: Vec<(String, Bar, u64)>) {
        let mut state = self.lock();
        let now = self.clock.now();
        for (room, bar, millis) in bars {
            let length = Duration::from_millis(millis);
            state.bars.add(now, &room, bar, length);
        }
    }

    /// Forgets the participants of another server except in these rooms.
    pub(crate) fn forget_elsewhere(&self, node: &str, except: &[String]) {
        let mut state = self.lock();
        let kept = |room: &str| except.iter().any(|kept| kept == room);
        state.registry.displace_all(node, kept);
        self.publish_changes(&mut state);
    }

    /// Returns the state of rooms with participants here, in order of name, after the one with
    /// this name, up to about this many bytes; and the name of the last one if there are more.
    pub(crate) fn rooms_after(&self, after: &str, most: usize) -> (Vec<RoomState>, Option<String>) {
        let mut state = self.lock();
        let now = self.clock.now();
        let names: Vec<String> = state.registry.rooms().map(str::to_owned).collect();
        let (mut rooms, mut size) = (Vec::new(), 0);
        for name in names.into_iter().filter(|name| name.as_str() > after) {
            let Some(mut room) = state.registry.state_of(now, &name) else {
                continue;
            };
            // Link reports are repeated every second, and may be longer than everything else.
            let participants = room.participants.iter_mut();
            participants.for_each(|p| p.participant.links.clear());
            size += serde_json::to_string(&room).map_or(0, |json| json.len());
            rooms.push(room);
            if size >= most {
                return (rooms, Some(name));
            }
        }
        (rooms, None)
    }

    /// Records whether the other servers can be heard, and informs the participants.
    pub(crate) fn set_reachable(&self, is_reachable: bool) {
        let Some(cluster) = &self.cluster else {
            return;
        };
        cluster.is_reachable.store(is_reachable, Ordering::Relaxed);
        if is_reachable {
            let mut state = self.lock();
            let told = cluster_message(is_reachable);
            let feeds = &mut state.feeds;
            feeds.retain(|feed| feed.sender.try_send(told.clone()).is_ok());
        }
    }

    /// Returns the publications of other servers that have players here or that this
    /// server records, by room and id.
    pub(crate) fn pulls_wanted(&self) -> BTreeMap<(String, String), PullWanted> {
        if let Some(cluster) = &self.cluster {
            cluster.is_noticed.store(false, Ordering::Relaxed);
        }
        let state = self.lock();
        let mut wanted = BTreeMap::new();
        let recorded = state.recorded.iter().map(|room| (&**room, None));
        for (room, played) in state.resources.played().chain(recorded) {
            for (who, node) in state.registry.elsewhere(room) {
                let is_played = played.is_none_or(|played| *played == who.id);
                if is_played && !who.publishing.is_nothing() {
                    let place = (room.to_owned(), who.id.clone());
                    let pull = PullWanted {
                        node: node.to_owned(),
                        publishing: who.publishing.clone(),
                    };
                    wanted.insert(place, pull);
                }
            }
        }
        wanted
    }

    /// Whether a participant is on another server.
    pub(crate) fn is_elsewhere(&self, room: &str, id: &str) -> bool {
        self.lock().registry.server_of(room, id).is_some()
    }
}
