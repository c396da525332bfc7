use crate::publisher::{Places, Slot};
use crate::relay::{Announced, PlaneId, Usable};
use crate::routing::{Router, TrackId};
use crate::wanted::Wanted;
use std::collections::{BTreeMap, BTreeSet};
use weft_peer::{Peer, PeerKey, StreamDirection};
use weft_rooms::{Camera, Enabled, Publishing};
use weft_units::{Instant, MediaKind, Rate, StreamId};
use weft_wire::payload::Form;

/// Minimum share of its unlimited rate to which a source is limited for a player with a poor
/// link: the other players see half of the rate as slightly softer pictures. Chosen by us.
const LEAST_PART: f64 = 0.5;
/// A source is being limited if its limit is less than this multiple of its unlimited
/// rate: encoders miss their targets by as much. Chosen by us.
const HELD: f64 = 1.2;

/// Sender of a publication's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A connection of this plane.
    Peer(PeerKey),
    /// Another plane, with the number of the connection there.
    Plane(PlaneId, u64),
}

/// Streams of a peer in one direction and in one place: the encodings of a camera, or a
/// single stream.
pub(crate) struct SlotStreams {
    pub(crate) form: Form,
    pub(crate) streams: Vec<StreamId>,
}

/// Streams of a peer in this direction.
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
        // A second section of sound has no encodings and no players.
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

/// Tracks that one participant publishes. They outlive a connection, so that players
/// continue when another one replaces it.
#[derive(Debug, Default)]
pub(crate) struct Publication {
    tracks: BTreeMap<Slot, Track>,
    source: Option<Source>,
    players: BTreeSet<PeerKey>,
    /// Rates that viewers of other planes can use.
    elsewhere: BTreeMap<PlaneId, Usable>,
    /// Latest limit that the source got.
    told: Option<Rate>,
    /// Rate of the source without a limit.
    unlimited: Rate,
}

/// Camera or sound of a publisher.
#[derive(Debug, Clone)]
struct Track {
    /// Its encodings in the router, in the order of the description; at least one.
    encodings: Vec<TrackId>,
    form: Form,
}

/// Connection that sends the tracks' packets.
#[derive(Debug)]
struct Source {
    origin: Origin,
    negotiated: Publishing,
    /// Streams that are played.
    streams: Publishing,
    /// Rates that viewers of this plane can use, as last sent to the source's plane.
    usable: Usable,
    wanted: Wanted,
}

/// Returns the places of a peer's published tracks, and its streams in the same order.
pub(crate) fn places_of(peer: &Peer) -> (Places, Vec<StreamId>) {
    let mut streams = Vec::new();
    let slots = streams_of(peer, StreamDirection::Receive).into_iter();
    let places = slots.map(|(slot, of_slot)| {
        let place = (slot, of_slot.form, of_slot.streams.len());
        streams.extend(of_slot.streams);
        place
    });
    (places.collect(), streams)
}

impl Publication {
    /// Makes this origin the source of the packets. Returns the tracks of all encodings,
    /// in the order of their places.
    pub(crate) fn switch_source(
        &mut self,
        now: Instant,
        router: &mut Router,
        origin: Origin,
        (places, negotiated): (&Places, Publishing),
    ) -> Vec<TrackId> {
        let mut tracks = Vec::new();
        for (slot, form, count) in places {
            let track = self.tracks.entry(*slot).or_insert_with(|| Track {
                encodings: Vec::new(),
                form: *form,
            });
            for index in 0..*count {
                match track.encodings.get(index) {
                    Some(id) => router.switch_source(now, *id),
                    None => track.encodings.push(router.add_track(form.codec())),
                }
            }
            for surplus in track.encodings.split_off(*count) {
                router.remove_track(surplus);
            }
            tracks.extend(&track.encodings);
        }
        self.source = Some(Source {
            origin,
            streams: negotiated.enabled(Enabled::AT_FIRST),
            negotiated,
            usable: Usable::default(),
            wanted: Wanted::default(),
        });
        tracks
    }

    /// Removes an origin; if it was the source, nothing arrives any longer.
    pub(crate) fn drop_source(&mut self, origin: Origin) {
        self.source.take_if(|s| s.origin == origin);
    }

    /// Records whether the owner of the source shares a screen.
    pub(crate) fn share_screen(&mut self, peer: PeerKey, screen: bool) {
        let own = |s: &&mut Source| s.origin == Origin::Peer(peer);
        if let Some(source) = self.source.as_mut().filter(own) {
            let enabled = Enabled {
                screen,
                ..Enabled::AT_FIRST
            };
            source.streams = source.negotiated.enabled(enabled);
        }
    }

    /// Sets the streams of the source.
    pub(crate) fn set_streams(&mut self, streams: Publishing) {
        if let Some(source) = &mut self.source {
            source.streams = streams;
        }
    }

