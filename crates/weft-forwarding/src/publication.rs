use std::collections::{BTreeMap, BTreeSet};
use weft_peer::{Direction, NegotiatedStream, Peer, PeerKey};
use weft_sfu::{Camera, Publishing, Router, TrackId};
use weft_units::{Codec, Instant, MediaKind, StreamId};

/// Who publishes, in which room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Publisher {
    /// Its name, as in the address of the request.
    pub room: String,
    /// The id of whoever publishes.
    pub participant: String,
}

/// What a stream is among those of its connection. A publisher's first camera
/// is a player's first stream of pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    /// Pictures of the camera with this place in the description.
    Camera(usize),
    /// The first stream of sound.
    Sound,
}

/// The streams of a peer that flow this way.
pub(crate) fn streams_of(peer: &Peer, direction: Direction) -> BTreeMap<Slot, StreamId> {
    let mut found = BTreeMap::new();
    let mut cameras = 0;
    let streams = peer.streams().iter();
    for agreed in streams.filter(|s| s.direction == direction) {
        let slot = match agreed.codec.kind() {
            MediaKind::Audio => Slot::Sound,
            MediaKind::Video => {
                cameras += 1;
                Slot::Camera(cameras - 1)
            }
        };
        found.entry(slot).or_insert(agreed.stream);
    }
    found
}

/// The codec of the pictures that a publisher sends, all cameras with the same.
pub(crate) fn codec_of(peer: &Peer) -> Option<Codec> {
    let received = |s: &&NegotiatedStream| s.direction == Direction::Receive;
    let streams = peer.streams().iter().filter(received);
    let mut codecs = streams.map(|agreed| agreed.codec);
    codecs.find(|c| c.kind() == MediaKind::Video)
}

/// What a peer's streams are for others to see.
pub(crate) fn shown(peer: &Peer, direction: Direction) -> Publishing {
    let mut shown = Publishing::default();
    for (slot, stream) in streams_of(peer, direction) {
        match slot {
            Slot::Sound => shown.audio = true,
            Slot::Camera(_) => shown.cameras.push(Camera {
                name: peer.title(stream).map(str::to_owned),
            }),
        }
    }
    shown
}

/// What one participant publishes. Its tracks outlive a connection, so that
/// players go on when another one takes over.
#[derive(Debug, Default)]
pub(crate) struct Publication {
    tracks: BTreeMap<Slot, TrackId>,
    /// Of the tracks with pictures.
    codec: Option<Codec>,
    source: Option<Source>,
    players: BTreeSet<PeerKey>,
}

/// The connection that the tracks' packets come from.
#[derive(Debug)]
struct Source {
    peer: PeerKey,
    streams: Publishing,
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
        self.codec = codec_of(peer).or(self.codec);
        let mut routes = Vec::new();
        for (slot, stream) in streams_of(peer, Direction::Receive) {
            let track = match self.tracks.get(&slot) {
                Some(track) => {
                    router.switch_source(now, *track);
                    *track
                }
                None => {
                    let codec = match slot {
                        Slot::Camera(_) => self.codec.unwrap_or(Codec::Vp8),
                        Slot::Sound => Codec::Opus,
                    };
                    let track = router.add_track(codec);
                    self.tracks.insert(slot, track);
                    track
                }
            };
            routes.push((stream, track));
        }
        self.source = Some(Source {
            peer: key,
            streams: shown(peer, Direction::Receive),
        });
        routes
    }

    /// The peer is gone; nothing comes if it was the source.
    pub(crate) fn drop_source(&mut self, peer: PeerKey) {
        self.source.take_if(|s| s.peer == peer);
    }

    /// What the source has.
    pub(crate) fn streams(&self) -> Option<&Publishing> {
        self.source.as_ref().map(|s| &s.streams)
    }

    /// The track of this place, if there ever was one.
    pub(crate) fn track(&self, slot: Slot) -> Option<TrackId> {
        self.tracks.get(&slot).copied()
    }

    /// The codec of its pictures, if it ever had some.
    pub(crate) fn codec(&self) -> Option<Codec> {
        self.codec
    }

    /// The tracks with pictures end: what comes next has another codec.
    pub(crate) fn end_pictures(&mut self, router: &mut Router) {
        self.codec = None;
        self.tracks.retain(|slot, track| {
            let stays = *slot == Slot::Sound;
            if !stays {
                router.remove_track(*track);
            }
            stays
        });
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

    pub(crate) fn remove_tracks(&self, router: &mut Router) {
        for track in self.tracks.values() {
            router.remove_track(*track);
        }
    }
}
