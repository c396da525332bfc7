//! What is received, on disk: one file per camera, each with the sound, so
//! that each plays by itself in whatever plays videos. Players show one track
//! of pictures of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use weft_media::{Recorder, RecorderError, Tracks};
use weft_session::ReceivedFrame;
use weft_units::Instant;

use crate::caller::Track;
use crate::event::{Event, PlayedFrame};
use crate::notice::{Notice, Notices};
use crate::signalling::Participant;

/// The first participant's first camera gets the file that was named,
/// everything else a file beside it with their name in it. A file that is there
/// already is left alone: a sender that is started again keeps what it has.
pub struct Recording {
    path: PathBuf,
    used: BTreeSet<PathBuf>,
    /// That there are too many files was told.
    is_full: bool,
    /// By participant and place of the camera.
    files: BTreeMap<(String, usize), Recorder>,
    /// Who sends pictures that a recording cannot hold, by camera.
    without_pictures: BTreeSet<(String, usize)>,
    /// Why the first recording that failed did.
    failed: Option<RecorderError>,
    notices: Notices,
}

/// Most of a name that goes into a file's, in characters of four octets at most: a
/// file's has 255 octets (`NAME_MAX`), and a number may follow. Chosen by us.
const MAX_TITLE: usize = 40;

/// Files of one recording: participants may come and go without end. Chosen by us.
const MAX_FILES: usize = 1000;

/// What is received cannot be recorded there, or not wholly.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is to be another format.
    #[error("{}: recordings are WebM; name a file that ends in .webm", .0.display())]
    NotWebm(PathBuf),
    /// It is to be where nothing can be.
    #[error("{}: the directory is not there; make it first", .0.display())]
    NoDirectory(PathBuf),
    /// A file could not be written to its end.
    #[error("what is recorded is not whole: {0}")]
    Incomplete(RecorderError),
}

impl Recording {
    /// A recording of what comes from now on, which begins with this file.
    /// What becomes of its files is told as notices.
    ///
    /// # Errors
    /// If there can be no such file.
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
            is_full: false,
            files: BTreeMap::new(),
            without_pictures: BTreeSet::new(),
            failed: None,
            notices,
        })
    }

    /// Takes what there is to record in an event of a call.
    pub fn on_event(&mut self, event: &Event) {
        match event {
            Event::Playing(participant) => self.begin(participant),
            Event::Frame(PlayedFrame {
                from,
                track,
                at,
                frame,
                ..
            }) => self.take(from, *track, *at, frame),
            Event::PlayingEnded { id } => self.end(id),
            _ => {}
        }
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
                        .tell(Notice::RecordingFull { files: MAX_FILES });
                }
                return;
            }
            match self.create(&title(participant, place), tracks) {
                Ok((path, recorder)) => {
                    if self.used.is_empty() && path != self.path {
                        self.notices.tell(Notice::RecordingElsewhere {
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

    /// Makes the next file that nobody has: not even another program that makes
    /// some at the same time.
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
        let title = if self.used.is_empty() {
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

    /// Writes a frame that came out `at` this time; sound into each of the
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

    /// WebM has no H.264: the recording goes on, or begins, with the sound.
    fn leave_out_pictures(&mut self, camera: (String, usize)) {
        if !self.without_pictures.insert(camera.clone()) {
            return;
        }
        let Some(path) = self.files.get(&camera).map(|r| r.path().to_owned()) else {
            return;
        };
        self.notices
            .tell(Notice::RecordingOfSound { path: path.clone() });
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

    /// The call matters more than its record.
    fn on_failure(&mut self, error: RecorderError) {
        self.notices
            .tell(Notice::RecordingFailed(error.to_string()));
        self.failed.get_or_insert(error);
    }

    /// Ends every file, and says so if there is none.
    ///
    /// # Errors
    /// If not everything was written.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        for (_, recorder) in std::mem::take(&mut self.files) {
            if let Err(error) = recorder.finish() {
                self.on_failure(error);
            }
        }
        if self.used.is_empty() && self.failed.is_none() {
            let path = self.path.clone();
            self.notices.tell(Notice::NothingRecorded { path });
        }
        match self.failed {
            Some(error) => Err(RecordingError::Incomplete(error)),
            None => Ok(()),
        }
    }
}

/// The files of all cameras of a participant.
fn files_of(id: &str) -> RangeInclusive<(String, usize)> {
    (id.to_owned(), 0)..=(id.to_owned(), usize::MAX)
}

/// What a file beside the first one is called after: the participant, and
/// which of their cameras if it is not the first.
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
