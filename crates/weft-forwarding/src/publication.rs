use crate::wanted::Wanted;
use std::collections::{BTreeMap, BTreeSet};
use weft_peer::{Peer, PeerKey, StreamDirection};
use weft_rooms::{Camera, Enabled, Publishing};
use weft_sfu::{Router, TrackId};
use weft_units::{Instant, MediaKind, Rate, StreamId};
use weft_wire::payload::Form;

/// Least part of what a source would send that it is told for the sake of a
/// player with a poor link: the others see half of the rate as slightly softer
/// pictures. Chosen by us.
const LEAST_PART: f64 = 0.5;
/// A source is held to what it was told where that is less than this times what
/// came before: encoders are beside their target by as much. Chosen by us.
const HELD: f64 = 1.2;

/// Participant that publishes, with its room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Publisher {
    /// Its name, as in the address of the request.
    pub room: String,
    /// Participant id of the publisher.
    pub participant: String,
}

/// Place of a stream among those of its connection. A publisher's first camera
/// is a player's first stream of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// Pictures of the camera with this place in the description.
    Camera(usize),
    /// The first stream of sound.
    Sound,
}

/// Streams of a peer in one direction and in one place: the encodings of a camera, or
/// a single stream.
pub(crate) struct SlotStreams {
    pub(crate) form: Form,
    pub(crate) streams: Vec<StreamId>,
}

/// The streams of a peer that flow this way.
pub(crate) fn streams_of(peer: &Peer, direction: StreamDirection) -> BTreeMap<Slot, SlotStreams> {
    let mut found: BTreeMap<Slot, SlotStreams> = BTreeMap::new();
    let streams = peer.streams().iter();
    for agreed in streams.filter(|s| s.direction == direction) {
        let slot = match agreed.codec().kind() {
            MediaKind::Audio => Slot::Sound,
            MediaKind::Video => Slot::Camera(agreed.place),
        };
        let known = found.entry(slot).or_insert_with(|| SlotStreams {
            form: agreed.form,
            streams: Vec::new(),
        });
        // A second section of sound has no encodings, and nobody plays it.
        if known.streams.is_empty() || agreed.rid.is_some() {
            known.streams.push(agreed.stream);
        }
    }
    found
}

/// Returns a peer's streams as others see them.
pub(crate) fn shown(peer: &Peer, direction: StreamDirection) -> Publishing {
    let mut shown = Publishing::default();
    for (slot, of_slot) in streams_of(peer, direction) {
        let title = of_slot.streams.first().and_then(|s| peer.title(*s));
        match slot {
            Slot::Sound => shown.audio = true,
            Slot::Camera(_) => shown.cameras.push(Camera {
                screen: of_slot.streams.iter().any(|s| peer.is_presentation(*s)),
                ..Camera::called(title.unwrap_or_default())
            }),
        }
    }
    shown
}

/// Tracks that one participant publishes. They outlive a connection, so that
/// players go on when another one takes over.
#[derive(Debug, Default)]
pub(crate) struct Publication {
    tracks: BTreeMap<Slot, Track>,
    source: Option<Source>,
    players: BTreeSet<PeerKey>,
    /// Latest limit that the source was told.
    told: Option<Rate>,
    /// Rate of the source without a limit.
    unlimited: Rate,
}

/// A camera or the sound of a publisher.
#[derive(Debug, Clone)]
struct Track {
    /// Its encodings in the router, in the order of the description: at least one.
    encodings: Vec<TrackId>,
    form: Form,
}

/// The connection that the tracks' packets come from.
#[derive(Debug)]
struct Source {
    peer: PeerKey,
    negotiated: Publishing,
    /// Streams of it that are played.
    streams: Publishing,
    wanted: Wanted,
}

impl Publication {
    /// The packets come from this peer from now on. Returns the track of each
    /// of its streams.
    pub(crate) fn switch_source(
        &mut self,
        now: Instant,
        router: &mut Router,
        key: PeerKey,
        peer: &Peer,
    ) -> Vec<(StreamId, TrackId)> {
        let mut routes = Vec::new();
        for (slot, SlotStreams { form, streams }) in streams_of(peer, StreamDirection::Receive) {
            let track = self.tracks.entry(slot).or_insert_with(|| Track {
                encodings: Vec::new(),
                form,
            });
            for (index, stream) in streams.iter().enumerate() {
                let id = match track.encodings.get(index) {
                    Some(id) => {
                        router.switch_source(now, *id);
                        *id
                    }
                    None => {
                        let id = router.add_track(form.codec());
                        track.encodings.push(id);
                        id
                    }
                };
                routes.push((*stream, id));
            }
            for surplus in track.encodings.split_off(streams.len()) {
                router.remove_track(surplus);
            }
        }
        let negotiated = shown(peer, StreamDirection::Receive);
        self.source = Some(Source {
            peer: key,
            streams: negotiated.enabled(Enabled::AT_FIRST),
            negotiated,
            wanted: Wanted::default(),
        });
        routes
    }

    /// The peer is gone; nothing comes if it was the source.
    pub(crate) fn drop_source(&mut self, peer: PeerKey) {
        self.source.take_if(|s| s.peer == peer);
    }

