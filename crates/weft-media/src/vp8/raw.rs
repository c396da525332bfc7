use std::os::raw::c_void;

use weft_units::{Codec, Rate};

use super::attempt::{Attempt, Bounds};
use super::{config_error, encode_error, ffi, message};
use crate::Picture;
use crate::coding::{EncodedFrame, EncoderConfig, VideoError, check_fps};

/// libvpx with its settings; encodes a picture once with the given parameters.
pub(super) struct RawEncoder {
    raw: *mut c_void,
    config: EncoderConfig,
    last_timestamp: Option<u32>,
    pts: i64,
    /// Position in the pattern of temporal layers.
    position: usize,
    bounds: Bounds,
    /// Rate that was given to libvpx.
    told_kbps: i32,
    /// Whether the last frame left the entropy coder's probabilities unchanged, so that
    /// libvpx's copy of them is current; libvpx restores the copy when it drops such a
    /// frame.
    copied: bool,
}

// SAFETY: libvpx keeps no thread-local state; the pointer is used by one
// owner at a time.
unsafe impl Send for RawEncoder {}

/// Temporal layer of each position in the pattern; `csrc/vpx.c` has the corresponding
/// reference buffers. The pattern is the short one of libwebrtc's
/// default_temporal_layers.cc for three layers.
const LAYERS: [u8; 4] = [0, 2, 1, 2];
/// Whether each position depends only on the base layer.
const LAYER_SYNC: [bool; 4] = [false, true, true, false];
/// Share of the rate up to each layer, libwebrtc
/// temporal_layers_checker / simulcast_rate_allocator.cc for three layers.
const LAYER_PERCENT: [i32; 3] = [40, 60, 100];
/// libvpx's share of a frame of each layer, relative to the mean frame: the layers' share
/// of the rate up to this one divided by their share of the pictures.
const LAYER_FRAMES: [f64; 3] = [1.6, 1.2, 1.0];
/// Speed setting; more negative is faster. libwebrtc uses -6 on desktop CPUs
/// (vp8_encoder: GetCpuSpeed); one core does 720p at 175 pictures/s with it.
const CPU_USED: i32 = -6;
const TICKS_PER_SECOND: u32 = 90_000;
/// Largest time step between pictures, in picture intervals. libvpx treats a pause as the
/// future rate of pictures and distributes its bits accordingly. After pictures are
/// skipped because the network is slow, the following ones would be several times as
/// large, and with temporal layers it might then drop every picture permanently.
/// libwebrtc always advances by one interval (`libvpx_vp8_encoder.cc`); we use two, so
/// that cameras that halve their frame rate in the dark get the full bit rate.
/// `examples/low_rate` shows it.
const MAX_STEP: i64 = 2;

impl RawEncoder {
    pub fn new(config: EncoderConfig) -> Result<RawEncoder, VideoError> {
        let raw = open(&config)?;
        Ok(RawEncoder {
            raw,
            config,
            last_timestamp: None,
            pts: 0,
            position: 0,
            bounds: Bounds::DEFAULT,
            told_kbps: kbps(config.rate),
            copied: false,
        })
    }

    pub fn config(&self) -> &EncoderConfig {
        &self.config
    }

    pub fn set_rate(&mut self, rate: Rate) -> Result<(), VideoError> {
        if rate == self.config.rate {
            return Ok(());
        }
        self.tell_kbps(kbps(rate))?;
        self.config.rate = rate;
        Ok(())
    }

    pub fn set_fps(&mut self, fps: u32) -> Result<(), VideoError> {
        check_fps(Codec::Vp8, fps)?;
        self.config.fps = fps;
        Ok(())
    }

    /// Advances the pictures' time to this timestamp.
    pub fn advance(&mut self, timestamp: u32) {
        let nominal = i64::from(self.picture_ticks());
        self.pts += match self.last_timestamp {
            // A repeated or backward timestamp must still advance the time.
            Some(last) => {
                i64::from(timestamp.wrapping_sub(last) as i32).clamp(1, MAX_STEP * nominal)
            }
            None => 0,
        };
        self.last_timestamp = Some(timestamp);
    }

