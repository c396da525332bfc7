//! Files that only their owner may read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Error: a trace cannot start; the text has the remedy.
#[derive(Debug, thiserror::Error)]
pub enum CreateError {
    /// The file exists. It is left unchanged, because others may be able to read it.
    #[error(
        "{path} exists already: remove it, name another file, or name a folder, which receives a \
         new file each time",
        path = path.display()
    )]
    Exists {
        /// File.
        path: PathBuf,
    },
    /// The file or its folder cannot be created.
    #[error("{path}: {error}; choose a folder that exists and may be written", path = path.display())]
    System {
        /// File or folder.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
}

/// Creates a file at a path, or, in a folder, `NAME-1.EXTENSION` with the next free number.
pub fn create(wanted: &Path, name: &str, extension: &str) -> Result<(File, PathBuf), CreateError> {
    let ends_like_folder = wanted.as_os_str().as_encoded_bytes().ends_with(b"/");
    if !ends_like_folder && !wanted.is_dir() {
        return Ok((create_new(wanted)?, wanted.to_owned()));
    }
    if !wanted.is_dir() {
        let created = DirBuilder::new().recursive(true).mode(0o700).create(wanted);
        created.map_err(|error| failed(wanted, error))?;
    }
    let mut number = first_free(wanted, name, extension)?;
    loop {
        let path = wanted.join(format!("{name}-{number}.{extension}"));
        match create_new(&path) {
            Ok(file) => return Ok((file, path)),
            // Another program created it first.
            Err(CreateError::Exists { .. }) => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Returns the number after the highest one in use.
fn first_free(folder: &Path, name: &str, extension: &str) -> Result<u64, CreateError> {
    let entries = fs::read_dir(folder).map_err(|error| failed(folder, error))?;
    let number = |entry: io::Result<fs::DirEntry>| {
        let file = entry.ok()?.file_name();
        let rest = file.to_str()?.strip_prefix(name)?.strip_prefix('-')?;
        let number: u64 = rest
            .strip_suffix(extension)?
            .strip_suffix('.')?
            .parse()
            .ok()?;
        number.checked_add(1)
    };
    Ok(entries.filter_map(number).max().unwrap_or(1))
}

fn create_new(path: &Path) -> Result<File, CreateError> {
    let mut options = OpenOptions::new();
    let created = options.write(true).create_new(true).mode(0o600).open(path);
    created.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => CreateError::Exists {
            path: path.to_owned(),
        },
        _ => failed(path, error),
    })
}

fn failed(path: &Path, error: io::Error) -> CreateError {
    CreateError::System {
        path: path.to_owned(),
        error,
    }
}
