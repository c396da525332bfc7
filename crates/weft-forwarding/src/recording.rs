//! Recording of rooms: a sink of everything that is published on this plane.

use crate::encoding::Encoding;
use crate::plane::Plane;
use crate::publication::Origin;
use crate::publisher::{Publisher, Slot};
use crate::reception::Carried;
use crate::routing::{Forwarder, Forwarding, Parsed, SubscriptionId, TrackId};
use crate::traffic::Traffic;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use weft_peer::PeerSet;
use weft_units::{Codec, Instant, Rate};
use weft_wire::media::{ForwardedPacket, MediaPacket};

/// Track of a recording, unique on its plane. One of a camera carries its best encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordedTrack(pub u64);

/// Kind of a recorded track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordedKind {
    /// Camera.
    Camera,
    /// Shared screen.
    Screen,
    /// Sound.
    Microphone,
}

/// Message of a plane to the recorder of its server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// A track begins.
    Began {
        /// Its number.
        track: RecordedTrack,
        /// Participant who publishes it, and the room.
        publisher: Publisher,
        /// Kind of its source.
        kind: RecordedKind,
        /// Codec of its packets.
        codec: Codec,
    },
    /// A packet, in the order of arrival; numbers and time stamps continue over changes
    /// of the source. Pictures begin with a keyframe.
    Packet {
        /// The track.
        track: RecordedTrack,
        /// The packet.
        packet: ForwardedPacket,
    },
    /// The track ends.
    Ended {
        /// The track.
        track: RecordedTrack,
    },
}

/// Recorded rooms, and the tracks of this plane in them.
#[derive(Debug, Default)]
pub(crate) struct Recordings {
    rooms: BTreeSet<String>,
    tracks: BTreeMap<(Publisher, Slot), Source>,
    begun: u64,
}

/// Source of a recorded track.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    track: RecordedTrack,
    kind: RecordedKind,
    encodings: Vec<TrackId>,
}

/// The recorder's part of the traffic.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    cameras: BTreeMap<SubscriptionId, Tap>,
    /// Sounds, all of them: those that others drown out are recorded, too.
    sounds: BTreeMap<TrackId, (RecordedTrack, Forwarder)>,
    messages: VecDeque<Recorded>,
}

/// A recorded camera or screen.
#[derive(Debug)]
struct Tap {
    track: RecordedTrack,
    encodings: Vec<TrackId>,
}

impl Recordings {
    pub(crate) fn has(&self, room: &str) -> bool {
        self.rooms.contains(room)
    }
}

impl Taps {
    pub(crate) fn poll(&mut self) -> Option<Recorded> {
        self.messages.pop_front()
    }

    /// Number of subscriptions in the router.
    pub(crate) fn subscriptions(&self) -> usize {
        self.cameras.len()
    }

    /// Takes a packet of a camera.
    pub(crate) fn on_forwarded(&mut self, id: SubscriptionId, packet: ForwardedPacket) {
        if let Some(Tap { track, .. }) = self.cameras.get(&id) {
            let track = *track;
            self.messages.push_back(Recorded::Packet { track, packet });
        }
    }

    /// Takes a packet of a sound.
    pub(crate) fn on_sound(&mut self, now: Instant, of: TrackId, packet: &MediaPacket) {
        let Some((track, forwarder)) = self.sounds.get_mut(&of) else {
            return;
        };
        match Parsed::new(Codec::Opus, packet.clone()) {
            Some(parsed) => forwarder.handle_parsed(now, &parsed, None),
            None => forwarder.handle_unusable(now, packet),
        }
        while let Some(output) = forwarder.poll_output() {
            if let Forwarding::Packet(packet) = output {
                let track = *track;
                self.messages.push_back(Recorded::Packet { track, packet });
            }
        }
    }

    /// A sound continues with other numbers.
    pub(crate) fn switch_source(&mut self, of: TrackId) {
        if let Some((_, forwarder)) = self.sounds.get_mut(&of) {
            forwarder.switch_source();
        }
    }
}

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

    /// Records the best encoding of each camera that arrives, from its next keyframe on.
    pub(crate) fn choose_recorded(&mut self, now: Instant, peers: &mut PeerSet) {
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

    /// Returns the encodings that recordings need: of a camera the largest one and the
    /// one that is recorded until its keyframe comes, or all while the largest does not
    /// arrive.
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
    /// Starts or ends the recording of all that is published on this plane in a room.
    /// Everything comes as [`Output::Record`](crate::Output::Record).
    pub fn set_recorded(&mut self, now: Instant, room: &str, recorded: bool) {
        self.now = now;
        match recorded {
            true => self.recordings.rooms.insert(room.to_owned()),
            false => self.recordings.rooms.remove(room),
        };
        self.refresh_recording(now, room);
    }

    /// Asks the publisher of a recorded track for a keyframe.
    pub fn request_recorded_keyframe(&mut self, now: Instant, track: RecordedTrack) {
        self.now = now;
        let mut cameras = self.traffic.taps.cameras.iter();
        let found = cameras.find(|(_, tap)| tap.track == track);
        if let Some(id) = found.map(|(id, _)| *id) {
            self.traffic.router.request_keyframe(now, id);
            self.traffic.deliver(now, &mut self.peers);
        }
    }

    /// The tracks of a room have changed: begins and ends those of its recording.
    pub(crate) fn refresh_recording(&mut self, now: Instant, room: &str) {
        let wanted = match self.recordings.has(room) {
            true => self.recordable(room),
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
