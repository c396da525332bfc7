//! Brushes. Colours are red, green and blue, 0 to 255, and opacity, 0 to 1. Lengths are
//! in scene units; the scene has 1280 x 720.

pub const SCENE_WIDTH: f32 = 1280.0;
pub const SCENE_HEIGHT: f32 = 720.0;

pub type Rgb = [f32; 3];

pub fn mix(a: Rgb, b: Rgb, t: f32) -> Rgb {
    std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
}

pub fn shade(a: Rgb, factor: f32) -> Rgb {
    a.map(|c| c * factor)
}

pub fn lift(a: Rgb, by: f32) -> Rgb {
    a.map(|c| c + by)
}

/// Returns 0 at `from`, 1 at `to`, and a smooth transition between (in either direction).
pub fn ramp(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Returns the share of a pixel of size `pixel` covered by a shape whose edge is
/// `distance` away (negative inside).
pub fn cover(distance: f32, pixel: f32) -> f32 {
    (0.5 - distance / pixel).clamp(0.0, 1.0)
}

/// Returns a bell curve of width `radius`.
pub fn bell(x: f32, radius: f32) -> f32 {
    let t = x / radius;
    (-t * t).exp()
}

/// Returns the signed distance to a box with rounded corners around the origin.
pub fn rounded_box(x: f32, y: f32, half_width: f32, half_height: f32, radius: f32) -> f32 {
    let (dx, dy) = (
        x.abs() - half_width + radius,
        y.abs() - half_height + radius,
    );
    dx.max(0.0).hypot(dy.max(0.0)) + dx.max(dy).min(0.0) - radius
}

/// Returns the approximate signed distance to an ellipse around the origin.
pub fn ellipse(x: f32, y: f32, a: f32, b: f32) -> f32 {
    let e = (x / a).hypot(y / b);
    let slope = (x / (a * a)).hypot(y / (b * b)).max(1e-6);
    (e - 1.0) * e / slope
}

/// Returns a fixed random number in -1..1 for a grid point.
pub fn hash(x: i32, y: i32, seed: u32) -> f32 {
    // The finaliser of MurmurHash3 over a product of the coordinates.
    let mut h = (x as u32).wrapping_mul(0x85eb_ca6b)
        ^ (y as u32).wrapping_mul(0xc2b2_ae35)
        ^ seed.wrapping_mul(0x27d4_eb2f);
    h ^= h >> 16;
    h = h.wrapping_mul(0x85eb_ca6b);
    h ^= h >> 13;
    h = h.wrapping_mul(0xc2b2_ae35);
    h ^= h >> 16;
    h as f32 / 2_147_483_648.0 - 1.0
}

/// Returns smooth noise in -1..1 with features of size 1.
pub fn noise(x: f32, y: f32, seed: u32) -> f32 {
    let (left, top) = (x.floor(), y.floor());
    let ease = |t: f32| t * t * (3.0 - 2.0 * t);
    let (fx, fy) = (ease(x - left), ease(y - top));
    let (left, top) = (left as i32, top as i32);
    let row = |y| {
        let (a, b) = (hash(left, y, seed), hash(left + 1, y, seed));
        a + (b - a) * fx
    };
    let (a, b) = (row(top), row(top + 1));
    a + (b - a) * fy
}

/// Returns octaves of noise, from features of size `largest` down to 2; each octave has
/// `ratio` of the strength of the previous one.
pub fn fractal(x: f32, y: f32, largest: f32, ratio: f32, seed: u32) -> f32 {
    let (mut size, mut strength, mut sum, mut octave) = (largest, 1.0, 0.0, 0);
    while size >= 2.0 {
        sum += strength * noise(x / size, y / size, seed.wrapping_add(octave));
        strength *= ratio;
        size /= 2.0;
        octave += 1;
    }
    sum
}

/// Limited-range BT.601 (ITU-R BT.601-7, section 2.5), not yet rounded.
pub fn to_yuv([r, g, b]: Rgb) -> [f32; 3] {
    [
        16.0 + 0.2568 * r + 0.5041 * g + 0.0979 * b,
        128.0 - 0.1482 * r - 0.2910 * g + 0.4392 * b,
        128.0 + 0.4392 * r - 0.3678 * g - 0.0714 * b,
    ]
}
