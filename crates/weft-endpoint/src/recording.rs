//! Recording of received media: one file per camera, each with the sound. Players show
//! only one video track of a file, so every file plays by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use weft_record::{Recorder, RecorderError, Tracks};
use weft_session::ReceivedFrame;
use weft_units::Instant;

use crate::caller::Track;
use crate::event::{Event, PlayedFrame};
use crate::notice::{Notice, Notices};
use crate::signalling::Participant;

/// Recorder of a call, which can [pause](Recording::pause). The first participant's first
/// camera goes to the given file, and everything else to files beside it with the
/// participant's name. Existing files are not overwritten, so a restarted call keeps its
/// earlier recordings.
pub struct Recording {
    path: PathBuf,
    used: BTreeSet<PathBuf>,
    /// Whether the next file is the first one since the start or [`Recording::resume`].
    is_first: bool,
    is_paused: bool,
    /// Participants who are received.
    playing: BTreeMap<String, Participant>,
    /// Whether the limit of files was reported.
    is_full: bool,
    /// Files by participant and camera index.
    files: BTreeMap<(String, usize), Recorder>,
    /// Cameras whose pictures a recording cannot contain.
    without_pictures: BTreeSet<(String, usize)>,
    /// Error of the first recording that failed.
    failed: Option<RecorderError>,
    /// Error of the last recording that failed since the start or [`Recording::resume`].
    error: Option<String>,
    notices: Notices,
}

/// Maximum length of a participant's name in a file name, in characters of up
/// to four octets: a file name has 255 octets (`NAME_MAX`), and a number may
/// follow. Chosen by us.
const MAX_TITLE: usize = 40;

/// Maximum number of files of a recording, since participants may join and leave without
/// limit. Chosen by us.
const MAX_FILES: usize = 1000;

/// Reason why a recording is impossible or incomplete.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The path has another extension than `.webm`.
    #[error("{}: recordings are WebM; name a file that ends in .webm", .0.display())]
    NotWebm(PathBuf),
    /// The directory of the path does not exist.
    #[error("{}: the directory does not exist; create it first", .0.display())]
    NoDirectory(PathBuf),
    /// A file could not be written completely.
    #[error("the recording is incomplete: {0}")]
    Incomplete(RecorderError),
}

impl Recording {
    /// Starts a recording whose first file has this path. Notices report what happens to
    /// its files.
    ///
    /// # Errors
    /// If the file cannot exist.
    pub fn new(path: &Path, notices: Notices) -> Result<Recording, RecordingError> {
        if path.extension().is_none_or(|e| e != "webm") {
            return Err(RecordingError::NotWebm(path.to_owned()));
        }
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
        if directory.is_some_and(|d| !d.is_dir()) {
            return Err(RecordingError::NoDirectory(path.to_owned()));
        }
        Ok(Recording {
            path: path.to_owned(),
            used: BTreeSet::new(),
            is_first: true,
            is_paused: false,
            playing: BTreeMap::new(),
            is_full: false,
            files: BTreeMap::new(),
            without_pictures: BTreeSet::new(),
            failed: None,
            error: None,
            notices,
        })
    }

