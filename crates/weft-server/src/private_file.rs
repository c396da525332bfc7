//! Files with secrets, readable by this user alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Creates a folder and its parents.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates the folder and locks it until the file is dropped: several servers
/// may share one.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    folder(path)?;
    let lock = File::create(path.join("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Replaces a file atomically.
pub(crate) fn replace(path: &Path, content: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    let _ = std::fs::remove_file(&new);
    write_new(&new, content)?;
    std::fs::rename(&new, path)
}

/// Creates a file atomically, with its folder.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] if it exists.
pub(crate) fn create(path: &Path, content: &str) -> io::Result<()> {
    if path.exists() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        folder(parent)?;
    }
    // If two processes create it at the same time, one gets an error.
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
