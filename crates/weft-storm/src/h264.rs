//! Pictures as H.264, for publishers that change the codec.
//!
//! The packets are real, but the pictures are not: parameter sets, and one slice whose
//! content has no start code.

use weft_testing::pictures::{Picture, Stamp};

/// Sequence and picture parameter set, as a byte stream (ITU-T H.264, annex B).
const PARAMETERS: [u8; 14] = [0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1f, 0, 0, 0, 1, 0x68, 0xce];
/// Number of bytes in a picture that contain its stamp.
const STAMPED: usize = 34;
/// Bit set in each byte that carries four bits of the stamp, so that no byte is zero.
const NIBBLE: u8 = 0x10;

/// Header and first byte of the slice of a keyframe, or of another picture: the slice
/// starts with the first macroblock.
fn slice(keyframe: bool) -> [u8; 6] {
    [0, 0, 0, 1, if keyframe { 0x65 } else { 0x41 }, 0x88]
}

/// Returns the picture as H.264, with the same or a slightly greater length.
pub fn write(picture: &Picture) -> Vec<u8> {
    let mut out = Vec::with_capacity(picture.data.len() + 2 * STAMPED);
    if picture.keyframe {
        out.extend(PARAMETERS);
    }
    out.extend(slice(picture.keyframe));
    let stamped = picture.data.iter().take(STAMPED);
    out.extend(stamped.flat_map(|byte| [NIBBLE | byte >> 4, NIBBLE | byte & 15]));
    out.resize(out.len().max(picture.data.len()), NIBBLE);
    out
}

/// Reads the stamp of a picture from [`write`]; `None` if it has none.
pub fn read(data: &[u8]) -> Option<Stamp> {
    let is_slice = |part: &[u8]| part == slice(true) || part == slice(false);
    let at = data.windows(6).position(is_slice)?;
    let nibbles = data.get(at + 6..)?.get(..2 * STAMPED)?;
    let bytes = nibbles.chunks(2).map(|pair| pair[0] << 4 | pair[1] & 15);
    Stamp::of(&bytes.collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use weft_testing::pictures::Source;
    use weft_units::{Instant, Rate, Rng};

    use super::*;

    #[test]
    fn the_stamp_comes_back_and_no_start_code_is_inside() {
        let mut source = Source::new(Rate::from_kbps(500), Rng::new(1));
        for number in 0..300 {
            let picture = source.capture(Instant::from_nanos(number << 32));
            let data = write(&picture);
            assert_eq!(read(&data), Stamp::of(&picture.data));
            let codes = data.windows(3).filter(|w| *w == [0, 0, 1]).count();
            assert_eq!(codes, if picture.keyframe { 3 } else { 1 });
        }
    }
}
