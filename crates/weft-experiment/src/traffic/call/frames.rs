//! Frames of a stream, packed into less than half of the memory of their records.

use std::collections::VecDeque;
use std::fmt;

use weft_units::{Bytes, Duration, Instant};

use super::frame::{FrameRecord, FrameShown, Quality};

#[cfg(test)]
mod tests;

/// Number of recent frames that may still be shown after a later one. Chosen by us:
/// players show frames in order.
const OPEN: usize = 256;

/// Size of a block of packed records. Blocks do not move, unlike the content of a growing
/// vector.
const BLOCK: usize = 16 << 10;

/// Maximum size of a packed record: seven numbers of up to ten bytes, and the quality.
const LONGEST: usize = 7 * 10 + 17;

/// Flags below a frame's size.
const KEYFRAME: u64 = 1;
const QUALITY: u64 = 2;
const SHOWN: u64 = 4;
const FLAG_BITS: u32 = 3;

/// Frames of a stream, in the order of their capture. After later frames were shown, a
/// frame takes about 40 bytes, and a packet of a microphone 20.
#[derive(Clone, Default)]
pub struct FrameLog {
    /// Packed records of the first frames.
    blocks: Vec<Vec<u8>>,
    packed: usize,
    /// Capture time of the last of them, in nanoseconds.
    captured_at: u64,
    /// All later frames.
    open: VecDeque<FrameRecord>,
}

impl FrameLog {
    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.packed + self.open.len()
    }

    /// Whether there are no frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds the next frame.
    pub fn push(&mut self, frame: FrameRecord) {
        self.open.push_back(frame);
    }

    /// Records that a frame, counted from zero, was shown. Returns false if it was never
    /// added.
    ///
    /// # Panics
    /// If hundreds of later frames were shown before it.
    pub fn show(&mut self, number: u64, shown: FrameShown) -> bool {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        if number >= self.len() {
            return false;
        }
        let at = number.checked_sub(self.packed);
        let at = at.expect("frames are shown nearly in order");
        self.open[at].shown = Some(shown);
        let done = (at + 1).saturating_sub(OPEN);
        for frame in self.open.drain(..done).collect::<Vec<_>>() {
            self.pack(&frame);
        }
        true
    }

    /// Iterates over the frames.
    pub fn iter(&self) -> impl Iterator<Item = FrameRecord> + Clone + '_ {
        let unpack = |block| Unpacker {
            rest: block,
            captured_at: 0,
        };
        let packed = self.blocks.iter().map(Vec::as_slice).flat_map(unpack);
        packed.chain(self.open.iter().copied())
    }

    /// Changes the capture times, in their order.
    #[must_use]
    pub fn recaptured(mut self, change: impl Fn(Instant) -> Instant) -> FrameLog {
        let mut changed = FrameLog::default();
        let recapture = |frame: FrameRecord| FrameRecord {
            captured_at: change(frame.captured_at),
            ..frame
        };
        // Each block is freed before the next one is copied.
        for block in self.blocks.drain(..) {
            let unpacker = Unpacker {
                rest: &block,
                captured_at: 0,
            };
            unpacker.for_each(|frame| changed.pack(&recapture(frame)));
        }
        changed.open = self.open.into_iter().map(recapture).collect();
        changed
    }

    fn pack(&mut self, frame: &FrameRecord) {
        let full = |block: &Vec<u8>| block.len() + LONGEST > BLOCK;
        if self.blocks.last().is_none_or(full) {
            self.blocks.push(Vec::with_capacity(BLOCK));
            self.captured_at = 0;
        }
        let block = self.blocks.last_mut().expect("it was added");
        let captured_at = frame.captured_at.as_nanos();
        put(block, captured_at.wrapping_sub(self.captured_at));
        self.captured_at = captured_at;
        let flag = |is_set: bool, flag: u64| if is_set { flag } else { 0 };
        let flags = flag(frame.keyframe, KEYFRAME)
            | flag(frame.quality.is_some(), QUALITY)
            | flag(frame.shown.is_some(), SHOWN);
        put(block, frame.size.0 << FLAG_BITS | flags);
        if let Some(quality) = &frame.quality {
            block.push(quality.quantizer);
            for value in [quality.psnr_db, quality.ssim, quality.brisque] {
                block.extend(value.to_le_bytes());
            }
            for pixels in [quality.width, quality.height] {
                block.extend(pixels.to_le_bytes());
            }
        }
        if let Some(shown) = &frame.shown {
            let at = shown.at.as_nanos();
            put(block, at.wrapping_sub(captured_at));
            put(block, at.wrapping_sub(shown.complete_at.as_nanos()));
            for span in [shown.lateness, shown.construction, shown.skew] {
                put(block, span.as_nanos());
            }
        }
        self.packed += 1;
    }
}

impl FromIterator<FrameRecord> for FrameLog {
    fn from_iter<I: IntoIterator<Item = FrameRecord>>(frames: I) -> FrameLog {
        let mut log = FrameLog::default();
        for frame in frames {
            log.pack(&frame);
        }
        log
    }
}

impl PartialEq for FrameLog {
    fn eq(&self, other: &FrameLog) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for FrameLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Appends a number, seven bits per byte, starting with the lowest.
fn put(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number as u8 | 0x80);
        number >>= 7;
    }
    block.push(number as u8);
}

/// Frames of a block.
#[derive(Clone)]
struct Unpacker<'a> {
    rest: &'a [u8],
    captured_at: u64,
}

impl Unpacker<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.rest.split_first_chunk().expect("a whole record");
        self.rest = rest;
        *taken
    }

    fn number(&mut self) -> u64 {
        let mut number = 0;
        for shift in (0..).step_by(7) {
            let [byte] = self.take();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        number
    }

    fn quality(&mut self) -> Quality {
        let [quantizer] = self.take();
        Quality {
            quantizer,
            psnr_db: f32::from_le_bytes(self.take()),
            ssim: f32::from_le_bytes(self.take()),
            brisque: f32::from_le_bytes(self.take()),
            width: u16::from_le_bytes(self.take()),
            height: u16::from_le_bytes(self.take()),
        }
    }

    fn shown(&mut self) -> FrameShown {
        let at = self.captured_at.wrapping_add(self.number());
        FrameShown {
            at: Instant::from_nanos(at),
            complete_at: Instant::from_nanos(at.wrapping_sub(self.number())),
            lateness: Duration::from_nanos(self.number()),
            construction: Duration::from_nanos(self.number()),
            skew: Duration::from_nanos(self.number()),
        }
    }
}

impl Iterator for Unpacker<'_> {
    type Item = FrameRecord;

    fn next(&mut self) -> Option<FrameRecord> {
        if self.rest.is_empty() {
            return None;
        }
        self.captured_at = self.captured_at.wrapping_add(self.number());
        let size = self.number();
        let has = |flag: u64| size & flag != 0;
        Some(FrameRecord {
            captured_at: Instant::from_nanos(self.captured_at),
            size: Bytes(size >> FLAG_BITS),
            keyframe: has(KEYFRAME),
            quality: has(QUALITY).then(|| self.quality()),
            shown: has(SHOWN).then(|| self.shown()),
        })
    }
}
