//! One film of a recording: all pictures side by side with names, and the mixed sound.
//!
//! [`compose`] reads the files of a [`Recording`](weft_record::Recording) and its index, and
//! writes one WebM file. It runs after the call, so it does not load the call. You can
//! repeat it, and it never changes the recorded files. The same recording and [`Options`]
//! give the same film.

#![forbid(unsafe_code)]

mod canvas;
mod compose;
mod composition;
mod error;
mod label;
mod layout;
mod options;
mod source;
mod speaker;
mod track;

pub use compose::{Film, compose};
pub use error::ComposeError;
pub use layout::Layout;
pub use options::Options;
