//! Receiving end of one stream: which frames were displayed, and when.

use weft_experiment::{FrameLog, FrameRecord, FrameShown};
use weft_session::ReceivedFrame;
use weft_units::{Bytes, Freezes, Instant};

use super::clock::Clock;
use super::source::EncodedFrame;

/// Position of a frame's number in its bytes, after the bytes that payload formats read.
const NUMBER_AT: usize = 16;

/// Frames of one stream, from the encoder to the display.
#[derive(Default)]
pub(super) struct Frames {
    pub records: FrameLog,
    pub freezes: Freezes,
    /// Bytes encoded in this period.
    pub encoded: Bytes,
}

impl Frames {
    /// Records an encoded frame and writes its bytes to `buffer`.
    pub fn encode<'a>(
        &mut self,
        now: Instant,
        frame: &EncodedFrame,
        buffer: &'a mut Vec<u8>,
    ) -> &'a [u8] {
        let number = self.records.len() as u64;
        let size = (frame.size.0 as usize).max(NUMBER_AT + 8);
        // Only lengths matter, not contents: the buffer is not cleared and never shrinks.
        if buffer.len() < size {
            buffer.resize(size, 0);
        }
        // VP8 frame header: the lowest bit is zero for a keyframe (RFC 6386
        // section 9.1).
        buffer[0] = u8::from(!frame.keyframe);
        buffer[NUMBER_AT..NUMBER_AT + 8].copy_from_slice(&number.to_be_bytes());
        let size = Bytes(size as u64);
        self.encoded += size;
        self.records.push(FrameRecord {
            captured_at: now,
            size,
            keyframe: frame.keyframe,
            quality: frame.quality,
            shown: None,
        });
        &buffer[..size.0 as usize]
    }

    /// Records that a frame of the receiver's session was displayed; `clock` is the
    /// receiver's. Ignores a frame that was never sent.
    pub fn show(&mut self, now: Instant, clock: Clock, frame: &ReceivedFrame) {
        let number = frame.data.get(NUMBER_AT..NUMBER_AT + 8);
        let number = number.and_then(|bytes| Some(u64::from_be_bytes(bytes.try_into().ok()?)));
        let shown = FrameShown {
            at: now,
            complete_at: clock.when(frame.complete_at),
            lateness: frame.lateness,
            construction: frame.construction_delay(),
            skew: frame.path_skew().unwrap_or_default(),
        };
        if number.is_some_and(|number| self.records.show(number, shown)) {
            self.freezes.on_picture(now);
        }
    }
}
