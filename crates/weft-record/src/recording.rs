//! Recording of a room.

#[cfg(test)]
mod tests;

use crate::error::RecorderError;
use crate::file::TrackFile;
use crate::index::{Index, TrackEntry, TrackKind};
use crate::name::{candidates, safe};
use crate::track::{Track, TrackChange, file_name};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use weft_units::{Codec, Deadline, Instant};
use weft_wire::media::ForwardedPacket;

/// Maximum number of files of a recording, since participants may join and leave without
/// limit. Chosen by us.
pub(crate) const MAX_FILES: usize = 1000;

/// Number of a track, unique in its recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackKey(pub u64);

/// Source of a track.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackSource {
    /// Id of the participant in the room.
    pub participant: String,
    /// Kind of track.
    pub kind: TrackKind,
    /// Codec of its packets.
    pub codec: Codec,
}

/// Recording of a room in its own folder: one file per track, and an index of their start
/// times.
///
/// A track begins with a keyframe. It continues in another file after a long gap, or if
/// its container cannot continue. All timestamps use one monotonic clock. After an error
/// the files contain everything before it; call [`Recording::finish`] to complete them.
pub struct Recording {
    folder: PathBuf,
    start: Instant,
    index: Index,
    /// Names of participants by id.
    names: BTreeMap<String, String>,
    tracks: BTreeMap<TrackKey, (TrackSource, Track)>,
    changes: Vec<TrackChange>,
    /// Tracks that need a keyframe.
    keyframes: Vec<TrackKey>,
}

impl Recording {
    /// Starts a recording in a new folder under `root`, readable only for this user.
    ///
    /// # Errors
    /// If the folder or its index cannot be created.
    pub fn create(
        root: &Path,
        room: &str,
        now: (Instant, SystemTime),
    ) -> Result<Recording, RecorderError> {
        let (start, wall) = now;
        let wall = OffsetDateTime::from(wall);
        let wall = wall.replace_millisecond(wall.millisecond()).unwrap_or(wall);
        let started = wall.format(&Rfc3339).unwrap_or_default();
        // 2026-11-26T13:15:00.123Z: colons are special on some systems.
        let day: String = started.chars().take(19).filter(|c| *c != ':').collect();
        let folder = create_folder(root, &format!("{day}Z-{}", safe(room)))?;
        let index = Index {
            room: room.to_owned(),
            started,
            length_ms: None,
            error: None,
            lost_packets: 0,
            film: None,
            tracks: Vec::new(),
        };
        index.write(&folder)?;
        Ok(Recording {
            folder,
            start,
            index,
            names: BTreeMap::new(),
            tracks: BTreeMap::new(),
            changes: Vec::new(),
            keyframes: Vec::new(),
        })
    }

    /// Checks that recordings can be created under `root`.
    ///
    /// # Errors
    /// If recordings cannot be created there.
    pub fn check(root: &Path) -> Result<(), RecorderError> {
        let folder = create_folder(root, ".weft-check")?;
        std::fs::remove_dir(&folder).map_err(|reason| RecorderError::write(&folder, reason))
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets the name of a participant, for files that start from now on.
    pub fn set_name(&mut self, participant: &str, name: &str) {
        let (id, name) = (participant.to_owned(), name.to_owned());
        self.names.insert(id, name);
    }

    /// Starts a track.
    pub fn begin(&mut self, key: TrackKey, source: TrackSource) {
        let track = Track::new(source.codec);
        self.tracks.insert(key, (source, track));
    }

    /// Handles a packet of a track, in the order of arrival. Ignores unknown tracks.
    ///
    /// # Errors
    /// If writing fails.
    pub fn handle_packet(
        &mut self,
        now: Instant,
        key: TrackKey,
        packet: &ForwardedPacket,
    ) -> Result<(), RecorderError> {
        let is_full = self.index.tracks.len() >= MAX_FILES;
        let Some((source, track)) = self.tracks.get_mut(&key) else {
            return Ok(());
        };
        let namer = namer(&self.folder, &self.names, source, is_full);
        let result = track.handle_packet(now, packet, namer, &mut self.changes);
        self.take_changes(key).and(result)
    }

    /// Completes the files of a track.
    ///
    /// # Errors
    /// If writing fails.
    pub fn end(&mut self, key: TrackKey) -> Result<(), RecorderError> {
        let Some((_, track)) = self.tracks.get_mut(&key) else {
            return Ok(());
        };
        let result = track.finish(&mut self.changes);
        let written = self.take_changes(key);
        self.tracks.remove(&key);
        result.and(written)
    }

    /// Counts packets that are missing because the disk was too slow.
    pub fn note_lost(&mut self, packets: u64) {
        self.index.lost_packets += packets;
    }

    /// Returns the time at which [`Recording::handle_timeout`] is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let tracks = self.tracks.values();
        tracks.fold(None, |first, (_, track)| {
            Deadline::earlier(first, track.poll_timeout())
        })
    }

