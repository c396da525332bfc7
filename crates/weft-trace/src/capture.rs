//! Reader of captures: pcap and pcapng (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng)
//! as tcpdump, Wireshark and [`crate::pcapng`] write them.
//!
//! It holds one block at a time, so a capture may be larger than the memory.

mod pcap;
mod pcapng;
#[cfg(test)]
mod tests;
pub mod udp;

use std::io::{self, Read};

use weft_units::Duration;

use crate::pcapng::Direction;

/// Longest block that is read. The largest packet of a capture has 256 KiB (`tcpdump -s 0`);
/// other blocks, such as certificates and names, are small. Chosen by us.
const MAX_BLOCK: usize = 16 << 20;
/// Maximum number of interfaces of a section. Chosen by us: captures have one for each
/// interface of a machine.
pub(crate) const MAX_INTERFACES: usize = 4_096;

/// Link types (the list of tcpdump.org) whose packets [`udp::parse`] understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkType(pub u16);

/// Interface of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedInterface {
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// Kind of the headers in front of its packets.
    pub link_type: LinkType,
    /// Units of its time stamps in a second.
    ticks: u64,
    /// Seconds that are added to its time stamps.
    offset: i64,
}

/// Packet of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedFrame<'a> {
    /// Time since 1970, or since the start of a simulated run.
    pub at: Duration,
    /// Its interface.
    pub interface: &'a CapturedInterface,
    /// Direction, if the file says so.
    pub direction: Option<Direction>,
    /// Bytes that were kept.
    pub data: &'a [u8],
    /// Number of bytes on the wire, from the first of `data`.
    pub length: usize,
    /// Packets missing from the capture before this one, if the file says so.
    pub dropped: u64,
}

/// Reason why a capture ends early; [`CaptureReader::position`] gives the place.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// It is neither pcap nor pcapng.
    #[error("it is neither pcap nor pcapng")]
    NotACapture,
    /// It ends within a block.
    #[error("the file ends within a packet")]
    Cut,
    /// A length or number contradicts the format.
    #[error("{0}")]
    Malformed(&'static str),
    /// The system could not read it.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
}

/// Reads a capture from its beginning.
#[derive(Debug)]
pub struct CaptureReader<R> {
    input: Input<R>,
    format: Format,
    interfaces: Vec<CapturedInterface>,
    /// Content of the last block.
    block: Vec<u8>,
    /// Position at which the last block began.
    position: u64,
}

#[derive(Clone, Copy, Debug)]
enum Format {
    Pcap(Order),
    Pcapng(Order),
}

/// Byte order of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Big,
    Little,
}

/// Part of a packet within the block.
struct Found {
    at: Duration,
    interface: usize,
    direction: Option<Direction>,
    data: std::ops::Range<usize>,
    length: usize,
    dropped: u64,
}

impl<R: Read> CaptureReader<R> {
    /// Reads the beginning.
    ///
    /// # Errors
    /// If it is not a capture.
    pub fn new(input: R) -> Result<CaptureReader<R>, CaptureError> {
        let mut input = Input { from: input, at: 0 };
        let mut magic = [0; 4];
        match input.fill(&mut magic)? {
            0 => return Err(CaptureError::Empty),
            4 => {}
            _ => return Err(CaptureError::NotACapture),
        }
        let mut interfaces = Vec::new();
        let format = match pcap::order(magic) {
            Some((order, ticks)) => {
                interfaces.push(pcap::header(&mut input, order, ticks)?);
                Format::Pcap(order)
            }
            None if magic == pcapng::SECTION_HEADER => Format::Pcapng(pcapng::section(&mut input)?),
            None => return Err(CaptureError::NotACapture),
        };
        Ok(CaptureReader {
            position: input.at,
            input,
            format,
            interfaces,
            block: Vec::new(),
        })
    }

