//! The thread that writes recordings.

use super::job::{AskKeyframe, Batch, Job, RecordingEvent};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use weft_forwarding::{Recorded, RecordedKind, RecordedTrack};
use weft_net::Clock;
use weft_record::{Index, RecorderError, Recording, TrackKey, TrackKind, TrackSource};
use weft_units::Instant;

/// Interval at which due frames are written. Chosen by us: far below the acceptable loss
/// in a crash.
const TICK: Duration = Duration::from_millis(20);
/// Interval at which a loss is reported. Chosen by us.
const TELL_LOSS: weft_units::Duration = weft_units::Duration::from_secs(10);

/// Recording of a room.
struct Open {
    recording: Recording,
    /// Number of packets lost since the last report, and the time of that.
    lost: u64,
    told: Option<Instant>,
}

pub(super) struct Writer {
    folder: PathBuf,
    clock: Clock,
    ask: AskKeyframe,
    events: UnboundedSender<RecordingEvent>,
    waiting: Arc<AtomicUsize>,
    rooms: BTreeMap<String, Open>,
    /// Rooms of the tracks.
    tracks: BTreeMap<TrackKey, String>,
}

/// Returns the number of a plane's track among those of all planes.
fn key(plane: usize, track: RecordedTrack) -> TrackKey {
    TrackKey((plane as u64) << PLANE | track.0)
}

/// Bits of a track's number below that of its plane.
const PLANE: u32 = 48;

impl Writer {
    pub(super) fn new(
        folder: PathBuf,
        clock: Clock,
        ask: AskKeyframe,
        events: UnboundedSender<RecordingEvent>,
        waiting: Arc<AtomicUsize>,
    ) -> Writer {
        Writer {
            folder,
            clock,
            ask,
            events,
            waiting,
            rooms: BTreeMap::new(),
            tracks: BTreeMap::new(),
        }
    }