    /// Encodes a picture with libvpx; `None` if it drops it. A picture may be encoded
    /// several times, at one position in the pattern of layers.
    pub fn attempt(
        &mut self,
        picture: &Picture,
        force: bool,
        attempt: Attempt,
    ) -> Result<Option<EncodedFrame>, VideoError> {
        let layered = self.is_layered();
        let layer = LAYERS[self.position];
        let mut out = ffi::Encoded {
            data: std::ptr::null(),
            len: 0,
            keyframe: 0,
            droppable: 0,
            quantizer: 0,
        };
        // SAFETY: `raw` is a live encoder of this picture's size, the planes
        // were checked by the caller and outlive the call.
        let code = unsafe {
            ffi::weft_vpx_encode(
                self.raw,
                picture.y.as_ptr(),
                picture.u.as_ptr(),
                picture.v.as_ptr(),
                self.pts,
                self.picture_ticks(),
                i32::from(force),
                if layered { i32::from(layer) } else { -1 },
                self.position as i32,
                attempt as i32,
                &raw mut out,
            )
        };
        if code != 0 {
            return Err(encode_error(message(code)));
        }
        if out.len == 0 {
            return Ok(None);
        }
        // SAFETY: libvpx owns `len` bytes there until the next call.
        let data = unsafe { std::slice::from_raw_parts(out.data, out.len) }.to_vec();
        let key = out.keyframe != 0;
        self.copied = !key && attempt != Attempt::Only;
        Ok(Some(EncodedFrame {
            data,
            keyframe: key,
            temporal_layer: layered.then_some(layer),
            layer_sync: layered && !key && LAYER_SYNC[self.position],
            non_reference: out.droppable != 0,
            quantizer: out.quantizer.clamp(0, 127) as u8,
            attempts: 1,
        }))
    }

    /// Returns the shim's number of the reference buffer that the next picture updates,
    /// if any.
    pub fn updated_buffer(&self) -> Option<i32> {
        const LAST: i32 = 1;
        const GOLDEN: i32 = 2;
        match (self.is_layered(), LAYERS[self.position]) {
            (false, _) | (true, 0) => Some(LAST),
            (true, 1) => Some(GOLDEN),
            _ => None,
        }
    }

    /// Copies a reference buffer.
    pub fn keep(&mut self, buffer: i32) -> Result<(), VideoError> {
        // SAFETY: `raw` is a live encoder, which owns the copy.
        check(unsafe { ffi::weft_vpx_keep(self.raw, buffer) }).map_err(encode_error)
    }

    /// Returns the content of a reference buffer.
    #[cfg(test)]
    pub fn reference(&mut self, buffer: i32) -> Picture {
        let mut out = ffi::Decoded {
            planes: [std::ptr::null(); 3],
            strides: [0; 3],
            width: 0,
            height: 0,
            corrupted: 0,
        };
        self.keep(buffer).unwrap();
        // SAFETY: `raw` is a live encoder, which owns the copy.
        unsafe { ffi::weft_vpx_kept(self.raw, &raw mut out) };
        super::decoder::copy_out(&out)
    }

    /// Restores the copy to the reference buffer.
    pub fn put_back(&mut self, buffer: i32) -> Result<(), VideoError> {
        // SAFETY: as above.
        check(unsafe { ffi::weft_vpx_put_back(self.raw, buffer) }).map_err(encode_error)
    }

    pub fn set_bounds(&mut self, bounds: Bounds) -> Result<(), VideoError> {
        if bounds == self.bounds {
            return Ok(());
        }
        let Bounds {
            finest,
            coarsest,
            drop_threshold,
        } = bounds;
        // SAFETY: `raw` is a live encoder.
        check(unsafe { ffi::weft_vpx_set_bounds(self.raw, finest, coarsest, drop_threshold) })
            .map_err(config_error)?;
        self.bounds = bounds;
        Ok(())
    }

    /// Makes libvpx credit at least this many bytes to the next picture.
    pub fn tell_share(&mut self, bytes: f64) -> Result<(), VideoError> {
        let frames = match self.is_layered() {
            true => LAYER_FRAMES[usize::from(LAYERS[self.position])],
            false => 1.0,
        };
        let bps = bytes * 8.0 * f64::from(self.config.fps) / frames;
        // A lower rate would reduce the bits that libvpx has saved.
        let rate = Rate::from_bps(bps as u64).max(self.config.rate);
        self.tell_kbps(kbps(rate))
    }

    /// Restores the target rate.
    pub fn tell_target(&mut self) -> Result<(), VideoError> {
        match kbps(self.config.rate) {
            kbps if kbps == self.told_kbps => Ok(()),
            kbps => self.tell_kbps(kbps),
        }
    }