    /// Returns the publication as other planes see it; `None` if its source is on another plane.
    pub(crate) fn announced(&self) -> Option<Announced> {
        let PeerKey(source) = self.source()?;
        let tracks = self.tracks.iter();
        let tracks = tracks.map(|(slot, t)| (*slot, t.form, t.encodings.clone()));
        Some(Announced {
            source,
            streams: self.streams()?.clone(),
            tracks: tracks.collect(),
        })
    }

    /// Returns the streams of the source.
    pub(crate) fn streams(&self) -> Option<&Publishing> {
        self.source.as_ref().map(|s| &s.streams)
    }

    /// Tracks for which packets arrive: places, encodings and forms.
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

    /// Encodings that the source should send.
    pub(crate) fn wanted(&self) -> Option<&Wanted> {
        self.source.as_ref().map(|s| &s.wanted)
    }

    /// Updates which encodings are watched; see [`Wanted::update`].
    pub(crate) fn update_wanted(
        &mut self,
        now: Instant,
        watched: &BTreeSet<TrackId>,
    ) -> Option<(PeerKey, Vec<Vec<bool>>)> {
        let tracks = &self.tracks;
        let cameras = (0..).map_while(|place| tracks.get(&Slot::Camera(place)));
        let cameras: Vec<&[TrackId]> = cameras.map(|track| &*track.encodings).collect();
        let source = self.source.as_mut()?;
        let Origin::Peer(peer) = source.origin else {
            return None;
        };
        let told = source.wanted.update(now, &cameras, watched)?;
        Some((peer, told))
    }

    /// Peer of this plane that sends the packets.
    pub(crate) fn source(&self) -> Option<PeerKey> {
        match self.origin()? {
            Origin::Peer(peer) => Some(peer),
            Origin::Plane(..) => None,
        }
    }

    /// Sender of the packets.
    pub(crate) fn origin(&self) -> Option<Origin> {
        self.source.as_ref().map(|s| s.origin)
    }

    /// Sets the rates that viewers of another plane can use.
    pub(crate) fn set_elsewhere(&mut self, plane: PlaneId, rates: Usable) {
        match rates.most {
            None => self.elsewhere.remove(&plane),
            Some(_) => self.elsewhere.insert(plane, rates),
        };
    }

    /// Adds the viewers of other planes to those of this one.
    pub(crate) fn with_elsewhere(&self, rates: Usable) -> Usable {
        self.elsewhere.values().copied().fold(rates, Usable::and)
    }

    /// Returns the rates in the form for the source's plane, if that is another one and
    /// the rates have changed.
    pub(crate) fn tell_usable(&mut self, rates: Usable) -> Option<(PlaneId, Usable)> {
        let source = self.source.as_mut()?;
        let rates = rates.most.map(|_| rates).unwrap_or_default();
        let before = std::mem::replace(&mut source.usable, rates);
        match source.origin {
            Origin::Plane(plane, _) => (before != rates).then_some((plane, rates)),
            Origin::Peer(_) => None,
        }
    }

    /// Encodings of all tracks, in the order of their places.
    pub(crate) fn track_ids(&self) -> impl Iterator<Item = TrackId> {
        self.tracks
            .values()
            .flat_map(|track| track.encodings.clone())
    }

    /// Encodings of the track in this place, if there was ever one.
    pub(crate) fn encodings(&self, slot: Slot) -> Option<&[TrackId]> {
        self.tracks.get(&slot).map(|track| &*track.encodings)
    }

    /// Forms of the cameras' pictures, in the cameras' order.
    pub(crate) fn forms(&self) -> impl Iterator<Item = Form> {
        let tracks = self.tracks.iter();
        let cameras = tracks.filter(|(slot, _)| **slot != Slot::Sound);
        cameras.map(|(_, track)| track.form)
    }

    /// Whether a new source has another codec for a track, or a form of the codec that
    /// players may not be able to decode.
    pub(crate) fn changes_codec(&self, places: &Places) -> bool {
        places.iter().any(|(slot, form, _)| {
            let track = self.tracks.get(slot);
            track.is_some_and(|track| !track.form.is_like(*form))
        })
    }

    /// Ends the video tracks, because the next pictures have another codec.
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

    /// Returns the rate that the source may send: `most`, or less for a player that can
    /// use only `fitting`, but at least [`LEAST_PART`] of its unlimited rate. `published`
    /// is its present rate.
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

    /// Whether it has neither a source nor players.
    pub(crate) fn is_over(&self) -> bool {
        self.source.is_none() && self.players.is_empty()
    }

    /// Number of encodings of all tracks.
    pub(crate) fn tracks(&self) -> usize {
        self.track_ids().count()
    }

    pub(crate) fn remove_tracks(&self, router: &mut Router) {
        for encoding in self.track_ids() {
            router.remove_track(encoding);
        }
    }
}
