//! Where a server keeps what outlives it.

use std::env;
use std::path::PathBuf;

/// Where a server keeps its certificate and its key for tokens: where systemd or the
/// XDG base directory specification say that state belongs.
pub fn state_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let value = env::var_os(name).map(PathBuf::from);
        value.filter(|path| path.is_absolute())
    };
    // systemd gives the service a folder of its own (systemd.exec(5)).
    folder("STATE_DIRECTORY")
        .or_else(|| Some(folder("XDG_STATE_HOME")?.join("weft")))
        .or_else(|| Some(folder("HOME")?.join(".local/state/weft")))
}
