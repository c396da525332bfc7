//! Stream played by a connection: its frames, and whether any arrive.

use std::sync::Arc;
use std::time::{Duration, Instant};

use weft_peer::{Section, StreamDirection};
use weft_rooms::{Camera, Publishing};
use weft_session::ReceivedFrame;
use weft_units::{MediaKind, PathId};

use crate::call::Statistics;
use crate::call::event_sender::CallEventSender;
use crate::call::inbox::Frames;
use crate::caller::{PeerReport, Track};
use crate::event::{Event, PlayedFrame};
use crate::links::PathLinks;
use crate::received::Received;
use crate::signalling::Participant;

/// Name and id of the stream in events and statistics, like those of a participant in a
/// room.
pub(super) const STREAM: &str = "stream";

/// Silence of the media after which it is reported. Chosen by us: longer than the
/// keyframe interval of common encoders.
const SILENT_AFTER: Duration = Duration::from_secs(5);

/// Returns the sections of a player's offer. Servers answer with the part that they
/// support.
pub(super) fn sections() -> Vec<Section> {
    let kinds = [MediaKind::Audio, MediaKind::Video];
    let sections = kinds.map(|kind| Section::new(kind, StreamDirection::Receive));
    sections.to_vec()
}

/// Stream of the present connection, and totals over all of them.
pub(super) struct Playback {
    frames: Arc<Frames>,
    links: PathLinks,
    received: Received,
    /// Time of the last frame, or of the connection; `None` without one.
    heard: Option<Instant>,
    is_silent: bool,
}

impl Playback {
    pub fn new(frames: Arc<Frames>) -> Playback {
        Playback {
            frames,
            links: PathLinks::default(),
            received: Received::default(),
            heard: None,
            is_silent: false,
        }
    }

    /// Returns the bound on waiting frames.
    pub fn frames(&self) -> &Arc<Frames> {
        &self.frames
    }

    pub fn on_path(&mut self, path: PathId, link: &str) {
        self.links.insert(path, link);
    }

    /// Starts the stream of a new connection.
    pub fn begin(&mut self, url: &str, report: Option<&PeerReport>, events: &CallEventSender) {
        self.heard = Some(Instant::now());
        self.is_silent = false;
        let sections = report.into_iter().flat_map(|report| &report.sections);
        let tracks: Vec<Track> = sections.map(|(_, (_, track))| *track).collect();
        let cameras = tracks.iter().filter(|track| **track != Track::Sound);
        let cameras: Vec<Camera> = cameras.map(|_| Camera::default()).collect();
        let publishing = Publishing {
            cameras,
            audio: tracks.contains(&Track::Sound),
        };
        events.send(Event::PlayingStream {
            url: url.to_owned(),
            cameras: publishing.cameras.len(),
            sound: publishing.audio,
            level: report.map(|report| report.level),
        });
        events.send(Event::Playing(Participant {
            id: STREAM.to_owned(),
            name: STREAM.to_owned(),
            publishing,
            muted: false,
        }));
    }

    /// Ends the stream of the present connection.
    pub fn end(&mut self, events: &CallEventSender) {
        self.links.clear();
        if self.heard.take().is_some() {
            let id = STREAM.to_owned();
            events.send(Event::PlayingEnded { id });
        }
    }

    pub fn on_frame(
        &mut self,
        track: Track,
        at: weft_units::Instant,
        frame: ReceivedFrame,
        events: &CallEventSender,
    ) {
        let bytes = frame.data.len();
        if self.heard.is_none() {
            return self.frames.release(bytes);
        }
        self.heard = Some(Instant::now());
        self.is_silent = false;
        self.received.on_frame(track, at, &frame);
        let links = self.links.of(&frame);
        let is_sent = events.send(Event::Frame(PlayedFrame {
            from: STREAM.to_owned(),
            track,
            at,
            frame,
            links,
        }));
        if !is_sent {
            self.frames.drop_one(bytes);
        }
    }

    /// Reports a server that sends no media over its connection, once per silence.
    pub fn look(&mut self, now: Instant, events: &CallEventSender) {
        let is_silent = |heard: Instant| now.saturating_duration_since(heard) >= SILENT_AFTER;
        if self.heard.is_some_and(is_silent) && !std::mem::replace(&mut self.is_silent, true) {
            let seconds = SILENT_AFTER.as_secs();
            events.send(Event::StreamSilent { seconds });
        }
    }

    /// Adds the stream to statistics.
    pub fn fill(&self, statistics: &mut Statistics) {
        statistics.reception = statistics.publication.take();
        let received = self.received.clone();
        statistics.received.insert(STREAM.to_owned(), received);
        statistics.dropped_frames = self.frames.dropped();
        for report in &mut statistics.peers {
            let tracks = report.sections.iter();
            let tracks = tracks.map(|(stream, (_, track))| (*stream, *track));
            report.tracks.extend(tracks);
        }
    }
}
