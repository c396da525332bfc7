//! Frames of a recorded file, one by one in the order of their times.

mod mp4;
mod webm;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

/// A frame or packet of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Time after the first frame of the file.
    pub(crate) at: Duration,
    /// VP8, H.264 as a byte stream, or Opus.
    pub(crate) data: Vec<u8>,
}

/// Reason why a file cannot be read, or not completely.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceError {
    #[error("{0}")]
    Io(std::io::Error),
    #[error("the file is cut")]
    Cut,
    #[error("this is not a recording of weft: {0}")]
    Container(String),
}

impl From<std::io::Error> for SourceError {
    fn from(error: std::io::Error) -> SourceError {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => SourceError::Cut,
            _ => SourceError::Io(error),
        }
    }
}

/// Recorded file. Memory does not grow with its length.
pub(crate) enum Source {
    WebM(webm::WebM),
    Mp4(mp4::Mp4),
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Source, SourceError> {
        let file = BufReader::new(File::open(path)?);
        let is_mp4 = path.extension().is_some_and(|extension| extension == "mp4");
        Ok(match is_mp4 {
            true => Source::Mp4(mp4::Mp4::new(file)?),
            false => Source::WebM(webm::WebM::new(file)?),
        })
    }

    /// Returns the next frame; `None` at the end. A file with a truncated last fragment
    /// ends before it.
    pub(crate) fn read(&mut self) -> Result<Option<Sample>, SourceError> {
        match self {
            Source::WebM(file) => file.read(),
            Source::Mp4(file) => file.read(),
        }
    }
}
