//! Folder for the clients' files, and the pictures of their cameras.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use weft_media::clip::{ClipConfig, write_y4m};

use super::camera::Film;
use crate::engine::EngineError;

/// Length in seconds of the clip, which is looped: at 720p a second has 41 MB, and a cut
/// every 5 s costs one large frame. Chosen by us.
pub const CLIP_S: u32 = 5;

/// Prefix of the clients' folder; the mark of the process follows.
const PREFIX: &str = "weft-lab-";

/// Creates a folder that is removed with the value. Removes folders of killed processes.
pub fn folder() -> Result<tempfile::TempDir, EngineError> {
    remove_left_behind(&std::env::temp_dir());
    let prefix = format!("{PREFIX}{}-", weft_emu::own_mark());
    tempfile::Builder::new()
        .prefix(&prefix)
        .tempdir()
        .map_err(|error| {
            EngineError::Lacking(format!(
                "a folder for the clients: {error}: set TMPDIR to one with room"
            ))
        })
}

fn remove_left_behind(parent: &Path) {
    for left in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = left.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let mark = rest.and_then(|rest| rest.split_once('-'));
        if mark.is_some_and(|(mark, _)| weft_emu::has_ended(mark)) {
            // Folders of other users remain.
            let _ = std::fs::remove_dir_all(left.path());
        }
    }
}

/// The built-in clip as files, written once for each size.
#[derive(Debug)]
pub struct Clips {
    folder: tempfile::TempDir,
    made: Mutex<BTreeMap<Film, String>>,
}

impl Clips {
    /// Creates an empty set of files in this folder.
    #[must_use]
    pub fn new(folder: tempfile::TempDir) -> Clips {
        Clips {
            folder,
            made: Mutex::default(),
        }
    }

    /// Returns the folder of the files; clients may also write there.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the file with pictures of this size and frame rate.
    pub fn file(&self, size: (u32, u32), fps: u32) -> Result<String, EngineError> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(&(size, fps)) {
            return Ok(known.clone());
        }
        let (width, height) = (size.0 as usize, size.1 as usize);
        let path = self
            .folder()
            .join(format!("clip-{width}x{height}-{fps}.y4m"));
        let config = ClipConfig {
            width,
            height,
            fps,
            seed: 0,
        };
        write_y4m(&path, config, CLIP_S * fps).map_err(|error| {
            let remedy = "set TMPDIR to a folder with room for the clip";
            EngineError::Lacking(format!("{}: {error}: {remedy}", path.display()))
        })?;
        let name = path.display().to_string();
        made.insert((size, fps), name.clone());
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_whose_maker_has_ended_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let own = weft_emu::own_mark();
        let (rest, namespace) = own.rsplit_once('.').unwrap();
        // No process id is that high (proc(5), pid_max).
        let ended = format!("{PREFIX}4194305.1.{namespace}-a");
        let elsewhere = format!("{PREFIX}4194305.1.1{namespace}-a");
        let all = [&ended, &elsewhere, &format!("{PREFIX}{rest}.{namespace}-a")];
        for name in all {
            std::fs::create_dir(parent.path().join(name)).unwrap();
        }
        remove_left_behind(parent.path());
        let stays = all.map(|name| parent.path().join(name).exists());
        assert_eq!(stays, [false, true, true]);
    }
}