    fn tell_kbps(&mut self, kbps: i32) -> Result<(), VideoError> {
        // SAFETY: `raw` is a live encoder; the percentages outlive the call.
        check(unsafe { ffi::weft_vpx_set_rate(self.raw, kbps, LAYER_PERCENT.as_ptr()) })
            .map_err(config_error)?;
        self.told_kbps = kbps;
        Ok(())
    }

    fn is_layered(&self) -> bool {
        self.config.temporal_layers == 3
    }

    /// Whether libvpx's copy of the probabilities is current.
    pub fn is_copied(&self) -> bool {
        self.copied
    }

    /// Restarts the pattern of temporal layers.
    pub fn begin_pattern(&mut self) {
        self.position = 0;
    }

    /// Advances to the next position in the pattern of temporal layers.
    pub fn next_position(&mut self) {
        if self.is_layered() {
            self.position = (self.position + 1) % LAYERS.len();
        }
    }

    /// Returns the ticks from one picture to the next.
    fn picture_ticks(&self) -> u32 {
        TICKS_PER_SECOND / self.config.fps
    }

    /// Restarts for pictures of this size.
    pub fn reopen(&mut self, width: usize, height: usize) -> Result<(), VideoError> {
        let config = EncoderConfig {
            width,
            height,
            ..self.config
        };
        let raw = open(&config)?;
        // SAFETY: the old encoder is not used after this.
        unsafe { ffi::weft_vpx_encoder_free(self.raw) };
        self.raw = raw;
        self.config = config;
        self.position = 0;
        self.bounds = Bounds::DEFAULT;
        self.told_kbps = kbps(config.rate);
        self.copied = false;
        Ok(())
    }
}

impl Drop for RawEncoder {
    fn drop(&mut self) {
        // SAFETY: `raw` is live and not used again.
        unsafe { ffi::weft_vpx_encoder_free(self.raw) };
    }
}

fn check(code: i32) -> Result<(), String> {
    match code {
        0 => Ok(()),
        code => Err(message(code)),
    }
}

/// Lowest rate: below it the shares of three layers are no longer whole kbps that
/// increase from layer to layer, as libvpx requires.
const LEAST_KBPS: u64 = 5;

fn kbps(rate: Rate) -> i32 {
    (rate.as_bps() / 1000).clamp(LEAST_KBPS, 1_000_000) as i32
}

fn open(config: &EncoderConfig) -> Result<*mut c_void, VideoError> {
    // VP8 frame headers have 14 bits for each dimension (RFC 6386 section 9.1).
    let sizes = 2..=16_383;
    if !sizes.contains(&config.width) || !sizes.contains(&config.height) {
        return Err(config_error(format!(
            "{}x{} is not a VP8 picture size (2 to 16383 each way)",
            config.width, config.height
        )));
    }
    check_fps(Codec::Vp8, config.fps)?;
    if ![1, 3].contains(&config.temporal_layers) {
        return Err(config_error(format!(
            "temporal_layers = {} is neither 1 nor 3",
            config.temporal_layers
        )));
    }
    let fps = config.fps as i32;
    // The values without a comment are libwebrtc's (libvpx_vp8_encoder.cc).
    let raw_config = ffi::Config {
        width: config.width as i32,
        height: config.height as i32,
        fps,
        kbps: kbps(config.rate),
        layers: i32::from(config.temporal_layers),
        threads: 1,
        cpu_used: CPU_USED,
        min_quantizer: Bounds::DEFAULT.finest,
        max_quantizer: Bounds::DEFAULT.coarsest,
        drop_threshold: Bounds::DEFAULT.drop_threshold,
        undershoot_pct: 100,
        overshoot_pct: 15,
        buffer_initial_ms: 500,
        buffer_optimal_ms: 600,
        buffer_ms: 1000,
        // A keyframe takes at most half of the optimal buffer, at least three
        // pictures' worth (libvpx_vp8_encoder.cc, MaxIntraTarget).
        max_intra_pct: (600 * fps / 20).max(300),
        static_threshold: 1,
        layer_pct: LAYER_PERCENT,
    };
    let mut error = 0;
    // SAFETY: the structure mirrors the one in the shim and outlives the call.
    let raw = unsafe { ffi::weft_vpx_encoder_new(&raw const raw_config, &raw mut error) };
    if raw.is_null() {
        return Err(config_error(message(error)));
    }
    Ok(raw)
}
