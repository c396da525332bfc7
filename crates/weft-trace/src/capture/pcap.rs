//! Older format: a header and packets of one interface.

use std::io::Read;

use super::{CaptureError, CapturedInterface, Found, Input, LinkType, Order, time};

const MICROSECONDS: u32 = 0xA1B2_C3D4;
const NANOSECONDS: u32 = 0xA1B2_3C4D;
/// Bits of the link type field that hold the type; the others describe checksums.
const LINK_TYPE: u32 = 0xFFFF;
/// Length of the header after the magic number.
const HEADER: usize = 20;
const PACKET_HEADER: usize = 16;

/// Returns the byte order and the time unit of a file with this magic number.
pub fn order(magic: [u8; 4]) -> Option<(Order, u64)> {
    let found = |order: Order| match order.u32(magic) {
        MICROSECONDS => Some((order, 1_000_000)),
        NANOSECONDS => Some((order, 1_000_000_000)),
        _ => None,
    };
    found(Order::Little).or_else(|| found(Order::Big))
}

/// Reads the header.
pub fn header<R: Read>(
    input: &mut Input<R>,
    order: Order,
    ticks: u64,
) -> Result<CapturedInterface, CaptureError> {
    let mut header = [0; HEADER];
    input.exactly(&mut header)?;
    let link_type = order.u32_at(&header, HEADER - 4).unwrap_or(0);
    Ok(CapturedInterface {
        name: None,
        link_type: LinkType((link_type & LINK_TYPE) as u16),
        ticks,
        offset: 0,
    })
}

/// Reads the next packet into `block`.
pub fn next<R: Read>(
    input: &mut Input<R>,
    order: Order,
    ticks: u64,
    block: &mut Vec<u8>,
) -> Result<Option<Found>, CaptureError> {
    let mut header = [0; PACKET_HEADER];
    match input.fill(&mut header)? {
        0 => return Ok(None),
        PACKET_HEADER => {}
        _ => return Err(CaptureError::Cut),
    }
    let [seconds, part, kept, length] =
        [0, 4, 8, 12].map(|at| order.u32_at(&header, at).unwrap_or(0));
    if u64::from(part) >= ticks {
        return Err(CaptureError::Malformed(
            "the time of a packet is not one: the file is damaged before this place",
        ));
    }
    input.block(kept as usize, block)?;
    Ok(Some(Found {
        at: time(u64::from(seconds) * ticks + u64::from(part), ticks),
        interface: 0,
        direction: None,
        data: 0..block.len(),
        length: length.max(kept) as usize,
        dropped: 0,
    }))
}
