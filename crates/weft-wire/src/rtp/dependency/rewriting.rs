use super::{Bits, Extended, MANDATORY_LEN, Structure};

/// Maximum length in octets of an element in the two-byte form (RFC 8285 section 4.3).
const MAX_LEN: usize = 255;
/// Flag of the active decode targets, after that of the structure.
const HAS_ACTIVE: u8 = 0x40;

/// Returns a descriptor with another frame number and, if given, other active decode
/// targets; `active` has their bits and the stream's number of targets. A descriptor that is
/// unreadable or would be too long keeps its targets.
#[must_use]
pub fn rewritten(descriptor: &[u8], number: u16, active: Option<(u32, u8)>) -> Box<[u8]> {
    let replaced = active.and_then(|(active, targets)| with_active(descriptor, active, targets));
    let mut octets = replaced.unwrap_or_else(|| descriptor.to_vec());
    if let Some(place) = octets.get_mut(1..MANDATORY_LEN) {
        place.copy_from_slice(&number.to_be_bytes());
    }
    octets.into()
}

fn with_active(descriptor: &[u8], active: u32, targets: u8) -> Option<Vec<u8>> {
    let (mandatory, rest) = descriptor.split_at_checked(MANDATORY_LEN)?;
    let mut bits = Bits::new(rest);
    let extended = Extended::read(&mut bits).ok()?;
    let mut targets = targets;
    if extended.structure {
        targets = Structure::read(&mut bits).ok()?.targets;
    }
    let place = bits.at().max(Extended::LEN as usize);
    if extended.active {
        bits.skip(usize::from(targets)).ok()?;
    }
    let mut written = Writer::default();
    let mut all = Bits::new(rest);
    for _ in 0..place {
        written.push(all.flag().unwrap_or(false));
    }
    for target in (0..targets).rev() {
        written.push(active >> target & 1 == 1);
    }
    while !bits.is_empty() {
        written.push(bits.flag().ok()?);
    }
    let mut octets = [mandatory, &written.octets].concat();
    octets[MANDATORY_LEN] |= HAS_ACTIVE;
    (octets.len() <= MAX_LEN).then_some(octets)
}

#[derive(Default)]
struct Writer {
    octets: Vec<u8>,
    /// Number of bits.
    len: usize,
}

impl Writer {
    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.octets.push(0);
        }
        if let Some(last) = self.octets.last_mut() {
            *last |= u8::from(bit) << (7 - self.len % 8);
        }
        self.len += 1;
    }
}