    /// The owner of the source begins or ends to share a screen.
    pub(crate) fn share_screen(&mut self, peer: PeerKey, screen: bool) {
        if let Some(source) = self.source.as_mut().filter(|s| s.peer == peer) {
            let enabled = Enabled {
                screen,
                ..Enabled::AT_FIRST
            };
            source.streams = source.negotiated.enabled(enabled);
        }
    }

    /// Returns the streams of the source.
    pub(crate) fn streams(&self) -> Option<&Publishing> {
        self.source.as_ref().map(|s| &s.streams)
    }

    /// The tracks that packets come for: places, encodings and forms.
    pub(crate) fn live(&self) -> impl Iterator<Item = (Slot, &[TrackId], Form)> {
        let flows = |slot: &Slot| {
            self.streams().is_some_and(|streams| match slot {
                Slot::Sound => streams.audio,
                Slot::Camera(place) => streams.cameras.get(*place).is_some_and(|c| !c.off),
            })
        };
        let tracks = self.tracks.iter().filter(move |(slot, _)| flows(slot));
        tracks.map(|(slot, track)| (*slot, &*track.encodings, track.form))
    }

    /// The encodings that the source should send.
    pub(crate) fn wanted(&self) -> Option<&Wanted> {
        self.source.as_ref().map(|s| &s.wanted)
    }

    /// Takes in which encodings somebody watches; see [`Wanted::update`].
    pub(crate) fn update_wanted(
        &mut self,
        now: Instant,
        watched: &BTreeSet<TrackId>,
    ) -> Option<(PeerKey, Vec<Vec<bool>>)> {
        let tracks = &self.tracks;
        let cameras = (0..).map_while(|place| tracks.get(&Slot::Camera(place)));
        let cameras: Vec<&[TrackId]> = cameras.map(|track| &*track.encodings).collect();
        let source = self.source.as_mut()?;
        let told = source.wanted.update(now, &cameras, watched)?;
        Some((source.peer, told))
    }

    /// The peer that packets come from.
    pub(crate) fn source(&self) -> Option<PeerKey> {
        self.source.as_ref().map(|s| s.peer)
    }

    /// The encodings of all tracks, in the order of their places.
    pub(crate) fn track_ids(&self) -> impl Iterator<Item = TrackId> {
        self.tracks
            .values()
            .flat_map(|track| track.encodings.clone())
    }

    /// The encodings of the track of this place, if there ever was one.
    pub(crate) fn encodings(&self, slot: Slot) -> Option<&[TrackId]> {
        self.tracks.get(&slot).map(|track| &*track.encodings)
    }

    /// The form of each camera's pictures, in the cameras' order.
    pub(crate) fn forms(&self) -> impl Iterator<Item = Form> {
        let tracks = self.tracks.iter();
        let cameras = tracks.filter(|(slot, _)| **slot != Slot::Sound);
        cameras.map(|(_, track)| track.form)
    }

    /// Whether this peer has another codec for a track, or a form of it that
    /// players may not decode.
    pub(crate) fn changes_codec(&self, peer: &Peer) -> bool {
        let mut streams = streams_of(peer, StreamDirection::Receive).into_iter();
        let differs = |t: &Track, form| !t.form.is_like(form);
        streams.any(|(slot, of_slot)| {
            let track = self.tracks.get(&slot);
            track.is_some_and(|track| differs(track, of_slot.form))
        })
    }

    /// The tracks with pictures end: what comes next has another codec.
    pub(crate) fn end_pictures(&mut self, router: &mut Router) {
        self.tracks.retain(|slot, track| {
            let stays = *slot == Slot::Sound;
            if !stays {
                for encoding in &track.encodings {
                    router.remove_track(*encoding);
                }
            }
            stays
        });
    }

    /// Returns the rate that the source may send: `most`, or less for a player of whom `fitting`
    /// says what it can use, but at least [`LEAST_PART`] of what would come. What
    /// comes now is `published`.
    pub(crate) fn fit(&mut self, most: Rate, fitting: Option<Rate>, published: Rate) -> Rate {
        let held = self
            .told
            .is_some_and(|told| told < self.unlimited.mul_f64(HELD));
        self.unlimited = match held {
            true => self.unlimited.max(published),
            false => published,
        };
        let least = self.unlimited.mul_f64(LEAST_PART);
        let told = fitting.map_or(most, |fitting| most.min(fitting.max(least)));
        self.told = Some(told);
        told
    }

    pub(crate) fn players(&self) -> impl Iterator<Item = PeerKey> {
        self.players.iter().copied()
    }

    pub(crate) fn add_player(&mut self, peer: PeerKey) {
        self.players.insert(peer);
    }

    pub(crate) fn remove_player(&mut self, peer: PeerKey) {
        self.players.remove(&peer);
    }

    /// Nobody publishes and nobody waits.
    pub(crate) fn is_over(&self) -> bool {
        self.source.is_none() && self.players.is_empty()
    }

    /// How many encodings there are, of all tracks.
    pub(crate) fn tracks(&self) -> usize {
        self.track_ids().count()
    }

    pub(crate) fn remove_tracks(&self, router: &mut Router) {
        for encoding in self.track_ids() {
            router.remove_track(encoding);
        }
    }
}
