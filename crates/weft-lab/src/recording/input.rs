//! Detects a file's format by its first bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

use super::error::ImportError;

/// File to read.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// File of the system.
    Path(&'a Path),
    /// Content in memory.
    #[cfg(any(test, fuzzing))]
    Bytes(&'a [u8]),
}

impl<'a> Source<'a> {
    /// Returns the name for errors.
    pub fn place(self) -> String {
        match self {
            Source::Path(path) => path.display().to_string(),
            #[cfg(any(test, fuzzing))]
            Source::Bytes(_) => "input".to_owned(),
        }
    }

    /// Opens it from its beginning.
    pub fn open(self) -> Result<Box<dyn BufRead + 'a>, ImportError> {
        let failed = |error: io::Error| ImportError::unreadable(&self.place(), &error);
        Ok(match self {
            Source::Path(path) => Box::new(BufReader::new(File::open(path).map_err(failed)?)),
            #[cfg(any(test, fuzzing))]
            Source::Bytes(bytes) => Box::new(bytes),
        })
    }
}

/// Content of a file.
pub enum Content<'a> {
    /// Packets. They are read twice, so there is no reader.
    Capture,
    /// Events.
    Qlog(Box<dyn BufRead + 'a>),
    /// JSON of one object.
    Document(Box<dyn BufRead + 'a>),
}

/// Maximum size of a decompressed text. A dump has 1000 values of each statistic, so the
/// dump of a room with 50 people has about 100 MB. Chosen by us.
const MAX_TEXT: u64 = 256 << 20;

const GZIP: [u8; 2] = [0x1F, 0x8B];
/// First bytes of pcap in both byte orders, with microseconds and nanoseconds, and of
/// pcapng.
const CAPTURES: [[u8; 4]; 5] = [
    [0xA1, 0xB2, 0xC3, 0xD4],
    [0xD4, 0xC3, 0xB2, 0xA1],
    [0xA1, 0xB2, 0x3C, 0x4D],
    [0x4D, 0x3C, 0xB2, 0xA1],
    [0x0A, 0x0D, 0x0D, 0x0A],
];
/// First byte of each text of a sequence (RFC 7464).
const RECORD_SEPARATOR: u8 = 0x1E;

/// Reader that fails after a number of bytes.
struct Bounded<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = match length {
            0 if !buffer.is_empty() => self.from.read(&mut [0])?,
            _ => self.from.read(&mut buffer[..length])?,
        };
        if read > length {
            return Err(io::Error::other("the text is longer than 256 MiB"));
        }
        self.left -= read as u64;
        Ok(read)
    }
}

/// Opens a file and detects its format.
pub fn open(source: Source<'_>) -> Result<Content<'_>, ImportError> {
    let place = source.place();
    let failed = |error: io::Error| ImportError::unreadable(&place, &error);
    let mut file = source.open()?;
    let first = file.fill_buf().map_err(failed)?;
    if first.starts_with(&GZIP) {
        let mut inner = BufReader::new(MultiGzDecoder::new(file));
        let first = inner.fill_buf().map_err(failed)?;
        if CAPTURES.iter().any(|magic| first.starts_with(magic)) {
            return Err(ImportError::new(
                &place,
                "it is a compressed capture",
                "decompress it first: `gunzip FILE`",
            ));
        }
        return text(inner, &place);
    }
    match CAPTURES.iter().any(|magic| first.starts_with(magic)) {
        true => Ok(Content::Capture),
        false => text(file, &place),
    }
}

fn text<'a>(mut reader: impl BufRead + 'a, place: &str) -> Result<Content<'a>, ImportError> {
    let failed = |error: io::Error| ImportError::unreadable(place, &error);
    let first = reader.fill_buf().map_err(failed)?;
    let first = first
        .iter()
        .copied()
        .find(|byte| !byte.is_ascii_whitespace());
    let reader = Box::new(BufReader::new(Bounded {
        from: reader,
        left: MAX_TEXT,
    }));
    match first {
        None => Err(ImportError::new(
            place,
            "the file is empty",
            "record the call again: the program that wrote it was stopped too early",
        )),
        Some(RECORD_SEPARATOR) => Ok(Content::Qlog(reader)),
        Some(b'{') => Ok(Content::Document(reader)),
        Some(_) => Err(ImportError::new(
            place,
            "the format is unknown",
            "give a dump of chrome://webrtc-internals, a pcap or pcapng file, a qlog file of weft \
             (.sqlog), or a flent file",
        )),
    }
}
