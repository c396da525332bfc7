//! What is received, on disk: one file per participant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use weft_media::{Recorder, Tracks};
use weft_session::{MediaKind, ReceivedFrame};
use weft_units::{Instant, VideoCodec};

use crate::exit::Failure;
use crate::signalling::Participant;

/// The first participant gets the file that was named, each further one a
/// file beside it with their name in it.
pub struct Recording {
    path: PathBuf,
    used: BTreeSet<PathBuf>,
    files: BTreeMap<String, Recorder>,
    /// Who sends pictures that a recording cannot hold.
    without_pictures: BTreeSet<String>,
}

impl Recording {
    pub fn new(path: &Path) -> Result<Recording, Failure> {
        if path.extension().is_none_or(|e| e != "webm") {
            return Err(Failure::Usage(format!(
                "--record {}: recordings are WebM; name a file that ends in .webm",
                path.display()
            )));
        }
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
        if directory.is_some_and(|d| !d.is_dir()) {
            return Err(Failure::Usage(format!(
                "--record {}: the directory is not there; make it first",
                path.display()
            )));
        }
        Ok(Recording {
            path: path.to_owned(),
            used: BTreeSet::new(),
            files: BTreeMap::new(),
            without_pictures: BTreeSet::new(),
        })
    }

    pub fn begin(&mut self, participant: &Participant) {
        let tracks = match (participant.publishing.video, participant.publishing.audio) {
            (true, true) => Tracks::Both,
            (true, false) => Tracks::Video,
            (false, _) => Tracks::Audio,
        };
        let path = self.file_for(&participant.name);
        match Recorder::create(&path, tracks) {
            Ok(recorder) => {
                self.used.insert(path);
                self.files.insert(participant.id.clone(), recorder);
            }
            Err(error) => eprintln!("weft: {error}"),
        }
    }

    fn file_for(&self, name: &str) -> PathBuf {
        if self.used.is_empty() {
            return self.path.clone();
        }
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
        let name: String = name.chars().map(safe).collect();
        let candidate = |n: usize| {
            let number = if n > 1 {
                format!("-{n}")
            } else {
                String::new()
            };
            self.path
                .with_file_name(format!("{stem}-{name}{number}.webm"))
        };
        (1..)
            .map(candidate)
            .find(|p| !self.used.contains(p))
            .unwrap_or_default()
    }

    /// Writes a frame that came out `at` this time.
    pub fn take(&mut self, id: &str, kind: MediaKind, at: Instant, frame: &ReceivedFrame) {
        if kind == MediaKind::Video && frame.codec == VideoCodec::H264 {
            self.leave_out_pictures(id);
            return;
        }
        let Some(recorder) = self.files.get_mut(id) else {
            return;
        };
        let written = match kind {
            MediaKind::Video => recorder.video(at, frame.timestamp, frame.keyframe, &frame.data),
            MediaKind::Audio => recorder.audio(at, frame.timestamp, &frame.data),
        };
        if let Err(error) = written {
            // The call matters more than its record.
            eprintln!("weft: {error}; this recording has ended, the call goes on");
            self.files.remove(id);
        }
    }

    /// WebM has no H.264: the recording goes on, or begins, with the sound.
    fn leave_out_pictures(&mut self, id: &str) {
        if !self.without_pictures.insert(id.to_owned()) {
            return;
        }
        let Some(path) = self.files.get(id).map(|r| r.path().to_owned()) else {
            return;
        };
        eprintln!(
            "weft: {}: they send H.264, which WebM cannot hold; only their sound is recorded \
             (their pictures are if they send VP8: weft join --codec vp8)",
            path.display()
        );
        match Recorder::create(&path, Tracks::Audio) {
            Ok(recorder) => {
                self.files.insert(id.to_owned(), recorder);
            }
            Err(error) => {
                eprintln!("weft: {error}");
                self.files.remove(id);
            }
        }
    }

    pub fn end(&mut self, id: &str) {
        self.without_pictures.remove(id);
        if let Some(Err(error)) = self.files.remove(id).map(Recorder::finish) {
            eprintln!("weft: {error}");
        }
    }
}
