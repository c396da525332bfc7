//! State of the relays between this plane and the others.

use crate::relay::{Message, PlaneId, Relayed};
use crate::routing::TrackId;
use std::collections::{BTreeMap, VecDeque};
use weft_wire::media::MediaPacket;

/// Track of another plane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Import {
    pub(crate) plane: PlaneId,
    /// Its name there.
    remote: TrackId,
    /// Whether its packets are requested.
    pub(crate) wanted: bool,
}

/// Both sides of the relays between this plane and the others.
#[derive(Debug, Default)]
pub(crate) struct Relays {
    /// Tracks of other planes, by their local names, with their remote ones.
    pub(crate) imports: BTreeMap<TrackId, Import>,
    pub(crate) names: BTreeMap<(PlaneId, TrackId), TrackId>,
    /// Planes that want a track of this one.
    pub(crate) exports: BTreeMap<TrackId, Vec<PlaneId>>,
    pub(crate) messages: VecDeque<(PlaneId, Relayed)>,
}

impl Relays {
    pub(crate) fn send(&mut self, to: PlaneId, message: Message) {
        self.messages.push_back((to, Relayed(message)));
    }

    pub(crate) fn poll(&mut self) -> Option<(PlaneId, Relayed)> {
        self.messages.pop_front()
    }

    /// Tracks that have viewers on other planes.
    pub(crate) fn exported(&self) -> impl Iterator<Item = TrackId> {
        self.exports.keys().copied()
    }

    /// Sends a packet to the planes that have viewers of its track.
    pub(crate) fn export(&mut self, track: TrackId, packet: &MediaPacket) {
        for plane in self.exports.get(&track).into_iter().flatten() {
            let packet = packet.clone();
            let message = Message::Packet { track, packet };
            self.messages.push_back((*plane, Relayed(message)));
        }
    }

    /// Requests these tracks for players here.
    pub(crate) fn want(&mut self, tracks: &[TrackId]) {
        for track in tracks {
            self.set_wanted(*track, true);
        }
    }

    pub(crate) fn set_wanted(&mut self, track: TrackId, wanted: bool) {
        let Some(import) = self.imports.get_mut(&track) else {
            return;
        };
        let Import { plane, remote, .. } = *import;
        if std::mem::replace(&mut import.wanted, wanted) != wanted {
            let track = remote;
            self.send(plane, Message::Wanted { track, wanted });
        }
    }

    /// Asks the plane of a track for a keyframe, if it is another one.
    pub(crate) fn request_keyframe(&mut self, track: TrackId) {
        if let Some(Import { plane, remote, .. }) = self.imports.get(&track).copied() {
            self.send(plane, Message::KeyframeWanted { track: remote });
        }
    }

    /// Takes the track from another plane from now on.
    pub(crate) fn import(&mut self, track: TrackId, plane: PlaneId, remote: TrackId) {
        let known = self.imports.get(&track);
        if known.is_some_and(|import| (import.plane, import.remote) == (plane, remote)) {
            return;
        }
        self.release(track);
        let import = Import {
            plane,
            remote,
            wanted: false,
        };
        self.imports.insert(track, import);
        self.names.insert((plane, remote), track);
    }

    /// Ends the import of the track from another plane.
    pub(crate) fn release(&mut self, track: TrackId) {
        self.set_wanted(track, false);
        if let Some(Import { plane, remote, .. }) = self.imports.remove(&track) {
            self.names.remove(&(plane, remote));
        }
    }

    /// Number of tracks from other planes: by local and by remote name.
    pub(crate) fn count(&self) -> [usize; 2] {
        [self.imports.len(), self.names.len()]
    }
}
