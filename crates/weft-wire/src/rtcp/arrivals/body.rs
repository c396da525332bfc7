//! Body: base sequence number, status count, reference time, one octet specific
//! to the packet type, status chunks, arrival time deltas.

use crate::ParseError;
use crate::reader::Reader;
use crate::rtcp::take_entries;
use weft_units::{Duration, Ecn, Instant};

/// Unit of the deltas.
const TICK: Duration = Duration::from_micros(250);
/// Unit of the reference time: 64 ms.
const TICKS_PER_REFERENCE: i64 = 256;
const REFERENCE_MASK: i64 = 0xff_ffff;
/// The reference time has 24 bits.
pub(super) const REFERENCE_WRAP: Duration = Duration::from_millis(64 << 24);
/// Octets before the chunks.
pub(super) const HEADER_LEN: usize = 8;

// Status symbols, section 3.1.1.
const NOT_RECEIVED: u8 = 0;
const SMALL_DELTA: u8 = 1;
const LARGE_DELTA: u8 = 2;

// Status chunks, sections 3.1.3 and 3.1.4.
const VECTOR_CHUNK: u16 = 0x8000;
const TWO_BIT_SYMBOLS: u16 = 0x4000;
/// Largest run in one chunk.
pub(super) const MAX_RUN: usize = 0x1fff;
const ONE_BIT_CAPACITY: usize = 14;
/// Smallest number of packets in a chunk, except the last one.
pub(super) const TWO_BIT_CAPACITY: usize = 7;

pub(super) struct Body {
    pub base_sequence: u16,
    pub arrivals: Vec<Option<Instant>>,
    pub last_octet: u8,
}

impl Body {
    /// Parses a body. `left` limits the entries and is reduced by their number.
    pub fn parse(reader: &mut Reader<'_>, left: &mut usize) -> Result<Body, ParseError> {
        let base_sequence = reader.u16()?;
        let count = usize::from(reader.u16()?);
        take_entries(left, count, "arrival list")?;
        let reference = i64::from(reader.u24()?);
        let last_octet = reader.u8()?;
        let symbols = parse_symbols(reader, count)?;
        let mut tick = reference * TICKS_PER_REFERENCE;
        let mut arrivals = Vec::with_capacity(count);
        for symbol in symbols {
            let delta = match symbol {
                NOT_RECEIVED => {
                    arrivals.push(None);
                    continue;
                }
                SMALL_DELTA => i64::from(reader.u8()?),
                LARGE_DELTA => i64::from(reader.u16()?.cast_signed()),
                _ => {
                    return Err(ParseError::Invalid {
                        what: "packet status",
                    });
                }
            };
            tick += delta;
            arrivals.push(Some(instant_of(tick)));
        }
        Ok(Body {
            base_sequence,
            arrivals,
            last_octet,
        })
    }
}

fn parse_symbols(reader: &mut Reader<'_>, count: usize) -> Result<Vec<u8>, ParseError> {
    let mut symbols = Vec::with_capacity(count);
    while symbols.len() < count {
        let chunk = reader.u16()?;
        let left = count - symbols.len();
        if chunk & VECTOR_CHUNK == 0 {
            let run = usize::from(chunk) & MAX_RUN;
            if run == 0 {
                return Err(ParseError::Invalid {
                    what: "run of no packets",
                });
            }
            let symbol = (chunk >> 13 & 3) as u8;
            symbols.extend(std::iter::repeat_n(symbol, run.min(left)));
        } else if chunk & TWO_BIT_SYMBOLS == 0 {
            let all = (0..ONE_BIT_CAPACITY).map(|i| (chunk >> (13 - i) & 1) as u8);
            symbols.extend(all.take(left));
        } else {
            let all = (0..TWO_BIT_CAPACITY).map(|i| (chunk >> (12 - 2 * i) & 3) as u8);
            symbols.extend(all.take(left));
        }
    }
    Ok(symbols)
}

/// Returns the time of a tick. A time before the epoch can only come from a broken peer
/// and becomes the epoch.
fn instant_of(tick: i64) -> Instant {
    let ticks = u64::try_from(tick).unwrap_or(0);
    Instant::from_nanos(ticks * TICK.as_nanos())
}

pub(super) const fn tick_of(arrival: Instant) -> i64 {
    (arrival.as_nanos() / TICK.as_nanos()) as i64
}

/// Whether a packet may follow another one in a body.
pub(super) fn delta_fits(ticks: i64) -> bool {
    i16::try_from(ticks).is_ok()
}

