//! Location of the clients' programs: in a checkout, or unpacked from this program.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use crate::engine::EngineError;

/// Path within `clients/` and text of every file there, sorted.
const EMBEDDED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/clients.rs"));

/// Returns the folder of all clients: `WEFT_CLIENTS`, the one in the checkout in which
/// this program runs or was built, or the embedded programs, unpacked into the cache.
///
/// # Errors
/// If there is none, and it cannot be created.
pub fn folder() -> Result<PathBuf, EngineError> {
    if let Some(named) = std::env::var_os("WEFT_CLIENTS").map(PathBuf::from) {
        return Some(named)
            .filter(|folder| is_clients(folder))
            .ok_or_else(|| {
                let text = "WEFT_CLIENTS does not name the folder `clients` of weft's sources";
                EngineError::Lacking(text.to_owned())
            });
    }
    let own = std::env::current_exe().unwrap_or_default();
    let above = own.ancestors().map(|folder| folder.join("clients"));
    let mut folders = [PathBuf::from("clients")].into_iter().chain(above);
    if let Some(found) = folders.find(|folder| is_clients(folder)) {
        return Ok(found.canonicalize().unwrap_or(found));
    }
    let unpacked = cache().and_then(|cache| unpack(&cache));
    unpacked.map_err(|error| {
        EngineError::Lacking(format!(
            "the clients' programs cannot be unpacked: {error}: set XDG_CACHE_HOME to a folder that \
             may be written, or WEFT_CLIENTS to the folder `clients` of weft's sources"
        ))
    })
}

fn is_clients(folder: &Path) -> bool {
    EMBEDDED.iter().all(|(name, _)| folder.join(name).exists())
}

/// XDG base directory specification.
fn cache() -> io::Result<PathBuf> {
    let folder = |name: &str| {
        let value = std::env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    folder("XDG_CACHE_HOME")
        .or_else(|| Some(folder("HOME")?.join(".cache")))
        .ok_or_else(|| io::Error::other("there is no home folder"))
}

/// Writes the files, unless they exist, to a folder in `cache` named after a hash of
/// their contents. Another version of weft therefore uses another folder, including the
/// programs built there.
fn unpack(cache: &Path) -> io::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    EMBEDDED.hash(&mut hasher);
    let parent = cache.join("weft");
    let folder = parent.join(format!("clients-{:016x}", hasher.finish()));
    if is_clients(&folder) {
        return Ok(folder);
    }
    fs::create_dir_all(&parent)?;
    // Atomic, in case another weft unpacks at the same time.
    let made = tempfile::tempdir_in(&parent)?;
    for (name, text) in EMBEDDED {
        let path = made.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(&parent))?;
        fs::write(path, text)?;
    }
    if fs::rename(made.path(), &folder).is_err() && !is_clients(&folder) {
        // Some of its files are missing.
        fs::remove_dir_all(&folder)?;
        fs::rename(made.path(), &folder)?;
    }
    Ok(folder)
}

/// Returns a program in `folder` that must be built or installed beforehand.
///
/// # Errors
/// If it is missing; the error gives the command that creates it.
pub fn built(folder: &Path, name: &str, command: &str) -> Result<String, EngineError> {
    let path = folder.join(name);
    if path.exists() {
        return Ok(path.display().to_string());
    }
    Err(EngineError::Lacking(format!(
        "{} is not there: run (cd {} && {command}), or `make setup` in weft's sources",
        path.display(),
        folder.display()
    )))
}

/// Returns the command of a client that runs in Node.
///
/// # Errors
/// If there is no folder of clients.
pub fn in_node(name: &str) -> Result<Vec<String>, EngineError> {
    let script = folder()?.join(name).join("main.mjs");
    Ok(vec!["node".to_owned(), script.display().to_string()])
}

#[cfg(test)]
mod tests;
