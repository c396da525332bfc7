//! Stamp at the end of each encoded picture: its publisher, number, encoding and capture
//! time.

use weft_units::{Codec, Instant};

/// Identification of a picture sent by a publisher of this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Publisher, unique in a run.
    pub publisher: u32,
    /// Index among the encodings of the camera, the smallest first.
    pub encoding: u8,
    /// Number of the picture, the same for all its encodings.
    pub number: u32,
    /// Time at which the picture was handed to the network.
    pub captured: Instant,
}

/// First bytes of a stamp.
const MAGIC: &[u8; 4] = b"weft";
/// Bytes of the fields: publisher, encoding, number, time.
const FIELDS: usize = 4 + 1 + 4 + 8;
/// Each byte of a field takes two bytes, so that H.264 needs no emulation prevention
/// (ITU-T H.264 section 7.4.1).
const LEN: usize = MAGIC.len() + 2 * FIELDS;
/// Stop bit of an H.264 NAL unit (ITU-T H.264 section 7.3.2.11).
const STOP: u8 = 0x80;

/// Returns the start code, type and size of the SEI message `user_data_unregistered`
/// (ITU-T H.264 section D.1.7), then its UUID, which is ours.
fn prefix(codec: Codec) -> Vec<u8> {
    match codec {
        // A VP8 decoder does not read beyond the last partition (RFC 6386 section 9.5).
        Codec::Vp8 | Codec::Vp9 | Codec::Av1 | Codec::Opus => Vec::new(),
        Codec::H264 => {
            let mut sei = vec![0, 0, 0, 1, 6, 5, (16 + LEN) as u8];
            sei.extend_from_slice(b"weft-load-stamp\x01");
            sei
        }
    }
}

impl Stamp {
    /// Appends the stamp to a picture of this codec.
    pub fn append(&self, codec: Codec, data: &mut Vec<u8>) {
        data.extend_from_slice(&prefix(codec));
        data.extend_from_slice(MAGIC);
        let mut fields = Vec::with_capacity(FIELDS);
        fields.extend_from_slice(&self.publisher.to_be_bytes());
        fields.push(self.encoding);
        fields.extend_from_slice(&self.number.to_be_bytes());
        fields.extend_from_slice(&self.captured.as_nanos().to_be_bytes());
        for byte in fields {
            data.extend([0x40 | byte >> 4, 0x40 | byte & 0x0f]);
        }
        if codec == Codec::H264 {
            data.push(STOP);
        }
    }

    /// Reads the stamp of a picture; `None` if it has none.
    pub fn read(codec: Codec, data: &[u8]) -> Option<Stamp> {
        let data = match codec {
            Codec::H264 => data.strip_suffix(&[STOP])?,
            Codec::Vp8 | Codec::Vp9 | Codec::Av1 | Codec::Opus => data,
        };
        let stamp = data.get(data.len().checked_sub(LEN)?..)?;
        let halves = stamp.strip_prefix(MAGIC)?;
        let mut fields = [0; FIELDS];
        for (field, pair) in fields.iter_mut().zip(halves.chunks_exact(2)) {
            if pair.iter().any(|half| half & 0xf0 != 0x40) {
                return None;
            }
            *field = pair[0] << 4 | pair[1] & 0x0f;
        }
        let word = |at: usize| Some(u32::from_be_bytes(*fields.get(at..)?.first_chunk()?));
        let time = u64::from_be_bytes(*fields.get(9..)?.first_chunk()?);
        Some(Stamp {
            publisher: word(0)?,
            encoding: fields[4],
            number: word(5)?,
            captured: Instant::from_nanos(time),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAMP: Stamp = Stamp {
        publisher: 7,
        encoding: 2,
        number: 0x0102_0300,
        captured: Instant::from_nanos(123_456_789_000),
    };

    #[test]
    fn a_stamp_is_read_back_and_changes_nothing_before_it() {
        for codec in [Codec::Vp8, Codec::H264] {
            let mut data = vec![1, 2, 3];
            STAMP.append(codec, &mut data);
            assert_eq!(data[..3], [1, 2, 3]);
            assert_eq!(Stamp::read(codec, &data), Some(STAMP), "{codec:?}");
            // The message contains no start code.
            let inside = &data[3 + prefix(codec).len().min(4)..];
            assert!(!inside.windows(2).any(|two| two == [0, 0]), "{codec:?}");
        }
    }

    #[test]
    fn pictures_of_others_have_no_stamp() {
        let mut data = vec![0; 100];
        assert_eq!(Stamp::read(Codec::Vp8, &data), None);
        assert_eq!(Stamp::read(Codec::H264, &[]), None);
        STAMP.append(Codec::Vp8, &mut data);
        let last = data.len() - 1;
        data[last] = 0;
        assert_eq!(Stamp::read(Codec::Vp8, &data), None);
    }
}
