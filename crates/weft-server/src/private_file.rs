//! Files with secrets: for this user alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// A folder, and those above it.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Makes the folder, and holds it until the file goes: several servers may share
/// one.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    folder(path)?;
    let lock = File::create(path.join("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Replaces a file, which is whole at any time.
pub(crate) fn replace(path: &Path, content: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    let _ = std::fs::remove_file(&new);
    write_new(&new, content)?;
    std::fs::rename(&new, path)
}

/// Makes a file, whole from the first moment, and its folder.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if it is there.
pub(crate) fn create(path: &Path, content: &str) -> io::Result<()> {
    if path.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        folder(parent)?;
    }
    // Of two who make it at the same time one is first, and the other is told.
    let new = path.with_extension(format!("new{}", std::process::id()));
    let _ = std::fs::remove_file(&new);
    write_new(&new, content)?;
    let linked = std::fs::hard_link(&new, path);
    let _ = std::fs::remove_file(&new);
    linked
}

fn write_new(path: &Path, content: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()
}
