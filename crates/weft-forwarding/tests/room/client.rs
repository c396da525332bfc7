//! Peer that publishes to a room, plays a publication, or receives the whole room.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use weft_forwarding::Line;
use weft_peer::data::{self, Message};
use weft_peer::{Event, Peer};
use weft_session::{Event as SessionEvent, Frame};
use weft_testing::pictures::{Picture, Stamp};
use weft_units::{Codec, Instant, Rate, StreamId};

use crate::common::{Record, Side, Source, frame, heed};

/// Minimal picture of H.264 for packetization: parameters, and a slice that needs no
/// other picture.
const STILL: [u8; 22] = [
    0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1f, 0, 0, 0, 1, 0x68, 0xce, 0, 0, 0, 1, 0x65, 1, 2, 3,
];

/// Packet of Opus with arbitrary content.
const SOUND: [u8; 40] = [7; 40];

/// Client in the room.
pub struct Client {
    pub peer: Peer,
    pub address: SocketAddr,
    /// Plane of its connection.
    pub home: usize,
    pub record: Record,
    /// Pictures of each publisher, if it receives a whole room.
    pub seen: BTreeMap<String, Record>,
    pub bytes: BTreeMap<String, u64>,
    /// Number of received sound packets.
    pub sounds: usize,
    pub receives_room: bool,
    /// Messages received on data channels, with their times.
    pub messages: Vec<(Instant, Message)>,
    /// Lines of its reception, and those that carry a new publisher whose first keyframe
    /// has not arrived.
    pub lines: Vec<Line>,
    pub changed: BTreeSet<String>,
    /// Number of received pictures of H.264.
    pub stills: usize,
    /// Camera of a publishing client, from the first path on.
    pub camera: Option<Camera>,
    /// Whether it has crashed: it sends and receives nothing.
    pub is_gone: bool,
}

pub struct Camera {
    /// Sources of its encodings, the smallest first, or of its only stream, with the
    /// maximum rate of each.
    pub sources: Vec<(Source, Rate)>,
    pub next_frame: Option<Instant>,
    pub keyframes_asked: u64,
    /// Encodings that the plane wants; all until it reports them.
    pub wanted: Vec<bool>,
}

impl Client {
    pub fn camera(&self) -> &Camera {
        self.camera.as_ref().expect("it publishes")
    }

    /// Captures the next frame if it is due.
    pub fn capture(&mut self, now: Instant) {
        let Some(camera) = &mut self.camera else {
            return;
        };
        if camera.next_frame.is_some_and(|at| at <= now) {
            camera.next_frame = Some(now + camera.sources[0].0.interval());
            let pictures = camera.sources.iter_mut().map(|(s, _)| s.capture(now));
            let pictures: Vec<Picture> = pictures.collect();
            for (place, agreed) in self.peer.streams().to_vec().into_iter().enumerate() {
                if camera.wanted.get(place) == Some(&false) {
                    continue;
                }
                let picture = match agreed.rid {
                    Some(_) => &pictures[place],
                    None => &pictures[0],
                };
                let frame = match agreed.codec() {
                    Codec::H264 => Frame::new(&STILL, picture.timestamp, now),
                    Codec::Opus => Frame::new(&SOUND, picture.timestamp, now),
                    _ => frame(picture),
                };
                self.peer
                    .send_frame(now, agreed.stream, &frame)
                    .expect("the stream was negotiated");
            }
        }
    }

    pub fn on_lines(&mut self, lines: Vec<Line>) {
        for line in &lines {
            let same =
                |known: &&Line| (&known.mid, &known.participant) == (&line.mid, &line.participant);
            let known = self.lines.iter().find(same);
            if known.is_none_or(|known| known.content != line.content) {
                self.changed.insert(line.mid.clone());
            }
        }
        self.lines = lines;
    }

    /// Records a picture of a reception under its publisher.
    fn on_picture(&mut self, now: Instant, stream: StreamId, data: &[u8]) {
        let streams = self.peer.streams().iter();
        let mid = streams.filter(|s| s.stream == stream).find_map(|s| s.mid);
        let mid = mid.expect("the line has one").to_string();
        let keyframe = Stamp::of(data).is_some_and(|stamp| stamp.keyframe);
        if self.changed.contains(&mid) && !keyframe {
            return;
        }
        self.changed.remove(&mid);
        if let Some(line) = self.lines.iter().find(|line| line.mid == mid) {
            *self.bytes.entry(line.participant.clone()).or_default() += data.len() as u64;
            let seen = self.seen.entry(line.participant.clone()).or_default();
            // When the encoding changes, one picture arrives in both.
            let last = seen.shown.last().map(|shown| shown.number);
            if last < Stamp::of(data).map(|stamp| stamp.number) {
                seen.on_frame(now, data);
            }
        }
    }

    pub fn on_event(&mut self, now: Instant, event: &Event) {
        if let Event::Data(data::Event::Message { message, .. }) = event {
            self.messages.push((now, message.clone()));
            return;
        }
        if let Event::Session(SessionEvent::FrameReceived { stream, frame }) = event
            && self.receives_room
            && frame.codec == Codec::Vp8
        {
            return self.on_picture(now, *stream, &frame.data);
        }
        if let Event::Session(SessionEvent::FrameReceived { frame, .. }) = event
            && frame.codec == Codec::Opus
        {
            self.sounds += 1;
            return;
        }
        if let Event::Session(SessionEvent::FrameReceived { frame, .. }) = event
            && frame.codec == Codec::H264
        {
            assert_eq!(frame.data, STILL);
            self.stills += 1;
            return;
        }
        let Some(camera) = &mut self.camera else {
            return self.record.on_event(now, Side::Receiver, event);
        };
        for (source, most) in &mut camera.sources {
            // Browsers answer a request for one encoding with keyframes of all.
            heed(source, event);
            source.rate = source.rate.min(*most);
        }
        if let Event::Session(SessionEvent::KeyframeRequested { .. }) = event {
            camera.keyframes_asked += 1;
        }
        if self.peer.is_connected() {
            camera.next_frame.get_or_insert(now);
        }
    }
}
