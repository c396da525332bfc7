//! Functions of `csrc/vpx.c`; the structures mirror those there.
use std::os::raw::{c_char, c_void};

/// More than fifteen fields: it mirrors the structure of the shim in C.
#[repr(C)]
pub struct Config {
    pub width: i32,
    pub height: i32,
    pub fps: i32,
    pub kbps: i32,
    pub layers: i32,
    pub threads: i32,
    pub cpu_used: i32,
    pub min_quantizer: i32,
    pub max_quantizer: i32,
    pub drop_threshold: i32,
    pub undershoot_pct: i32,
    pub overshoot_pct: i32,
    pub buffer_initial_ms: i32,
    pub buffer_optimal_ms: i32,
    pub buffer_ms: i32,
    pub max_intra_pct: i32,
    pub static_threshold: i32,
    pub layer_pct: [i32; 3],
}

#[repr(C)]
pub struct Encoded {
    pub data: *const u8,
    pub len: usize,
    pub keyframe: i32,
    pub droppable: i32,
    pub quantizer: i32,
}

#[repr(C)]
pub struct Decoded {
    pub planes: [*const u8; 3],
    pub strides: [i32; 3],
    pub width: i32,
    pub height: i32,
    pub corrupted: i32,
}

unsafe extern "C" {
    pub fn weft_vpx_encoder_new(config: *const Config, error: *mut i32) -> *mut c_void;
    pub fn weft_vpx_set_rate(encoder: *mut c_void, kbps: i32, layer_pct: *const i32) -> i32;
    pub fn weft_vpx_set_bounds(
        encoder: *mut c_void,
        min_quantizer: i32,
        max_quantizer: i32,
        drop_threshold: i32,
    ) -> i32;
    pub fn weft_vpx_keep(encoder: *mut c_void, buffer: i32) -> i32;
    #[cfg(test)]
    pub fn weft_vpx_kept(encoder: *mut c_void, out: *mut Decoded);
    pub fn weft_vpx_put_back(encoder: *mut c_void, buffer: i32) -> i32;
    pub fn weft_vpx_encode(
        encoder: *mut c_void,
        y: *const u8,
        u: *const u8,
        v: *const u8,
        pts: i64,
        duration: u32,
        keyframe: i32,
        layer: i32,
        position: i32,
        attempt: i32,
        out: *mut Encoded,
    ) -> i32;
    pub fn weft_vpx_encoder_free(encoder: *mut c_void);
    pub fn weft_vpx_decoder_new(error: *mut i32) -> *mut c_void;
    pub fn weft_vpx_decode(
        decoder: *mut c_void,
        data: *const u8,
        len: u32,
        out: *mut Decoded,
    ) -> i32;
    pub fn weft_vpx_decoder_free(decoder: *mut c_void);
    pub fn weft_vpx_error(code: i32) -> *const c_char;
}
