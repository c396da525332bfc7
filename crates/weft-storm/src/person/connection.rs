//! Media connection of a person.

use std::net::SocketAddr;

use weft_forwarding::ResourceId;
use weft_peer::Peer;
use weft_session::Frame;
use weft_testing::pictures::Picture;
use weft_units::{AudioLevel, Codec, Instant, MediaKind, StreamId};

use super::talk::Talk;

/// Audio level of people who speak (RFC 6464).
const SPEECH: AudioLevel = AudioLevel(0x80 | 20);

/// The two connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Publication,
    Reception,
}

/// Media connection.
pub struct Connection {
    pub resource: ResourceId,
    pub purpose: Purpose,
    pub peer: Peer,
    pub ports: Vec<SocketAddr>,
    /// Time at which it, or the connection that it replaced, was established.
    pub up: Option<Instant>,
    /// Time at which it was established itself.
    pub connected: Option<Instant>,
    /// Number of the connection among those of the person.
    pub number: u64,
    /// Offset of timestamps (RFC 3550 section 5.1).
    pub(super) timestamp_offset: u32,
    pub talk: Talk,
    pub(super) is_over: bool,
}

impl Connection {
    /// Sends pictures, each on the stream with its index.
    pub(super) fn send_pictures(&mut self, now: Instant, pictures: &[(usize, Picture)]) {
        let streams: Vec<StreamId> = streams(&self.peer, MediaKind::Video).collect();
        let timestamp = clock(now, Codec::Vp8).wrapping_add(self.timestamp_offset);
        for (place, picture) in pictures {
            let frame = Frame {
                keyframe: picture.keyframe,
                temporal_layer: picture.temporal_layer,
                layer_sync: picture.layer_sync,
                non_reference: picture.temporal_layer == Some(2),
                ..Frame::new(&picture.data, timestamp, now)
            };
            if let Some(stream) = streams.get(*place) {
                let sent = self.peer.send_frame(now, *stream, &frame);
                sent.expect("the stream was negotiated");
            }
        }
    }

    /// Sends a packet of sound.
    pub(super) fn send_sound(&mut self, now: Instant, data: &[u8]) {
        let Some(stream) = streams(&self.peer, MediaKind::Audio).next() else {
            return;
        };
        let timestamp = clock(now, Codec::Opus).wrapping_add(self.timestamp_offset);
        let frame = Frame {
            audio_level: Some(SPEECH),
            ..Frame::new(data, timestamp, now)
        };
        let sent = self.peer.send_frame(now, stream, &frame);
        sent.expect("the stream was negotiated");
    }
}

/// Returns the streams of this kind in the order of the offer.
fn streams(peer: &Peer, kind: MediaKind) -> impl Iterator<Item = StreamId> {
    let of_kind = peer
        .streams()
        .iter()
        .filter(move |s| s.codec().kind() == kind);
    of_kind.map(|agreed| agreed.stream)
}

/// Returns the RTP timestamp of this time.
fn clock(now: Instant, codec: Codec) -> u32 {
    let ticks = u128::from(now.as_nanos()) * u128::from(codec.clock_rate()) / 1_000_000_000;
    ticks as u32
}
