//! What is received, on disk: one file per participant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use weft_media::{Recorder, Tracks};
use weft_session::{MediaKind, ReceivedFrame};
use weft_units::Instant;

use crate::exit::Failure;
use crate::signalling::Participant;

/// The first participant gets the file that was named, each further one a
/// file beside it with their name in it.
pub struct Recording {
    path: PathBuf,
    used: BTreeSet<PathBuf>,
    files: BTreeMap<String, Recorder>,
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

    pub fn end(&mut self, id: &str) {
        if let Some(Err(error)) = self.files.remove(id).map(Recorder::finish) {
            eprintln!("weft: {error}");
        }
    }
}
