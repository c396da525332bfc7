//! One track of a recording: assembles packets into frames and writes frames to files.

use crate::error::RecorderError;
use crate::file::TrackFile;
use crate::mp4::Parameters;
use std::path::{Path, PathBuf};
use weft_session::receive::{ReceiveConfig, ReceiveEvent, ReceivedPacket, Receiver};
use weft_session::{Delivery, ReceivedFrame, ReceiverProfile};
use weft_units::{Codec, Deadline, Instant, PathId};
use weft_wire::media::ForwardedPacket;

/// Gap after which the stream continues in another file, because players show a gap as a
/// frozen picture. Chosen by us: longer than any outage that a call survives.
const GAP: weft_units::Duration = weft_units::Duration::from_secs(30);

/// Track and its present file.
pub(crate) struct Track {
    codec: Codec,
    receiver: Receiver,
    parameters: Parameters,
    file: Option<(PathBuf, TrackFile)>,
    /// Arrival times of the first and the last frame in the present file.
    span: Option<(Instant, Instant)>,
}

/// Change of a track.
#[derive(Debug)]
pub(crate) enum TrackChange {
    /// A file started with a frame of this time.
    Began { path: PathBuf, start: Instant },
    /// A file is complete; `end` is the time of its last frame.
    Ended { path: PathBuf, end: Instant },
    /// Nothing can be recorded until the publisher sends a keyframe.
    KeyframeNeeded,
}

impl Track {
    pub(crate) fn new(codec: Codec) -> Track {
        Track {
            codec,
            receiver: Receiver::new(ReceiveConfig {
                codec,
                delivery: Delivery::Frames,
                profile: ReceiverProfile::default(),
            }),
            parameters: Parameters::default(),
            file: None,
            span: None,
        }
    }

    pub(crate) fn codec(&self) -> Codec {
        self.codec
    }

    /// Handles a packet of the track. `name` generates the candidate paths of a new file.
    pub(crate) fn handle_packet<P: Iterator<Item = PathBuf>>(
        &mut self,
        now: Instant,
        packet: &ForwardedPacket,
        name: impl Fn() -> P,
        changes: &mut Vec<TrackChange>,
    ) -> Result<(), RecorderError> {
        let joined;
        let payload = match packet.payload.prefix.octets() {
            [] => &packet.payload.body[..],
            _ => {
                joined = packet.payload.to_vec();
                &joined
            }
        };
        let packet = ReceivedPacket {
            path: PathId(0),
            sequence: packet.sequence,
            stream_sequence: None,
            timestamp: packet.timestamp,
            marker: packet.marker,
            audio_level: None,
            dependency: &[],
            payload,
            recovered: false,
        };
        self.receiver.handle_packet(now, packet);
        self.take_events(name, changes)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Deadline> {
        self.receiver.poll_timeout()
    }

    /// Handles the events that are due.
    pub(crate) fn handle_timeout<P: Iterator<Item = PathBuf>>(
        &mut self,
        now: Instant,
        name: impl Fn() -> P,
        changes: &mut Vec<TrackChange>,
    ) -> Result<(), RecorderError> {
        if self.receiver.poll_timeout().is_some_and(|d| d.at <= now) {
            self.receiver.handle_timeout(now);
        }
        self.take_events(name, changes)
    }

    /// Completes the present file.
    pub(crate) fn finish(&mut self, changes: &mut Vec<TrackChange>) -> Result<(), RecorderError> {
        let (Some((path, file)), span) = (self.file.take(), self.span.take()) else {
            return Ok(());
        };
        let finished = file.finish();
        if let Some((_, end)) = span {
            changes.push(TrackChange::Ended { path, end });
        }
        finished
    }

    fn take_events<P: Iterator<Item = PathBuf>>(
        &mut self,
        name: impl Fn() -> P,
        changes: &mut Vec<TrackChange>,
    ) -> Result<(), RecorderError> {
        while let Some(event) = self.receiver.poll_event() {
            match event {
                ReceiveEvent::Frame(frame) => self.take_frame(&frame, &name, changes)?,
                ReceiveEvent::KeyframeNeeded => changes.push(TrackChange::KeyframeNeeded),
                // The server itself requests missing packets.
                ReceiveEvent::Nack { .. }
                | ReceiveEvent::PathQuality(_)
                | ReceiveEvent::Packet(_) => {}
            }
        }
        Ok(())
    }

    fn take_frame<P: Iterator<Item = PathBuf>>(
        &mut self,
        frame: &ReceivedFrame,
        name: &impl Fn() -> P,
        changes: &mut Vec<TrackChange>,
    ) -> Result<(), RecorderError> {
        if self.codec == Codec::H264 && frame.keyframe {
            self.parameters.update(&frame.data);
        }
        let at = frame.first_arrival;
        let is_late = |(_, last): (Instant, Instant)| at.saturating_since(last) > GAP;
        let continues = |(_, file): &(PathBuf, TrackFile)| file.continues(&self.parameters);
        let ends = self.span.is_some_and(is_late) || !self.file.as_ref().is_none_or(continues);
        if ends && frame.keyframe {
            self.finish(changes)?;
        }
        if self.file.is_none() {
            if !frame.keyframe {
                return Ok(());
            }
            self.file = create(name(), self.codec, &self.parameters)?;
        }
        let Some((path, file)) = &mut self.file else {
            return Ok(());
        };
        file.write(frame)?;
        if let (None, Some(start)) = (self.span, file.start()) {
            let path = path.clone();
            changes.push(TrackChange::Began { path, start });
        }
        let first = self.span.map_or(at, |(first, _)| first);
        self.span = file.start().map(|_| (first, at));
        Ok(())
    }
}

/// Creates a file with the first free name, without races against other programs.
fn create(
    paths: impl Iterator<Item = PathBuf>,
    codec: Codec,
    parameters: &Parameters,
) -> Result<Option<(PathBuf, TrackFile)>, RecorderError> {
    for path in paths {
        match TrackFile::create(&path, codec, parameters) {
            Ok(file) => return Ok(file.map(|file| (path, file))),
            Err(RecorderError::Create { reason, .. })
                if reason.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns the name of a file.
pub(crate) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
