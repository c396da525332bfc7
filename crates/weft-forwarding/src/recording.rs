//! Recording of rooms: a sink of everything that is published on this plane.

use crate::encoding::Encoding;
use crate::plane::Plane;
use crate::publication::Origin;
use crate::publisher::{Publisher, Slot};
use crate::reception::Carried;
use crate::routing::{Forwarder, TrackId};
use crate::taps::{Recorded, RecordedKind, RecordedTrack, Source, Tap};
use crate::traffic::Traffic;
use std::collections::BTreeMap;
use weft_peer::PeerSet;
use weft_units::{Codec, Instant, Rate};

impl Traffic {
    fn begin_recording(&mut self, now: Instant, source: &Source) {
        let Source {
            track, encodings, ..
        } = source;
        if source.kind == RecordedKind::Microphone {
            for sound in encodings {
                let forwarder = Forwarder::new(Codec::Opus);
                self.taps.sounds.insert(*sound, (*track, forwarder));
            }
            return;
        }
        let best = self.best_encoding(now, encodings);
        let best = best.or(encodings.last().copied());
        if let Some(id) = best.and_then(|best| self.router.subscribe(now, best)) {
            let tap = Tap {
                track: *track,
                encodings: encodings.clone(),
            };
            self.taps.cameras.insert(id, tap);
        }
    }

    fn end_recording(&mut self, track: RecordedTrack) {
        self.taps.sounds.retain(|_, (of, _)| *of != track);
        let cameras = self.taps.cameras.iter();
        let ended = cameras.filter(|(_, tap)| tap.track == track);
        for id in ended.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.taps.cameras.remove(&id);
            self.router.unsubscribe(id);
        }
        self.taps.messages.push_back(Recorded::Ended { track });
    }

    /// Returns the largest encoding that arrives.
    fn best_encoding(&self, now: Instant, encodings: &[TrackId]) -> Option<TrackId> {
        let carried = Carried {
            encodings: encodings.to_vec(),
            ..Carried::default()
        };
        let useful: Vec<Encoding> = self.useful(now, &carried);
        useful.last().map(|encoding| encoding.track)
    }

    /// Records the best encoding of each camera that arrives, starting at its next keyframe.
    pub(crate) fn choose_recorded(&mut self, now: Instant, peers: &mut PeerSet) {
        if self.taps.cameras.is_empty() {
            return;
        }
        let cameras = self.taps.cameras.iter();
        let several = cameras.filter(|(_, tap)| tap.encodings.len() > 1);
        let best = several.filter_map(|(id, tap)| {
            let best = self.best_encoding(now, &tap.encodings)?;
            Some((*id, best))
        });
        for (id, best) in best.collect::<Vec<_>>() {
            self.router.prefer(now, id, best);
        }
        self.deliver(now, peers);
    }

    /// Returns the encodings that recordings need: of each camera, the largest one and
    /// the recorded one until the keyframe of the largest arrives, or all while the
    /// largest does not arrive.
    pub(crate) fn recorded(&self, now: Instant) -> impl Iterator<Item = TrackId> {
        self.taps.cameras.iter().flat_map(move |(id, tap)| {
            let arrives = |track: &TrackId| {
                let rate = self.router.rate(now, *track);
                rate.is_some_and(|rate| rate > Rate::ZERO)
            };
            let size = |track: &&TrackId| self.router.size(**track);
            let largest = tap.encodings.iter().max_by_key(size);
            let mut needed = tap.encodings.clone();
            if let Some(largest) = largest.filter(|largest| arrives(largest)) {
                let present = [self.router.track(*id), Some(*largest)];
                needed.retain(|track| present.contains(&Some(*track)));
            }
            needed
        })
    }
}

impl Plane {
    /// Starts or ends the recording of everything that is published on this plane in a
    /// room. The output is [`Output::Record`](crate::Output::Record).
    pub fn set_recorded(&mut self, now: Instant, room: &str, recorded: bool) {
        self.now = now;
        match recorded {
            true => self.recordings.rooms.insert(room.to_owned()),
            false => self.recordings.rooms.remove(room),
        };
        self.refresh_recording(now, room);
    }

    /// Requests a keyframe from the publisher of a recorded track.
    pub fn request_recorded_keyframe(&mut self, now: Instant, track: RecordedTrack) {
        self.now = now;
        let mut cameras = self.traffic.taps.cameras.iter();
        let found = cameras.find(|(_, tap)| tap.track == track);
        if let Some(id) = found.map(|(id, _)| *id) {
            self.traffic.router.request_keyframe(now, id);
            self.traffic.deliver(now, &mut self.peers);
        }
    }

    /// Starts and ends recorded tracks after the tracks of a room have changed.
    pub(crate) fn refresh_recording(&mut self, now: Instant, room: &str) {
        let wanted = match self.recordings.has(room) {
            true => self.recordable(room),
            false if self.recordings.tracks.is_empty() => return,
            false => BTreeMap::new(),
        };
        let known = &mut self.recordings.tracks;
        let is_over = |place: &(Publisher, Slot), source: &Source| {
            let same = |(kind, encodings, _): &(RecordedKind, Vec<TrackId>, Codec)| {
                *kind == source.kind && *encodings == source.encodings
            };
            place.0.room == room && !wanted.get(place).is_some_and(same)
        };
        let over = known
            .iter()
            .filter(|(place, source)| is_over(place, source));
        for place in over.map(|(place, _)| place.clone()).collect::<Vec<_>>() {
            if let Some(source) = known.remove(&place) {
                self.traffic.end_recording(source.track);
            }
        }
        for (place, (kind, encodings, codec)) in wanted {
            if self.recordings.tracks.contains_key(&place) {
                continue;
            }
            self.recordings.begun += 1;
            let track = RecordedTrack(self.recordings.begun);
            self.traffic.taps.messages.push_back(Recorded::Began {
                track,
                publisher: place.0.clone(),
                kind,
                codec,
            });
            let source = Source {
                track,
                kind,
                encodings,
            };
            self.traffic.begin_recording(now, &source);
            self.resume_wanted(now, &source.encodings);
            self.recordings.tracks.insert(place, source);
        }
        self.traffic.deliver(now, &mut self.peers);
    }

    /// Returns the tracks that participants of this plane publish in a room.
    fn recordable(
        &self,
        room: &str,
    ) -> BTreeMap<(Publisher, Slot), (RecordedKind, Vec<TrackId>, Codec)> {
        let first = Publisher {
            room: room.to_owned(),
            participant: String::new(),
        };
        let there = self.publications.range(first..);
        let there = there.take_while(|(publisher, _)| publisher.room == room);
        let here = there.filter(|(_, p)| matches!(p.origin(), Some(Origin::Peer(_))));
        let tracks = here.flat_map(|(publisher, publication)| {
            publication.live().map(move |(slot, encodings, form)| {
                let kind = match slot {
                    Slot::Sound => RecordedKind::Microphone,
                    Slot::Camera(place) => {
                        let streams = publication.streams();
                        let camera = streams.and_then(|streams| streams.cameras.get(place));
                        match camera.is_some_and(|camera| camera.screen) {
                            true => RecordedKind::Screen,
                            false => RecordedKind::Camera,
                        }
                    }
                };
                let source = (kind, encodings.to_vec(), form.codec());
                ((publisher.clone(), slot), source)
            })
        });
        tracks.collect()
    }
}
