//! One film of a recording: everybody's pictures side by side with
//! their names, and the mixed sound.
//!
//! [`compose`] reads the files of a [`Recording`](weft_record::Recording) and its index, and
//! writes one WebM file. It works after the call, so the call pays nothing for it, it can
//! be repeated, and it never touches the recorded files. The same recording and
//! [`Options`] give the same film.

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