pub(super) fn write(
    base_sequence: u16,
    arrivals: &[Option<Instant>],
    last_octet: u8,
    out: &mut Vec<u8>,
) {
    let arrivals = &arrivals[..arrivals.len().min(usize::from(u16::MAX))];
    let first = arrivals.iter().flatten().next();
    let reference = first.map_or(0, |&a| tick_of(a) / TICKS_PER_REFERENCE);
    out.extend_from_slice(&base_sequence.to_be_bytes());
    out.extend_from_slice(&(arrivals.len() as u16).to_be_bytes());
    let reference_octets = ((reference & REFERENCE_MASK) as u32).to_be_bytes();
    out.extend_from_slice(&reference_octets[1..]);
    out.push(last_octet);

    let mut tick = reference * TICKS_PER_REFERENCE;
    let mut symbols = Vec::with_capacity(arrivals.len());
    let mut deltas = Vec::with_capacity(arrivals.len());
    for arrival in arrivals {
        let Some(arrival) = arrival else {
            symbols.push(NOT_RECEIVED);
            continue;
        };
        let wanted = tick_of(*arrival) - tick;
        let delta = wanted.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16;
        tick += i64::from(delta);
        if let Ok(small) = u8::try_from(delta) {
            symbols.push(SMALL_DELTA);
            deltas.push(small);
        } else {
            symbols.push(LARGE_DELTA);
            deltas.extend_from_slice(&delta.to_be_bytes());
        }
    }
    write_chunks(&symbols, out);
    out.extend_from_slice(&deltas);
}

fn write_chunks(symbols: &[u8], out: &mut Vec<u8>) {
    let mut rest = symbols;
    while let Some(&symbol) = rest.first() {
        let run = rest.iter().take(MAX_RUN).take_while(|&&s| s == symbol);
        let run = run.count();
        let one_bit = rest.len().min(ONE_BIT_CAPACITY);
        let one_bit_fits = rest[..one_bit].iter().all(|&s| s < LARGE_DELTA);
        let (chunk, used) = if run == rest.len() || run >= ONE_BIT_CAPACITY {
            (run_chunk(symbol, run), run)
        } else if one_bit_fits {
            (vector_chunk(&rest[..one_bit], 1), one_bit)
        } else if run >= TWO_BIT_CAPACITY {
            (run_chunk(symbol, run), run)
        } else {
            let used = rest.len().min(TWO_BIT_CAPACITY);
            (vector_chunk(&rest[..used], 2), used)
        };
        out.extend_from_slice(&chunk.to_be_bytes());
        rest = &rest[used..];
    }
}

/// Parses the ECN fields after a body. They start at the next whole word, in chunks like
/// the statuses, with one symbol for each received packet. Without them the packet ends
/// with the word before, as in earlier versions.
pub(super) fn parse_marks(
    reader: &mut Reader<'_>,
    body_len: usize,
    received: usize,
) -> Result<Vec<Ecn>, ParseError> {
    let left = reader.rest().len();
    let padding = (body_len - left).next_multiple_of(4) - (body_len - left);
    if left <= padding || received == 0 {
        return Ok(Vec::new());
    }
    reader.take(padding)?;
    let symbols = parse_symbols(reader, received)?;
    Ok(symbols.into_iter().map(Ecn::from_bits).collect())
}

/// Writes the marks; nothing if there are none, or only Not-ECT. `start` is the start of
/// the words.
pub(super) fn write_marks(marks: &[Ecn], start: usize, out: &mut Vec<u8>) {
    if marks.iter().all(|mark| *mark == Ecn::NotEct) {
        return;
    }
    out.resize(start + (out.len() - start).next_multiple_of(4), 0);
    let symbols: Vec<u8> = marks.iter().map(|mark| mark.bits()).collect();
    write_chunks(&symbols, out);
}

fn run_chunk(symbol: u8, run: usize) -> u16 {
    u16::from(symbol) << 13 | run as u16
}

/// Returns the chunk with the first symbol in the highest bits; the low bits stay zero.
fn vector_chunk(symbols: &[u8], bits: u16) -> u16 {
    let size = if bits == 1 { 0 } else { TWO_BIT_SYMBOLS };
    let start = VECTOR_CHUNK | size;
    let shifts = (0..14 / bits).map(|i| 14 - bits * (i + 1));
    symbols
        .iter()
        .zip(shifts)
        .fold(start, |chunk, (&s, shift)| chunk | u16::from(s) << shift)
}
