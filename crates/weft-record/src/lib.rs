//! Recordings: writes encoded media to files without decoding.
//!
//! [`Recorder`] writes VP8 and Opus into WebM. A [`Recording`] takes the packets of a
//! room's tracks and writes a file for each track, with an [`Index`] of their start
//! times. It writes to disk, so run it on its own thread.

#![forbid(unsafe_code)]

mod error;
mod file;
mod index;
mod mp4;
mod name;
mod recording;
mod track;
mod webm;

pub use error::RecorderError;
pub use file::can_record;
pub use index::{Index, IndexError, TrackEntry, TrackKind};
pub use recording::{Recording, TrackKey, TrackSource};
pub use webm::{Recorder, Tracks};
