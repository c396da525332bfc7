//! libvpx's quantizers.

use weft_publish::fitting::vp8::log2_step;

/// Index of each of libvpx's quantizers, 0 to 63 (`q_trans` in `vp8/encoder/onyx_if.c`).
const INDICES: [u8; 64] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 15, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30,
    31, 33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 64, 67, 70, 73, 76, 79, 82, 85,
    88, 91, 94, 97, 100, 103, 106, 109, 112, 115, 118, 121, 124, 127,
];

/// Coarsest of libvpx's quantizers.
pub const COARSEST: i32 = INDICES.len() as i32 - 1;

/// Returns the finest of libvpx's quantizers whose step is at least this, or the coarsest
/// of all.
pub fn at_least(log2: f64) -> i32 {
    let place = INDICES
        .iter()
        .position(|index| log2_step(f64::from(*index)) >= log2);
    place.map_or(COARSEST, |place| place as i32)
}
