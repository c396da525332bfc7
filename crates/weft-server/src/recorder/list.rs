//! Complete and running recordings in the common folder.

use std::fs::File;
use std::io;
use std::path::{Component, Path};
use weft_record::Index;

/// Returns the recordings of a room, or of all, with their ids, the oldest first.
pub(crate) fn list(folder: &Path, room: Option<&str>) -> io::Result<Vec<(String, Index)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // A folder without an index is not a recording.
        let index = Index::read(&entry.path()).ok();
        let index = index.filter(|index| room.is_none_or(|room| index.room == room));
        if let (Some(index), Ok(id)) = (index, entry.file_name().into_string()) {
            found.push((id, index));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}

/// Opens a file that the index of a recording names, or the index; also returns its
/// length. `room` limits it to recordings of this room.
pub(crate) fn open(
    folder: &Path,
    room: Option<&str>,
    (id, file): (&str, &str),
) -> io::Result<Option<(File, u64)>> {
    let mut parts = Path::new(id).components();
    let is_name = |part| matches!(part, Some(Component::Normal(_)));
    if !is_name(parts.next()) || parts.next().is_some() {
        return Ok(None);
    }
    let folder = folder.join(id);
    let index = Index::read(&folder).ok();
    let Some(index) = index.filter(|index| room.is_none_or(|room| index.room == room)) else {
        return Ok(None);
    };
    let is_named = index.tracks.iter().any(|track| track.file == file)
        || index.film.as_deref() == Some(file) && file == Index::FILM;
    if !is_named && file != Index::FILE {
        return Ok(None);
    }
    let file = File::open(folder.join(file))?;
    let length = file.metadata()?.len();
    Ok(Some((file, length)))
}
