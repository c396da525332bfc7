//! Tracks from other planes, and tracks sent to them.

use crate::publication::{Origin, Publication};
use crate::relay::{Announced, PlaneId};
use crate::routing::TrackId;
use crate::traffic::Traffic;
use std::collections::BTreeSet;
use weft_peer::PeerSet;
use weft_units::Instant;
use weft_wire::media::MediaPacket;

impl Traffic {
    /// Takes a publication from another plane from now on.
    pub(crate) fn import(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        publication: &mut Publication,
        (plane, announced): (PlaneId, Announced),
    ) {
        let origin = Origin::Plane(plane, announced.source);
        let places = (&announced.places(), announced.streams.clone());
        let own = publication.switch_source(now, &mut self.router, origin, places);
        publication.set_streams(announced.streams);
        let remote = announced
            .tracks
            .into_iter()
            .flat_map(|(_, _, encodings)| encodings);
        for (track, remote) in own.iter().zip(remote) {
            self.remove_incoming(*track);
            self.relays.import(*track, plane, remote);
        }
        self.forget_removed();
        let carried = self.carried(&own);
        self.relays.want(&carried);
        for player in publication.players() {
            self.subscribe(now, peers, publication, player);
        }
        self.deliver(now, peers);
    }

    /// Ends the import of a publication from another plane.
    pub(crate) fn end_import(&mut self, publication: &Publication) {
        for track in publication.track_ids() {
            self.relays.release(track);
        }
    }

    /// Handles a packet of another plane's track.
    pub(crate) fn on_relayed(
        &mut self,
        now: Instant,
        peers: &mut PeerSet,
        (plane, remote): (PlaneId, TrackId),
        packet: MediaPacket,
    ) {
        let Some(track) = self.relays.names.get(&(plane, remote)).copied() else {
            return;
        };
        if !self.is_muted(track) {
            self.pass(now, peers, track, packet);
        }
    }

    /// Handles missing packets of another plane: its tracks continue with keyframes.
    pub(crate) fn on_interrupted(&mut self, now: Instant, peers: &mut PeerSet, plane: PlaneId) {
        let from = self.relays.imports.iter();
        let from = from.filter(|(_, import)| import.plane == plane && import.wanted);
        for track in from.map(|(track, _)| *track).collect::<Vec<_>>() {
            self.router.switch_source(now, track);
        }
        self.deliver(now, peers);
    }

    /// Records whether another plane has viewers of a track.
    pub(crate) fn set_exported(&mut self, plane: PlaneId, track: TrackId, wanted: bool) {
        if self.router.codec(track).is_none() {
            return;
        }
        let planes = self.relays.exports.entry(track).or_default();
        planes.retain(|known| *known != plane);
        planes.extend(wanted.then_some(plane));
        if planes.is_empty() {
            self.relays.exports.remove(&track);
        }
    }

    /// Requests a keyframe of a track for a viewer of another plane.
    pub(crate) fn on_keyframe_wanted(&mut self, now: Instant, peers: &mut PeerSet, track: TrackId) {
        self.router.want_keyframe(now, track);
        self.deliver(now, peers);
    }

    /// Removes another plane.
    pub(crate) fn unlink(&mut self, plane: PlaneId) {
        for planes in self.relays.exports.values_mut() {
            planes.retain(|known| *known != plane);
        }
        self.relays.exports.retain(|_, planes| !planes.is_empty());
        self.relays.messages.retain(|(to, _)| *to != plane);
        self.elsewhere.remove(&plane);
    }

    /// Stops tracks of other planes that no longer have players here.
    pub(crate) fn drop_unwanted(&mut self) {
        let imports = self.relays.imports.iter();
        let wanted = imports.filter(|(_, import)| import.wanted);
        let idle = wanted.map(|(track, _)| *track);
        let idle: Vec<TrackId> = idle.filter(|t| !self.router.has_viewers(*t)).collect();
        if idle.is_empty() {
            return;
        }
        let carried: BTreeSet<TrackId> = self.carried(&idle).into_iter().collect();
        for track in idle {
            if !carried.contains(&track) {
                self.relays.set_wanted(track, false);
            }
        }
    }

    /// Returns those of these tracks that players may get, now or when there is room.
    fn carried(&self, tracks: &[TrackId]) -> Vec<TrackId> {
        let players = self.players.values();
        let streams = players.flat_map(|player| player.subscriptions.values());
        let all: BTreeSet<TrackId> = streams
            .flat_map(|s| s.carried.encodings.iter().copied())
            .collect();
        let carried = tracks.iter().filter(|track| all.contains(track));
        carried.copied().collect()
    }
}
