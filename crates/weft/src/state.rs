//! Folder for persistent state of a server.

use std::env;
use std::path::PathBuf;

/// Folder for the server's certificate and signing key, according to systemd or
/// the XDG base directory specification.
pub fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    // Folder that systemd provides for the service (systemd.exec(5)).
    folder("STATE_DIRECTORY")
        .or_else(|| Some(folder("XDG_STATE_HOME")?.join("weft")))
        .or_else(|| Some(folder("HOME")?.join(".local/state/weft")))
}
