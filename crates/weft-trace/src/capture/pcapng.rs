//! Block format: sections, interfaces and packets.

use std::io::Read;

use weft_units::Duration;

use super::{CaptureError, CapturedInterface, Found, Input, LinkType, Order, time};
use crate::pcapng::Direction;

pub const SECTION_HEADER: [u8; 4] = [0x0A, 0x0D, 0x0D, 0x0A];
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const IF_NAME: u16 = 2;
const IF_TIME_RESOLUTION: u16 = 9;
const IF_TIME_OFFSET: u16 = 14;
const PACKET_FLAGS: u16 = 2;
const PACKET_DROP_COUNT: u16 = 4;
/// Bytes of a block outside its content: kind, length, and the length again.
const FRAME: u32 = 12;
/// Unit of time without an option: 10^-6 s.
const TICKS: u64 = 1_000_000;

/// Kind of a block. Its content has been read, except for sections.
pub enum Block {
    /// Beginning of a section: read it with [`section`].
    Section,
    /// Interface.
    Interface,
    /// Packet.
    Packet(PacketBlock),
    /// Other block.
    Other,
}

/// Kind of a packet block.
#[derive(Clone, Copy)]
pub enum PacketBlock {
    /// With time and interface.
    Enhanced,
    /// With time and interface, in early files.
    Obsolete,
    /// Without time.
    Simple,
}

/// Reads the beginning of a section after its kind.
pub fn section<R: Read>(input: &mut Input<R>) -> Result<Order, CaptureError> {
    let mut beginning = [0; 8];
    input.exactly(&mut beginning)?;
    let magic = [4, 5, 6, 7].map(|at: usize| beginning[at]);
    let orders = [Order::Little, Order::Big].into_iter();
    let order = orders
        .clone()
        .find(|order| order.u32(magic) == BYTE_ORDER_MAGIC)
        .ok_or(CaptureError::Malformed(
            "a section has no byte order: the file is damaged",
        ))?;
    let length = order.u32_at(&beginning, 0).unwrap_or(0);
    // Kind, length and byte order have been read.
    let rest = length.checked_sub(FRAME).filter(|rest| rest % 4 == 0);
    let rest = rest.ok_or(CaptureError::Malformed(
        "a section has an impossible length",
    ))?;
    input.block(rest as usize, &mut Vec::new())?;
    Ok(order)
}

/// Reads the next block; `None` at the end of the file.
pub fn next<R: Read>(
    input: &mut Input<R>,
    order: Order,
    block: &mut Vec<u8>,
) -> Result<Option<Block>, CaptureError> {
    let mut kind = [0; 4];
    match input.fill(&mut kind)? {
        0 => return Ok(None),
        4 => {}
        _ => return Err(CaptureError::Cut),
    }
    if kind == SECTION_HEADER {
        return Ok(Some(Block::Section));
    }
    let mut length = [0; 4];
    input.exactly(&mut length)?;
    let content = order
        .u32(length)
        .checked_sub(FRAME)
        .filter(|rest| rest % 4 == 0)
        .ok_or(CaptureError::Malformed(
            "a block has an impossible length: the file is damaged",
        ))?;
    input.block(content as usize, block)?;
    let mut again = [0; 4];
    input.exactly(&mut again)?;
    if again != length {
        return Err(CaptureError::Malformed(
            "a block's two lengths differ: the file is damaged",
        ));
    }
    Ok(Some(match order.u32(kind) {
        INTERFACE_DESCRIPTION => Block::Interface,
        ENHANCED_PACKET => Block::Packet(PacketBlock::Enhanced),
        OBSOLETE_PACKET => Block::Packet(PacketBlock::Obsolete),
        SIMPLE_PACKET => Block::Packet(PacketBlock::Simple),
        _ => Block::Other,
    }))
}

