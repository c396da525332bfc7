//! Reads the files of `weft-record`. If the server was killed, they have clusters without
//! a size and no index; `matroska-demuxer` rejects those.

use super::{Sample, SourceError};
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::time::Duration;

/// Elements (RFC 9559 section 5).
const EBML: u32 = 0x1A45_DFA3;
const SEGMENT: u32 = 0x1853_8067;
const INFO: u32 = 0x1549_A966;
const TIMESTAMP_SCALE: u32 = 0x002A_D7B1;
const CLUSTER: u32 = 0x1F43_B675;
const TIMESTAMP: u32 = 0xE7;
const SIMPLE_BLOCK: u32 = 0xA3;

/// Largest element that is read: one frame.
const MAX_ELEMENT: u64 = 64_000_000;

pub(crate) struct WebM {
    file: BufReader<File>,
    /// Nanoseconds per tick.
    scale: u64,
    /// Time of the present cluster in ticks.
    cluster: u64,
}

impl WebM {
    pub(crate) fn new(mut file: BufReader<File>) -> Result<WebM, SourceError> {
        match header(&mut file)? {
            Some((EBML, size)) => skip(&mut file, size)?,
            _ => {
                let reason = "it does not begin as WebM does";
                return Err(SourceError::Container(reason.to_owned()));
            }
        }
        Ok(WebM {
            file,
            scale: 1_000_000,
            cluster: 0,
        })
    }

    pub(crate) fn read(&mut self) -> Result<Option<Sample>, SourceError> {
        match self.read_block() {
            // The server was killed during a write.
            Err(SourceError::Cut) => Ok(None),
            read => read,
        }
    }

    fn read_block(&mut self) -> Result<Option<Sample>, SourceError> {
        while let Some((id, size)) = header(&mut self.file)? {
            match id {
                SEGMENT | INFO | CLUSTER => {}
                TIMESTAMP_SCALE => self.scale = unsigned(&body(&mut self.file, size)?).max(1),
                TIMESTAMP => self.cluster = unsigned(&body(&mut self.file, size)?),
                SIMPLE_BLOCK => {
                    let mut data = body(&mut self.file, size)?;
                    // Track, time relative to the cluster, flags.
                    let &[_, high, low, _, ..] = &data[..] else {
                        return Err(SourceError::Container("a block is too short".to_owned()));
                    };
                    let after = i64::from(i16::from_be_bytes([high, low]));
                    let ticks = self.cluster.saturating_add_signed(after);
                    return Ok(Some(Sample {
                        at: Duration::from_nanos(ticks.saturating_mul(self.scale)),
                        data: data.split_off(4),
                    }));
                }
                _ => skip(&mut self.file, size)?,
            }
        }
        Ok(None)
    }
}

/// Reads an element's id and size; `None` at the end of the file.
fn header(file: &mut impl Read) -> Result<Option<(u32, u64)>, SourceError> {
    let mut first = [0];
    match file.read_exact(&mut first) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let id = number(file, first[0])?;
    let id = u32::try_from(id).map_err(|_| SourceError::Container("an id is too long".into()))?;
    file.read_exact(&mut first)?;
    let size = number(file, first[0])?;
    // Without the bit that marks the length.
    let marker = 1 << (7 * (u64::from(first[0].leading_zeros()) + 1));
    Ok(Some((id, size & (marker - 1))))
}

/// Reads a number whose first octet gives its length; `first` includes the marker bit
/// (RFC 8794 section 4).
fn number(file: &mut impl Read, first: u8) -> Result<u64, SourceError> {
    let more = first.leading_zeros() as usize;
    if more > 7 {
        return Err(SourceError::Container("a number is too long".to_owned()));
    }
    let mut octets = [0; 7];
    file.read_exact(&mut octets[..more])?;
    let join = |number: u64, octet: &u8| number << 8 | u64::from(*octet);
    Ok(octets[..more].iter().fold(u64::from(first), join))
}

fn body(file: &mut impl Read, size: u64) -> Result<Vec<u8>, SourceError> {
    if size > MAX_ELEMENT {
        return Err(SourceError::Container(format!(
            "an element of {size} octets"
        )));
    }
    let mut data = Vec::new();
    match file.take(size).read_to_end(&mut data)? as u64 == size {
        true => Ok(data),
        false => Err(SourceError::Cut),
    }
}

fn skip(file: &mut impl Read, size: u64) -> Result<(), SourceError> {
    match std::io::copy(&mut file.take(size), &mut std::io::sink())? == size {
        true => Ok(()),
        false => Err(SourceError::Cut),
    }
}

fn unsigned(octets: &[u8]) -> u64 {
    octets.iter().fold(0, |n, octet| n << 8 | u64::from(*octet))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_ids_with_and_sizes_without_their_markers() {
        let read = |mut octets: &[u8]| header(&mut octets);
        let cluster = [0x1F, 0x43, 0xB6, 0x75, 0x01, 0, 0, 0, 0, 0, 1, 2];
        let expected = Some((CLUSTER, 0x0102));
        assert_eq!(read(&cluster).expect("it is whole"), expected);
        assert_eq!(
            read(&[0xA3, 0x40, 0x8C]).expect("it is whole"),
            Some((SIMPLE_BLOCK, 0x8C))
        );
        assert_eq!(read(&[]).expect("it is the end"), None);
        assert!(matches!(read(&cluster[..7]), Err(SourceError::Cut)));
        assert!(matches!(read(&[0x00, 1]), Err(SourceError::Container(_))));
    }
}