    pub(super) fn run(mut self, jobs: &Receiver<Job>) {
        let mut ticked = Instant::ZERO;
        loop {
            let job = match self.rooms.is_empty() {
                true => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                false => jobs.recv_timeout(TICK),
            };
            match job {
                Ok(Job::End) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(job) => self.handle(job),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = self.clock.now();
            if now.saturating_since(ticked) >= TICK.into() {
                ticked = now;
                self.tick(now);
            }
        }
        for room in self.rooms.keys().cloned().collect::<Vec<_>>() {
            self.stop(&room);
        }
    }

    fn handle(&mut self, job: Job) {
        match job {
            Job::Start { room, names, reply } => {
                self.stop(&room);
                let now = (self.clock.now(), SystemTime::now());
                let recording = Recording::create(&self.folder, &room, now);
                let started = recording.map(|mut recording| {
                    for (id, name) in &names {
                        recording.set_name(id, name);
                    }
                    let folder = recording.folder().to_owned();
                    let open = Open {
                        recording,
                        lost: 0,
                        told: None,
                    };
                    self.rooms.insert(room.clone(), open);
                    folder
                });
                self.answer(room, started, reply);
            }
            Job::Stop { room, reply } => {
                self.stop(&room);
                let _ = reply.send(());
            }
            Job::Yield { room } => self.yield_room(&room),
            Job::Name { room, id, name } => {
                if let Some(open) = self.rooms.get_mut(&room) {
                    open.recording.set_name(&id, &name);
                }
            }
            Job::Media(batch) => self.take(batch),
            Job::Flush(reply) => {
                let _ = self.events.send(RecordingEvent::Flushed(reply));
            }
            Job::PlaneLost(plane) => {
                let of = |key: &&TrackKey| key.0 >> PLANE == plane as u64;
                let lost = self.tracks.keys().filter(of);
                for key in lost.copied().collect::<Vec<_>>() {
                    self.end_track(key);
                }
            }
            Job::End => {}
        }
    }

    fn answer(
        &self,
        room: String,
        started: Result<PathBuf, RecorderError>,
        reply: Option<oneshot::Sender<Result<PathBuf, RecorderError>>>,
    ) {
        // The receivers are gone while the server ends.
        if let Some(reply) = reply {
            let _ = reply.send(started);
            return;
        }
        let event = match started {
            Ok(folder) => RecordingEvent::Started { room, folder },
            Err(error) => {
                let error = error.to_string();
                RecordingEvent::Failed { room, error }
            }
        };
        let _ = self.events.send(event);
    }

    fn take(&mut self, batch: Batch) {
        batch.release(&self.waiting);
        let Batch {
            plane,
            now,
            messages,
            lost,
            ..
        } = batch;
        for (track, packets) in lost {
            let room = self.tracks.get(&key(plane, track));
            if let Some(open) = room.and_then(|room| self.rooms.get_mut(room)) {
                open.recording.note_lost(packets);
                open.lost += packets;
            }
        }
        for message in messages {
            match message {
                Recorded::Began {
                    track,
                    publisher,
                    kind,
                    codec,
                } => {
                    let Some(open) = self.rooms.get_mut(&publisher.room) else {
                        continue;
                    };
                    if !weft_record::can_record(codec) {
                        let room = publisher.room;
                        let event = RecordingEvent::NotRecorded { room, codec };
                        let _ = self.events.send(event);
                        continue;
                    }
                    let key = key(plane, track);
                    let source = TrackSource {
                        participant: publisher.participant,
                        kind: match kind {
                            RecordedKind::Camera => TrackKind::Camera,
                            RecordedKind::Screen => TrackKind::Screen,
                            RecordedKind::Microphone => TrackKind::Microphone,
                        },
                        codec,
                    };
                    open.recording.begin(key, source);
                    self.tracks.insert(key, publisher.room);
                }
                Recorded::Packet { track, packet } => {
                    let key = key(plane, track);
                    self.with(key, |recording| recording.handle_packet(now, key, &packet));
                }
                Recorded::Ended { track } => self.end_track(key(plane, track)),
            }
        }
    }

    fn end_track(&mut self, key: TrackKey) {
        self.with(key, |recording| recording.end(key));
        self.tracks.remove(&key);
    }

    /// Calls the recording of a track; an error ends the recording.
    fn with(
        &mut self,
        key: TrackKey,
        call: impl FnOnce(&mut Recording) -> Result<(), RecorderError>,
    ) {
        let Some(room) = self.tracks.get(&key) else {
            return;
        };
        let Some(open) = self.rooms.get_mut(room) else {
            return;
        };
        if let Err(error) = call(&mut open.recording) {
            let room = room.clone();
            self.fail(&room, &error);
        }
    }

    fn tick(&mut self, now: Instant) {
        let mut failed = Vec::new();
        for (room, open) in &mut self.rooms {
            if let Err(error) = open.recording.handle_timeout(now) {
                failed.push((room.clone(), error));
            }
            while let Some(TrackKey(key)) = open.recording.poll_keyframe() {
                let track = RecordedTrack(key & ((1 << PLANE) - 1));
                (self.ask)((key >> PLANE) as usize, track);
            }
            let is_due = |at| now.saturating_since(at) >= TELL_LOSS;
            if open.lost > 0 && open.told.is_none_or(is_due) {
                open.told = Some(now);
                let packets = std::mem::take(&mut open.lost);
                let room = room.clone();
                let _ = self.events.send(RecordingEvent::Slow { room, packets });
            }
        }
        for (room, error) in failed {
            self.fail(&room, &error);
        }
    }

    /// Completes a recording that cannot continue.
    fn fail(&mut self, room: &str, error: &RecorderError) {
        let error = error.to_string();
        // The error is the first one; the part on disk stays playable.
        let _ = self.complete(room, Some(error.clone()));
        let room = room.to_owned();
        let _ = self.events.send(RecordingEvent::Failed { room, error });
    }

    /// Completes a recording.
    fn stop(&mut self, room: &str) {
        if let Err(error) = self.complete(room, None) {
            let (room, error) = (room.to_owned(), error.to_string());
            let _ = self.events.send(RecordingEvent::Failed { room, error });
        }
    }

    /// Completes a recording that another server of the cluster continues. A recording
    /// without tracks is deleted.
    fn yield_room(&mut self, room: &str) {
        let folder = self.rooms.get(room).map(|open| open.recording.folder());
        let Some(folder) = folder.map(Path::to_owned) else {
            return;
        };
        let is_empty = Index::read(&folder).is_ok_and(|index| index.tracks.is_empty());
        if is_empty {
            self.close(room);
            let _ = std::fs::remove_file(folder.join(Index::FILE));
            let _ = std::fs::remove_dir(&folder);
        } else {
            self.stop(room);
        }
    }

    /// Completes the files of a recording, if there is one, and reports that.
    fn complete(&mut self, room: &str, error: Option<String>) -> Result<(), RecorderError> {
        let Some(open) = self.close(room) else {
            return Ok(());
        };
        let folder = open.recording.folder().to_owned();
        let finished = open.recording.finish(self.clock.now(), error);
        let room = room.to_owned();
        let _ = self.events.send(RecordingEvent::Ready { room, folder });
        finished
    }

    fn close(&mut self, room: &str) -> Option<Open> {
        self.tracks.retain(|_, of| of != room);
        self.rooms.remove(room)
    }
}
