use std::collections::BTreeSet;
use weft_peer::PeerKey;
use weft_session::MediaKind;
use weft_sfu::{Codec, Router, TrackId};
use weft_units::{Instant, StreamId, VideoCodec};

/// Who publishes, in which room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Publisher {
    pub(super) room: String,
    pub(super) participant: String,
}

/// One thing for pictures and one for sound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PerKind<T> {
    pub(super) video: T,
    pub(super) audio: T,
}

impl<T> PerKind<T> {
    pub(super) fn of_mut(&mut self, kind: MediaKind) -> &mut T {
        match kind {
            MediaKind::Video => &mut self.video,
            MediaKind::Audio => &mut self.audio,
        }
    }
}

impl<T: Copy> PerKind<T> {
    pub(super) fn of(&self, kind: MediaKind) -> T {
        match kind {
            MediaKind::Video => self.video,
            MediaKind::Audio => self.audio,
        }
    }
}

/// What one participant publishes. Its tracks outlive a connection, so that
/// players go on when another one takes over.
#[derive(Debug, Default)]
pub(super) struct Publication {
    tracks: PerKind<Option<TrackId>>,
    /// Of the track with pictures.
    codec: Option<VideoCodec>,
    source: Option<Source>,
    players: BTreeSet<PeerKey>,
}

/// The connection that the tracks' packets come from.
#[derive(Debug, Clone, Copy)]
struct Source {
    peer: PeerKey,
    streams: PerKind<Option<StreamId>>,
}

const KINDS: [MediaKind; 2] = [MediaKind::Video, MediaKind::Audio];

impl Publication {
    /// The packets come from this peer from now on. Returns the track of each
    /// of its streams.
    pub(super) fn switch_source(
        &mut self,
        now: Instant,
        router: &mut Router,
        peer: PeerKey,
        streams: PerKind<Option<StreamId>>,
        codec: Option<VideoCodec>,
    ) -> Vec<(StreamId, TrackId)> {
        self.codec = codec.or(self.codec);
        let mut routes = Vec::new();
        for kind in KINDS {
            let Some(stream) = streams.of(kind) else {
                continue;
            };
            let slot = self.tracks.of_mut(kind);
            let track = match *slot {
                Some(track) => {
                    router.switch_source(now, track);
                    track
                }
                None => *slot.insert(router.add_track(match kind {
                    MediaKind::Video => match self.codec.unwrap_or_default() {
                        VideoCodec::Vp8 => Codec::Vp8,
                        VideoCodec::H264 => Codec::H264,
                    },
                    MediaKind::Audio => Codec::Opus,
                })),
            };
            routes.push((stream, track));
        }
        self.source = Some(Source { peer, streams });
        routes
    }

    /// The peer is gone; nothing comes if it was the source.
    pub(super) fn drop_source(&mut self, peer: PeerKey) {
        self.source = self.source.filter(|s| s.peer != peer);
    }

    /// The kinds that the source has, pictures first.
    pub(super) fn kinds(&self) -> impl Iterator<Item = MediaKind> {
        let streams = self.source.map(|s| s.streams).unwrap_or_default();
        KINDS
            .into_iter()
            .filter(move |kind| streams.of(*kind).is_some())
    }

    /// The track of this kind, if there ever was one.
    pub(super) fn track(&self, kind: MediaKind) -> Option<TrackId> {
        self.tracks.of(kind)
    }

    /// The codec of its pictures, if it ever had some.
    pub(super) fn codec(&self) -> Option<VideoCodec> {
        self.codec
    }

    /// The track with pictures ends: what comes next has another codec.
    pub(super) fn end_pictures(&mut self, router: &mut Router) {
        self.codec = None;
        if let Some(track) = self.tracks.video.take() {
            router.remove_track(track);
        }
    }

    pub(super) fn players(&self) -> impl Iterator<Item = PeerKey> {
        self.players.iter().copied()
    }

    pub(super) fn add_player(&mut self, peer: PeerKey) {
        self.players.insert(peer);
    }

    pub(super) fn remove_player(&mut self, peer: PeerKey) {
        self.players.remove(&peer);
    }

    /// Nobody publishes and nobody waits.
    pub(super) fn is_over(&self) -> bool {
        self.source.is_none() && self.players.is_empty()
    }

    pub(super) fn remove_tracks(&self, router: &mut Router) {
        for track in KINDS.into_iter().filter_map(|kind| self.track(kind)) {
            router.remove_track(track);
        }
    }
}
