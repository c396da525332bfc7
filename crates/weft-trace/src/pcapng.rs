//! Packets as pcapng (draft-ietf-opsawg-pcapng), which Wireshark reads.
//!
//! Each interface is a path. Packets are written unencrypted, with IP and UDP headers
//! that have the path's addresses.

mod headers;

use std::io::{self, Write};
use std::net::SocketAddr;

use weft_units::Duration;

/// Packets start with an IP header (LINKTYPE_RAW).
const LINK_TYPE_RAW: u16 = 101;
/// Unit of the time stamps: 10^-9 s.
const NANOSECONDS: u8 = 9;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
/// A section of unknown length.
const UNKNOWN_LENGTH: i64 = -1;
const USER_APPLICATION: u16 = 4;
const IF_NAME: u16 = 2;
const IF_TIME_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
const PACKET_DROP_COUNT: u16 = 4;

/// Number of an interface in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Interface(u32);

/// Direction of a packet, as its interface sees it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Direction {
    /// Received.
    Inbound,
    /// Sent.
    Outbound,
}

/// UDP datagram. Both addresses are of the same family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram<'a> {
    /// Time since the epoch of the file: 1970, or the start of a simulated run.
    pub at: Duration,
    /// Direction.
    pub direction: Direction,
    /// Address of the sender.
    pub from: SocketAddr,
    /// Address of the receiver.
    pub to: SocketAddr,
    /// Content without UDP and IP headers.
    pub content: &'a [u8],
    /// Number of bytes of the content to write; the others are cut off.
    pub kept: usize,
    /// Packets missing from the file before this one.
    pub dropped: u64,
}

/// Writes a file of one section.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    interfaces: u32,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the beginning of a file. `application` is the name and version of the
    /// program that captured the packets.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(out: W, application: &str) -> io::Result<PcapngWriter<W>> {
        let mut writer = PcapngWriter {
            out,
            interfaces: 0,
            block: Vec::new(),
        };
        writer.block.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        // Version 1.0.
        writer.block.extend([1, 0, 0, 0]);
        writer.block.extend(UNKNOWN_LENGTH.to_le_bytes());
        writer.option(USER_APPLICATION, application.as_bytes());
        writer.end_options();
        writer.end_block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Adds an interface of this name.
    ///
    /// # Errors
    /// Errors of the destination.
    pub fn interface(&mut self, name: &str) -> io::Result<Interface> {
        self.block.extend(LINK_TYPE_RAW.to_le_bytes());
        // Reserved, and no limit on the length of a packet.
        self.block.extend([0; 6]);
        self.option(IF_NAME, name.as_bytes());
        self.option(IF_TIME_RESOLUTION, &[NANOSECONDS]);
        self.end_options();
        self.end_block(INTERFACE_DESCRIPTION)?;
        self.interfaces += 1;
        Ok(Interface(self.interfaces - 1))
    }

    /// Writes a datagram that was sent or received at an interface.
    ///
    /// # Errors
    /// Errors of the destination, or a datagram that IP cannot carry.
    pub fn datagram(&mut self, interface: Interface, datagram: &Datagram<'_>) -> io::Result<()> {
        let headers = headers::of(datagram)?;
        let kept = &datagram.content[..datagram.kept.min(datagram.content.len())];
        let nanos = datagram.at.as_nanos();
        let numbers = [
            interface.0,
            (nanos >> 32) as u32,
            nanos as u32,
            (headers.len() + kept.len()) as u32,
            (headers.len() + datagram.content.len()) as u32,
        ];
        for number in numbers {
            self.block.extend(number.to_le_bytes());
        }
        self.block.extend(headers);
        self.block.extend(kept);
        self.pad();
        let direction: u32 = match datagram.direction {
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        };
        self.option(PACKET_FLAGS, &direction.to_le_bytes());
        if datagram.dropped > 0 {
            self.option(PACKET_DROP_COUNT, &datagram.dropped.to_le_bytes());
        }
        self.end_options();
        self.end_block(ENHANCED_PACKET)
    }

    /// Destination, with every complete block so far.
    pub fn destination(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes everything to the destination and returns it.
    ///
    /// # Errors
    /// Errors of the destination.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        // Names are far shorter than this limit.
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.block.extend(code.to_le_bytes());
        self.block.extend((value.len() as u16).to_le_bytes());
        self.block.extend(value);
        self.pad();
    }

    fn end_options(&mut self) {
        self.block.extend([0; 4]);
    }

    fn pad(&mut self) {
        let length = self.block.len().next_multiple_of(4);
        self.block.resize(length, 0);
    }

    fn end_block(&mut self, kind: u32) -> io::Result<()> {
        let length = (self.block.len() as u32 + 12).to_le_bytes();
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests;
