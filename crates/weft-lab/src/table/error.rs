//! Reasons why tables cannot be printed.

use std::io;
use std::path::PathBuf;

/// Reason why tables cannot be printed; the text has the remedy.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// No set has this name.
    #[error("{0}")]
    UnknownSet(String),
    /// The file that declares the tables is invalid.
    #[error("{file}: {error}")]
    Study {
        /// Name of the file.
        file: String,
        /// The problem and its remedy.
        error: String,
    },
    /// The folder has no results.
    #[error(
        "{}: there is no summary.json in this folder or below it: give the folder that `weft lab run --out` has written",
        .0.display()
    )]
    NoResults(PathBuf),
    /// The results cannot be read.
    #[error(
        "{path}: {error}: give the folder that `weft lab run --out` has written, or run the scenario again",
        path = path.display()
    )]
    Unread {
        /// The file.
        path: PathBuf,
        /// The problem.
        error: io::Error,
    },
    /// The results are from another version of the program.
    #[error(
        "{path}: layout {found} of another version of weft: run the scenario again with --out",
        path = path.display()
    )]
    Schema {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: u32,
    },
    /// The study has no table of this name.
    #[error("{0}")]
    UnknownTable(String),
    /// A requested table has no results.
    #[error("{0}")]
    Missing(String),
    /// The page has no markers for tables.
    #[error(
        "{0}: no line `<!-- table NAME -->` followed by a line `<!-- end -->`: add both where a table belongs"
    )]
    Page(String),
}