    /// Handles the events that are due.
    ///
    /// # Errors
    /// If writing fails.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), RecorderError> {
        let is_full = self.index.tracks.len() >= MAX_FILES;
        let due = self.tracks.iter();
        let due = due.filter(|(_, (_, t))| t.poll_timeout().is_some_and(|d| d.at <= now));
        for key in due.map(|(key, _)| *key).collect::<Vec<_>>() {
            let Some((source, track)) = self.tracks.get_mut(&key) else {
                continue;
            };
            let namer = namer(&self.folder, &self.names, source, is_full);
            let result = track.handle_timeout(now, namer, &mut self.changes);
            self.take_changes(key).and(result)?;
        }
        Ok(())
    }

    /// Returns a track whose publisher should send a keyframe; call it until `None`.
    pub fn poll_keyframe(&mut self) -> Option<TrackKey> {
        self.keyframes.pop()
    }

    /// Completes all files and the index; `error` is the reason for an early end.
    ///
    /// # Errors
    /// The first error. All files are closed in any case.
    pub fn finish(mut self, now: Instant, error: Option<String>) -> Result<(), RecorderError> {
        let keys: Vec<TrackKey> = self.tracks.keys().copied().collect();
        let mut result = Ok(());
        for key in keys {
            result = result.and(self.end(key));
        }
        self.index.error = error;
        self.index.length_ms = Some(self.since_start(now));
        result.and(self.index.write(&self.folder))
    }

    fn since_start(&self, at: Instant) -> u64 {
        at.saturating_since(self.start).as_millis()
    }

    /// Adds the files that started or ended to the index.
    fn take_changes(&mut self, key: TrackKey) -> Result<(), RecorderError> {
        let changes = std::mem::take(&mut self.changes);
        let mut is_new = false;
        for change in changes {
            match change {
                TrackChange::KeyframeNeeded => self.keyframes.push(key),
                TrackChange::Began { path, start } => {
                    is_new = true;
                    let start_ms = self.since_start(start);
                    let entry = self.tracks.get(&key).map(|(source, track)| TrackEntry {
                        file: file_name(&path),
                        participant: source.participant.clone(),
                        name: name_of(&self.names, source).to_owned(),
                        kind: source.kind,
                        codec: track.codec().encoding().to_owned(),
                        start_ms,
                        length_ms: None,
                    });
                    self.index.tracks.extend(entry);
                }
                TrackChange::Ended { path, end } => {
                    is_new = true;
                    let (file, end) = (file_name(&path), self.since_start(end));
                    let entry = self.index.tracks.iter_mut().find(|t| t.file == file);
                    if let Some(entry) = entry {
                        entry.length_ms = Some(end.saturating_sub(entry.start_ms));
                    }
                }
            }
        }
        match is_new {
            true => self.index.write(&self.folder),
            false => Ok(()),
        }
    }
}

fn name_of<'a>(names: &'a BTreeMap<String, String>, source: &'a TrackSource) -> &'a str {
    names
        .get(&source.participant)
        .unwrap_or(&source.participant)
}

/// Returns a function that generates paths for a new file of a track; it returns no paths
/// once the recording has its maximum number of files.
fn namer<'a>(
    folder: &'a Path,
    names: &'a BTreeMap<String, String>,
    source: &'a TrackSource,
    is_full: bool,
) -> impl Fn() -> Box<dyn Iterator<Item = PathBuf> + 'a> + 'a {
    move || {
        if is_full {
            return Box::new(std::iter::empty());
        }
        let name = format!("{}-{}", safe(name_of(names, source)), source.kind.word());
        Box::new(candidates(folder, name, TrackFile::extension(source.codec)))
    }
}

/// Creates a folder that only this user can enter, with the first free name.
fn create_folder(root: &Path, name: &str) -> Result<PathBuf, RecorderError> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    for path in candidates(root, name.to_owned(), "") {
        match builder.create(&path) {
            Ok(()) => return Ok(path),
            Err(reason) if reason.kind() == ErrorKind::AlreadyExists => {}
            Err(reason) => return Err(RecorderError::Create { path, reason }),
        }
    }
    unreachable!("there is always another number")
}
