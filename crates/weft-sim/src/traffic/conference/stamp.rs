//! Content of a model's picture: enough of VP8 for a server to read its size, and a stamp
//! by which the viewer recognizes it.

use weft_experiment::Quality;
use weft_units::{Bytes, Instant};

use crate::traffic::EncodedFrame;

/// Header of a VP8 keyframe (RFC 6386 section 9.1).
const HEADER: usize = 10;
/// Size of header and stamp.
const LEAST: usize = HEADER + 40;

/// Stamp of a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Stamp {
    /// Number of the person whose camera took it.
    pub person: u32,
    /// Index of the encoding, from 0 for the smallest.
    pub encoding: u8,
    /// Number among the camera's pictures, equal in all encodings.
    pub number: u64,
    pub captured_at: Instant,
    pub quantizer: u8,
    pub height: u16,
    pub psnr_db: f32,
    pub ssim: f32,
}

impl Stamp {
    /// Writes a picture of the frame's size.
    pub fn write(&self, frame: &EncodedFrame, quality: &Quality) -> Vec<u8> {
        let Bytes(size) = frame.size;
        let mut data = vec![0; (size as usize).max(LEAST)];
        // The lowest bit is 0 in a keyframe.
        data[0] = u8::from(!frame.keyframe);
        if frame.keyframe {
            data[3..6].copy_from_slice(&[0x9d, 0x01, 0x2a]);
            data[6..8].copy_from_slice(&quality.width.to_le_bytes());
            data[8..10].copy_from_slice(&quality.height.to_le_bytes());
        }
        let stamp = &mut data[HEADER..];
        stamp[..4].copy_from_slice(&self.person.to_be_bytes());
        stamp[4] = self.encoding;
        stamp[5] = self.quantizer;
        stamp[6..8].copy_from_slice(&self.height.to_be_bytes());
        stamp[8..16].copy_from_slice(&self.number.to_be_bytes());
        stamp[16..24].copy_from_slice(&self.captured_at.as_nanos().to_be_bytes());
        stamp[24..28].copy_from_slice(&self.psnr_db.to_be_bytes());
        stamp[28..32].copy_from_slice(&self.ssim.to_be_bytes());
        data
    }

    /// Reads the stamp of a whole picture; `None` if it has none.
    pub fn read(data: &[u8]) -> Option<Stamp> {
        let stamp = data.get(HEADER..LEAST)?;
        let four = |at: usize| stamp[at..].first_chunk::<4>().copied();
        let eight = |at: usize| stamp[at..].first_chunk::<8>().copied();
        Some(Stamp {
            person: u32::from_be_bytes(four(0)?),
            encoding: stamp[4],
            quantizer: stamp[5],
            height: u16::from_be_bytes([stamp[6], stamp[7]]),
            number: u64::from_be_bytes(eight(8)?),
            captured_at: Instant::from_nanos(u64::from_be_bytes(eight(16)?)),
            psnr_db: f32::from_be_bytes(four(24)?),
            ssim: f32::from_be_bytes(four(28)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_carries_its_stamp_and_a_keyframe_its_size() {
        let quality = Quality {
            quantizer: 40,
            psnr_db: 38.5,
            ssim: 0.97,
            brisque: 0.0,
            width: 640,
            height: 360,
        };
        let stamp = Stamp {
            person: 7,
            encoding: 1,
            number: 300,
            captured_at: Instant::from_nanos(1_234_567),
            quantizer: 40,
            height: 360,
            psnr_db: 38.5,
            ssim: 0.97,
        };
        for (size, keyframe) in [(2_000, true), (1, false)] {
            let frame = EncodedFrame {
                quality: Some(quality),
                ..EncodedFrame::plain(Bytes(size), keyframe)
            };
            let data = stamp.write(&frame, &quality);
            assert_eq!(data.len(), (size as usize).max(LEAST));
            assert_eq!(Stamp::read(&data), Some(stamp));
            assert_eq!(data[0] & 1 == 0, keyframe);
            let has_size = data[3..10] == [0x9d, 0x01, 0x2a, 0x80, 0x02, 0x68, 0x01];
            assert_eq!(has_size, keyframe);
        }
        assert_eq!(Stamp::read(&[0; LEAST - 1]), None);
    }
}