/// Parses the description of an interface.
pub fn interface(block: &[u8], order: Order) -> Result<CapturedInterface, CaptureError> {
    const SHORT: CaptureError =
        CaptureError::Malformed("the description of an interface is too short");
    let link_type = order.u16_at(block, 0).ok_or(SHORT)?;
    let mut interface = CapturedInterface {
        name: None,
        link_type: LinkType(link_type),
        ticks: TICKS,
        offset: 0,
    };
    for (code, value) in options(block.get(8..).ok_or(SHORT)?, order) {
        match (code, value) {
            (IF_NAME, name) => {
                let name = String::from_utf8_lossy(name);
                interface.name = Some(name.trim_end_matches('\0').to_owned());
            }
            (IF_TIME_RESOLUTION, [unit, ..]) => {
                let power = u32::from(unit & 0x7F);
                let ticks = match unit & 0x80 {
                    0 => 10_u64.checked_pow(power),
                    _ => 2_u64.checked_pow(power),
                };
                interface.ticks = ticks.ok_or(CaptureError::Malformed(
                    "an interface has a unit of time that is too small",
                ))?;
            }
            (IF_TIME_OFFSET, [a, b, c, d, e, f, g, h]) => {
                let bytes = [*a, *b, *c, *d, *e, *f, *g, *h];
                interface.offset = match order {
                    Order::Big => i64::from_be_bytes(bytes),
                    Order::Little => i64::from_le_bytes(bytes),
                };
            }
            _ => {}
        }
    }
    Ok(interface)
}

/// Parses a packet block.
pub fn packet(
    kind: PacketBlock,
    block: &[u8],
    order: Order,
    interfaces: &[CapturedInterface],
) -> Result<Found, CaptureError> {
    const SHORT: CaptureError = CaptureError::Malformed("the block of a packet is too short");
    let number = |at: usize| order.u32_at(block, at).ok_or(SHORT);
    let (interface, header) = match kind {
        PacketBlock::Enhanced => (number(0)? as usize, 20),
        PacketBlock::Obsolete => (usize::from(order.u16_at(block, 0).ok_or(SHORT)?), 20),
        PacketBlock::Simple => (0, 4),
    };
    let own = interfaces.get(interface).ok_or(CaptureError::Malformed(
        "a packet is of an interface that the file does not describe",
    ))?;
    let (at, kept, length) = match kind {
        PacketBlock::Simple => {
            let length = number(0)?;
            let kept = (block.len() - header).min(length as usize);
            (Duration::ZERO, kept, length)
        }
        _ => {
            let count = u64::from(number(4)?) << 32 | u64::from(number(8)?);
            let at = offset(time(count, own.ticks), own.offset);
            (at, number(12)? as usize, number(16)?)
        }
    };
    let data = header..header.checked_add(kept).ok_or(SHORT)?;
    if data.end > block.len() {
        return Err(SHORT);
    }
    let rest = data.end.next_multiple_of(4).min(block.len());
    let mut found = Found {
        at,
        interface,
        direction: None,
        length: (length as usize).max(kept),
        data,
        dropped: 0,
    };
    if matches!(kind, PacketBlock::Simple) {
        return Ok(found);
    }
    for (code, value) in options(&block[rest..], order) {
        match (code, value) {
            (PACKET_FLAGS, [a, b, c, d]) => {
                found.direction = match order.u32([*a, *b, *c, *d]) & 3 {
                    1 => Some(Direction::Inbound),
                    2 => Some(Direction::Outbound),
                    _ => None,
                };
            }
            (PACKET_DROP_COUNT, [a, b, c, d, e, f, g, h]) => {
                let bytes = [*a, *b, *c, *d, *e, *f, *g, *h];
                found.dropped = match order {
                    Order::Big => u64::from_be_bytes(bytes),
                    Order::Little => u64::from_le_bytes(bytes),
                };
            }
            _ => {}
        }
    }
    Ok(found)
}

/// Adds an interface's offset in seconds.
fn offset(at: Duration, offset: i64) -> Duration {
    let nanos = i128::from(at.as_nanos()) + i128::from(offset) * 1_000_000_000;
    Duration::from_nanos(u64::try_from(nanos.max(0)).unwrap_or(u64::MAX))
}

/// Iterates over options: their codes and values.
fn options(mut rest: &[u8], order: Order) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (code, length) = (order.u16_at(rest, 0)?, order.u16_at(rest, 2)?);
        let length = usize::from(length);
        let value = rest.get(4..4 + length).filter(|_| code != 0)?;
        rest = rest.get((4 + length).next_multiple_of(4)..).unwrap_or(&[]);
        Some((code, value))
    })
}