    /// Returns the next packet; `None` after the last.
    ///
    /// # Errors
    /// If the packet cannot be read; all later calls fail too.
    pub fn next_frame(&mut self) -> Result<Option<CapturedFrame<'_>>, CaptureError> {
        self.position = self.input.at;
        let found = match self.format {
            Format::Pcap(order) => {
                let ticks = self.interfaces[0].ticks;
                pcap::next(&mut self.input, order, ticks, &mut self.block)?
            }
            Format::Pcapng(_) => self.next_enhanced()?,
        };
        let Some(found) = found else {
            return Ok(None);
        };
        Ok(Some(CapturedFrame {
            at: found.at,
            interface: &self.interfaces[found.interface],
            direction: found.direction,
            data: &self.block[found.data],
            length: found.length,
            dropped: found.dropped,
        }))
    }

    /// Interfaces so far in the present section.
    #[must_use]
    pub fn interfaces(&self) -> &[CapturedInterface] {
        &self.interfaces
    }

    /// Position in bytes at which the last packet began; errors refer to it.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads blocks up to the next packet.
    fn next_enhanced(&mut self) -> Result<Option<Found>, CaptureError> {
        loop {
            let Format::Pcapng(order) = self.format else {
                return Ok(None);
            };
            self.position = self.input.at;
            let Some(kind) = pcapng::next(&mut self.input, order, &mut self.block)? else {
                return Ok(None);
            };
            match kind {
                pcapng::Block::Section => {
                    self.format = Format::Pcapng(pcapng::section(&mut self.input)?);
                    self.interfaces.clear();
                }
                pcapng::Block::Interface => {
                    if self.interfaces.len() == MAX_INTERFACES {
                        return Err(CaptureError::Malformed("it has more than 4096 interfaces"));
                    }
                    self.interfaces.push(pcapng::interface(&self.block, order)?);
                }
                pcapng::Block::Packet(kind) => {
                    let found = pcapng::packet(kind, &self.block, order, &self.interfaces)?;
                    return Ok(Some(found));
                }
                pcapng::Block::Other => {}
            }
        }
    }
}

#[derive(Debug)]
struct Input<R> {
    from: R,
    at: u64,
}

impl<R: Read> Input<R> {
    /// Reads until the buffer is full or the file ends, and returns the number of bytes.
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.from.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.at += filled as u64;
        Ok(filled)
    }

    /// Fills the buffer.
    fn exactly(&mut self, buffer: &mut [u8]) -> Result<(), CaptureError> {
        match self.fill(buffer)? == buffer.len() {
            true => Ok(()),
            false => Err(CaptureError::Cut),
        }
    }

    /// Reads a block of this length into `block`. The memory grows with the bytes that
    /// exist, not with the length that the file claims.
    fn block(&mut self, length: usize, block: &mut Vec<u8>) -> Result<(), CaptureError> {
        if length > MAX_BLOCK {
            return Err(CaptureError::Malformed("a length exceeds 16 MiB"));
        }
        block.clear();
        let read = (&mut self.from).take(length as u64).read_to_end(block)?;
        self.at += read as u64;
        match read == length {
            true => Ok(()),
            false => Err(CaptureError::Cut),
        }
    }
}

impl Order {
    fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Order::Big => u16::from_be_bytes(bytes),
            Order::Little => u16::from_le_bytes(bytes),
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Big => u32::from_be_bytes(bytes),
            Order::Little => u32::from_le_bytes(bytes),
        }
    }

    /// Reads a number at a position in the block.
    fn u16_at(self, block: &[u8], at: usize) -> Option<u16> {
        let bytes = block.get(at..)?.first_chunk::<2>()?;
        Some(self.u16(*bytes))
    }

    fn u32_at(self, block: &[u8], at: usize) -> Option<u32> {
        let bytes = block.get(at..)?.first_chunk::<4>()?;
        Some(self.u32(*bytes))
    }
}

/// Returns the time of a count with `ticks` per second.
fn time(count: u64, ticks: u64) -> Duration {
    let nanos = u128::from(count) * 1_000_000_000 / u128::from(ticks.max(1));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
