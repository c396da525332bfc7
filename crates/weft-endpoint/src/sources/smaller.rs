//! Smaller encoding of a camera (simulcast), for viewers with a slow connection or a small
//! tile.

use std::sync::Arc;

use weft_media::Format;
use weft_units::Rate;
use weft_wire::rtp::Rid;

use super::video::VideoControl;

/// Encoding of a camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingSize {
    /// As large as the camera's pictures and the rate permit.
    Full,
    /// A half or a quarter as wide and high, at a low rate.
    Smaller,
}

/// Encoders of a camera.
#[derive(Clone, Debug)]
pub struct CameraEncoders {
    /// Control of the encoder of the full size.
    pub full: Arc<VideoControl>,
    /// Encoder of the smaller encoding, if there is one.
    pub smaller: Option<SmallerEncoder>,
}

/// Encoder of a smaller encoding.
#[derive(Clone, Debug)]
pub struct SmallerEncoder {
    /// Its control.
    pub control: Arc<VideoControl>,
    /// Size and rate of its pictures.
    pub format: Format,
    /// Maximum rate.
    pub most: Rate,
}

impl From<Arc<VideoControl>> for CameraEncoders {
    /// Without a smaller encoding.
    fn from(full: Arc<VideoControl>) -> CameraEncoders {
        CameraEncoders {
            full,
            smaller: None,
        }
    }
}

/// Names of the two encodings, the smaller first; the page uses the same names for its
/// smallest and largest encodings.
const RIDS: [&str; 2] = ["q", "f"];
/// Pictures of at least this height have a smaller encoding with a quarter of the size;
/// pictures of at least half this height, one with half of the size. Chosen by us: 180
/// lines for 720 and for 360.
const QUARTERED: usize = 640;
/// Maximum rate of an encoding of 320x180, as in the page; larger ones get more in
/// proportion to their pixels.
const RATE: Rate = Rate::from_kbps(150);
const PIXELS: usize = 320 * 180;

/// Returns the names of the encodings for the description.
pub fn rids() -> Vec<Rid> {
    RIDS.iter().filter_map(|name| Rid::new(name)).collect()
}

impl SmallerEncoder {
    /// Returns the smaller encoding of pictures in this format; `None` if they are
    /// already small.
    #[must_use]
    pub fn of(full: Format) -> Option<SmallerEncoder> {
        let part = match full.height {
            QUARTERED.. => 4,
            height if height >= QUARTERED / 2 => 2,
            _ => return None,
        };
        let half = |length: usize| (length / part) & !1;
        let format = Format {
            width: half(full.width),
            height: half(full.height),
            ..full
        };
        let pixels = format.width * format.height;
        let control = Arc::<VideoControl>::default();
        // Paused until a peer accepts it.
        control.set_watched(false);
        Some(SmallerEncoder {
            control,
            format,
            most: RATE.mul_f64(pixels as f64 / PIXELS as f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_pictures_have_a_smaller_encoding_in_proportion() {
        let smaller = |width, height| {
            let full = Format {
                width,
                height,
                fps: 30.0,
            };
            let smaller = SmallerEncoder::of(full)?;
            let Format { width, height, .. } = smaller.format;
            Some((width, height, smaller.most.as_bps() / 1_000))
        };
        assert_eq!(smaller(1_920, 1_080), Some((480, 270, 337)));
        assert_eq!(smaller(1_280, 720), Some((320, 180, 150)));
        assert_eq!(smaller(640, 480), Some((320, 240, 200)));
        assert_eq!(smaller(640, 360), Some((320, 180, 150)));
        assert_eq!(smaller(426, 240), None);
        assert_eq!(rids().len(), 2);
    }
}
