//! Names of files and folders.

use std::path::{Path, PathBuf};

/// Maximum length of a name of a room or participant in a file name, in characters of up
/// to four octets: a file name has 255 octets (`NAME_MAX`), and the kind of track and
/// numbers follow. Chosen by us.
pub(crate) const MAX_TITLE: usize = 40;

/// Returns the name in characters that are safe in file names.
pub(crate) fn safe(name: &str) -> String {
    let safe = |c: char| match c.is_alphanumeric() || c == '-' {
        true => c,
        false => '_',
    };
    name.chars().map(safe).take(MAX_TITLE).collect()
}

/// Returns the candidate paths for a name in a folder: without a number, then numbered
/// from 2.
pub(crate) fn candidates(
    folder: &Path,
    name: String,
    extension: &str,
) -> impl Iterator<Item = PathBuf> {
    let dot = match extension {
        "" => "",
        _ => ".",
    };
    (1..).map(move |n: usize| {
        let number = match n {
            1 => String::new(),
            n => format!("-{n}"),
        };
        folder.join(format!("{name}{number}{dot}{extension}"))
    })
}
