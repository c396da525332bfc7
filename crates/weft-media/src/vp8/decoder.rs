use std::os::raw::c_void;

use weft_units::Codec;
use weft_wire::payload::vp8;

use super::{config_error, decode_error, ffi, message};
use crate::Picture;
use crate::coding::{VideoError, check_size};

/// VP8 decoder.
///
/// It does not notice every missing frame. The caller must track the dependencies, and
/// pass a frame only after its references.
pub struct Vp8Decoder {
    raw: *mut c_void,
}

// SAFETY: as for the encoder, one owner at a time and no thread-local state.
unsafe impl Send for Vp8Decoder {}

impl Vp8Decoder {
    /// Creates a decoder that waits for a keyframe.
    ///
    /// # Errors
    /// [`VideoError::Config`] if libvpx has no memory.
    pub fn new() -> Result<Vp8Decoder, VideoError> {
        let mut error = 0;
        // SAFETY: no precondition.
        let raw = unsafe { ffi::weft_vpx_decoder_new(&raw mut error) };
        if raw.is_null() {
            return Err(config_error(message(error)));
        }
        Ok(Vp8Decoder { raw })
    }

    /// Decodes a frame; `None` if it is not for display.
    ///
    /// # Errors
    /// [`VideoError::Decode`] for data that is not a VP8 frame or refers to a missing
    /// one, [`VideoError::TooLarge`] for a keyframe above the size limit; the decoder
    /// remains usable from the next keyframe.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<Picture>, VideoError> {
        // libvpx would treat an empty frame as a lost one and invent a picture.
        let Some(len) = u32::try_from(frame.len()).ok().filter(|len| *len > 0) else {
            return Err(decode_error("empty".into()));
        };
        if let Some((width, height)) = vp8::dimensions(frame) {
            let blocks = |side: u16| u32::from(side).div_ceil(16);
            check_size(Codec::Vp8, (blocks(width), blocks(height)))?;
        }
        let mut out = ffi::Decoded {
            planes: [std::ptr::null(); 3],
            strides: [0; 3],
            width: 0,
            height: 0,
            corrupted: 0,
        };
        // SAFETY: `raw` is a live decoder, the data outlives the call.
        let code = unsafe { ffi::weft_vpx_decode(self.raw, frame.as_ptr(), len, &raw mut out) };
        if code != 0 {
            return Err(decode_error(message(code)));
        }
        if out.corrupted != 0 {
            return Err(decode_error("corrupted reference".into()));
        }
        if out.width == 0 {
            return Ok(None);
        }
        Ok(Some(copy_out(&out)))
    }
}

impl Drop for Vp8Decoder {
    fn drop(&mut self) {
        // SAFETY: `raw` is live and not used again.
        unsafe { ffi::weft_vpx_decoder_free(self.raw) };
    }
}

pub(super) fn copy_out(out: &ffi::Decoded) -> Picture {
    let (width, height) = (out.width as usize, out.height as usize);
    let chroma = (width.div_ceil(2), height.div_ceil(2));
    let plane = |index: usize, (width, height): (usize, usize)| {
        let mut samples = Vec::with_capacity(width * height);
        for row in 0..height {
            // SAFETY: libvpx holds `height` rows of at least `width` samples,
            // `stride` apart, until the next call on this decoder.
            let row = unsafe {
                let start = out.planes[index].offset(row as isize * out.strides[index] as isize);
                std::slice::from_raw_parts(start, width)
            };
            samples.extend_from_slice(row);
        }
        samples
    };
    Picture {
        width,
        height,
        y: plane(0, (width, height)),
        u: plane(1, chroma),
        v: plane(2, chroma),
    }
}