    /// Records the media of an event, if it has any.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::Playing(participant) => {
                let id = participant.id.clone();
                self.playing.insert(id, participant.clone());
                if !self.is_paused {
                    self.begin(participant);
                }
            }
            Event::Frame(PlayedFrame {
                from,
                track,
                at,
                frame,
                ..
            }) if !self.is_paused => self.take(from, *track, *at, frame),
            Event::PlayingEnded { id } => {
                self.playing.remove(id);
                self.end(id);
            }
            _ => {}
        }
    }

    /// Closes all files and records nothing until [`Recording::resume`].
    pub fn pause(&mut self) {
        self.is_paused = true;
        for id in self.playing.keys().cloned().collect::<Vec<_>>() {
            self.end(&id);
        }
    }

    /// Continues in new files. Pictures start at a keyframe: see
    /// [`Stopper::request_keyframes`](crate::Stopper::request_keyframes).
    pub fn resume(&mut self) {
        if !std::mem::replace(&mut self.is_paused, false) {
            return;
        }
        self.is_first = true;
        self.error = None;
        for participant in self.playing.values().cloned().collect::<Vec<_>>() {
            self.begin(&participant);
        }
    }

    /// Whether it records nothing until [`Recording::resume`].
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Error of the last file that failed since the start or [`Recording::resume`].
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    fn begin(&mut self, participant: &Participant) {
        let publishing = &participant.publishing;
        let tracks = match (publishing.cameras.is_empty(), publishing.audio) {
            (false, true) => Tracks::Both,
            (false, false) => Tracks::Video,
            (true, _) => Tracks::Audio,
        };
        for place in 0..publishing.cameras.len().max(1) {
            if self.used.len() >= MAX_FILES {
                if !std::mem::replace(&mut self.is_full, true) {
                    self.notices
                        .send(Notice::RecordingFull { files: MAX_FILES });
                }
                return;
            }
            match self.create(&title(participant, place), tracks) {
                Ok((path, recorder)) => {
                    if std::mem::replace(&mut self.is_first, false) && path != self.path {
                        self.notices.send(Notice::RecordingElsewhere {
                            taken: self.path.clone(),
                            path: path.clone(),
                        });
                    }
                    self.used.insert(path);
                    let key = (participant.id.clone(), place);
                    self.files.insert(key, recorder);
                }
                Err(error) => self.on_failure(error),
            }
        }
    }

    /// Creates a file with the next free name, without races against other programs.
    fn create(&self, name: &str, tracks: Tracks) -> Result<(PathBuf, Recorder), RecorderError> {
        for path in self.files_for(name) {
            match Recorder::create_new(&path, tracks) {
                Ok(recorder) => return Ok((path, recorder)),
                Err(RecorderError::Create { reason, .. })
                    if reason.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("there is always another number")
    }

    fn files_for(&self, name: &str) -> impl Iterator<Item = PathBuf> {
        let stem = self
            .path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let safe = |c: char| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        };
        let title = if self.is_first {
            stem
        } else {
            stem + "-" + &name.chars().map(safe).take(MAX_TITLE).collect::<String>()
        };
        let path = self.path.clone();
        let candidate = move |n: usize| {
            let number = if n > 1 {
                format!("-{n}")
            } else {
                String::new()
            };
            path.with_file_name(format!("{title}{number}.webm"))
        };
        (1..).map(candidate)
    }

    /// Writes a frame released at this time; sound goes to each of the
    /// participant's files.
    fn take(&mut self, id: &str, track: Track, at: Instant, frame: &ReceivedFrame) {
        if let Track::Camera(place) = track
            && !Recorder::takes(frame.codec)
        {
            self.leave_out_pictures((id.to_owned(), place));
            return;
        }
        let files = self.files.range_mut(files_of(id));
        let mut failed = Vec::new();
        for (key, recorder) in files {
            let written = match track {
                Track::Sound => recorder.audio(at, frame.timestamp, &frame.data),
                Track::Camera(place) if place == key.1 => {
                    recorder.video(at, frame.timestamp, frame.keyframe, &frame.data)
                }
                Track::Camera(_) => continue,
            };
            if let Err(error) = written {
                failed.push((key.clone(), error));
            }
        }
        for (key, error) in failed {
            self.files.remove(&key);
            self.on_failure(error);
        }
    }

    /// Continues or starts the recording with sound only, because WebM does not support
    /// H.264.
    fn leave_out_pictures(&mut self, camera: (String, usize)) {
        if !self.without_pictures.insert(camera.clone()) {
            return;
        }
        let Some(path) = self.files.get(&camera).map(|r| r.path().to_owned()) else {
            return;
        };
        self.notices
            .send(Notice::RecordingOfSound { path: path.clone() });
        match Recorder::create(&path, Tracks::Audio) {
            Ok(recorder) => {
                self.files.insert(camera, recorder);
            }
            Err(error) => {
                self.files.remove(&camera);
                self.on_failure(error);
            }
        }
    }

    fn end(&mut self, id: &str) {
        self.without_pictures.retain(|(other, _)| other != id);
        let ended = self.files.range(files_of(id)).map(|(key, _)| key.clone());
        for key in ended.collect::<Vec<_>>() {
            if let Some(Err(error)) = self.files.remove(&key).map(Recorder::finish) {
                self.on_failure(error);
            }
        }
    }

    /// Reports the failure once; the call itself continues.
    fn on_failure(&mut self, error: RecorderError) {
        self.error = Some(error.to_string());
        self.notices
            .send(Notice::RecordingFailed(error.to_string()));
        self.failed.get_or_insert(error);
    }

    /// Closes every file; reports if there is none.
    ///
    /// # Errors
    /// If a file is incomplete.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        for (_, recorder) in std::mem::take(&mut self.files) {
            if let Err(error) = recorder.finish() {
                self.on_failure(error);
            }
        }
        if self.used.is_empty() && self.failed.is_none() && !self.is_paused {
            let path = self.path.clone();
            self.notices.send(Notice::NothingRecorded { path });
        }
        match self.failed {
            Some(error) => Err(RecordingError::Incomplete(error)),
            None => Ok(()),
        }
    }
}

/// Files of all cameras of a participant.
fn files_of(id: &str) -> RangeInclusive<(String, usize)> {
    (id.to_owned(), 0)..=(id.to_owned(), usize::MAX)
}

/// Returns the title of a file beside the first one: the participant, and the camera's
/// number unless it is the first.
fn title(participant: &Participant, place: usize) -> String {
    let name = &participant.name;
    let camera = participant.publishing.cameras.get(place);
    match camera.and_then(|c| c.name.as_ref()) {
        _ if place == 0 => name.clone(),
        Some(camera) => format!("{name}-{camera}"),
        None => format!("{name}-camera-{}", place + 1),
    }
}

#[cfg(test)]
mod tests;
