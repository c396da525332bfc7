//! Recordings of real calls, read from the files of other programs, as systems of a report.
//!
//! A recording has only quantities that its file shows. A capture does not show display
//! times, so it has no freezes.

mod capture;
mod document;
mod dump;
mod error;
mod fields;
mod flent;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod input;
mod periods;
mod qlog;
mod record;
mod streams;
#[cfg(test)]
mod tests;
mod track;
mod values;

use std::net::IpAddr;
use std::path::Path;

pub use error::ImportError;
use input::Source;
pub use record::{Format, Recording};
pub use track::{Owner, Track};

/// Reads the recordings in a file: one, or one for each connection of a dump. `name` is
/// that of the system; `local` is the address of the recording machine in a capture.
///
/// # Errors
/// If the file has another format, or contains no call.
pub fn read(path: &Path, name: &str, local: &[IpAddr]) -> Result<Vec<Recording>, ImportError> {
    read_source(Source::Path(path), name, local)
}

fn read_source(
    source: Source<'_>,
    name: &str,
    local: &[IpAddr],
) -> Result<Vec<Recording>, ImportError> {
    let place = source.place();
    let found = match input::open(source)? {
        input::Content::Capture => vec![capture::read(source, name, local)?],
        input::Content::Qlog(reader) => vec![qlog::read(reader, &place, name)?],
        input::Content::Document(reader) => document::read(reader, &place, name)?,
    };
    let too_long = found.iter().find(|one| one.seconds > periods::MAX_SECONDS);
    if let Some(one) = too_long {
        return Err(ImportError::new(
            &place,
            format!("it lasts {:.0} h", one.seconds / 3600.0),
            "a recording may last a day: cut it, such as with `editcap -A START -B END`",
        ));
    }
    Ok(found)
}
