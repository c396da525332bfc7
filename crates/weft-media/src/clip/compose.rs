//! Layers in I420 and the integer arithmetic that combines them.
//!
//! The inner loops are written so that the compiler vectorizes them.

use weft_units::Rng;

use super::paint::{Rgb, to_yuv};
use crate::Picture;

/// Position and size of the drawn head; see [`super::motion::Pose`].
pub struct Placement {
    pub x: f32,
    pub y: f32,
    pub angle: f32,
    pub zoom: f32,
    pub turn: f32,
    pub nod: f32,
    pub jaw: f32,
}

/// Painted picture with opacity; colours are premultiplied.
pub struct Layer {
    width: usize,
    height: usize,
    y: Vec<u8>,
    alpha: Vec<u8>,
    u: Vec<u8>,
    v: Vec<u8>,
    chroma_alpha: Vec<u8>,
}

/// Sub-pixel steps of a shift.
const STEPS: u16 = 16;

/// Paints pixel by pixel; `painter` receives scene coordinates and the size of a pixel,
/// and returns colour and opacity. Returns Y, U, V times opacity, and opacity, all 0 to
/// 255. Uses all cores.
pub fn paint_pixels(
    (width, height): (usize, usize),
    (left, top): (f32, f32),
    scale: f32,
    painter: impl Fn(f32, f32, f32) -> (Rgb, f32) + Sync,
) -> Vec<[u8; 4]> {
    let pixel = 1.0 / scale;
    let paint = |row: usize, out: &mut [[u8; 4]]| {
        let y = top + (row as f32 + 0.5) * pixel;
        for (column, out) in out.iter_mut().enumerate() {
            let x = left + (column as f32 + 0.5) * pixel;
            let (colour, alpha) = painter(x, y, pixel);
            let [y, u, v] = to_yuv(colour.map(|c| c.clamp(0.0, 255.0)));
            *out = [y * alpha, u * alpha, v * alpha, 255.0 * alpha].map(|c| (c + 0.5) as u8);
        }
    };
    let mut pixels = vec![[0; 4]; width * height];
    let painters = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = if width * height < WORTH_A_THREAD {
        height
    } else {
        height.div_ceil(painters)
    };
    std::thread::scope(|scope| {
        for (band, part) in pixels.chunks_mut((rows * width).max(1)).enumerate() {
            let paint = &paint;
            let mut work = move || {
                for (row, out) in part.chunks_exact_mut(width).enumerate() {
                    paint(band * rows + row, out);
                }
            };
            if rows == height {
                work();
            } else {
                scope.spawn(work);
            }
        }
    });
    pixels
}

/// Number of pixels that take about a millisecond to paint.
const WORTH_A_THREAD: usize = 10_000;

impl Layer {
    pub fn paint(
        (width, height): (usize, usize),
        origin: (f32, f32),
        scale: f32,
        painter: impl Fn(f32, f32, f32) -> (Rgb, f32) + Sync,
    ) -> Layer {
        // Even sizes, so that every chroma sample covers four pixels.
        let (width, height) = (width.next_multiple_of(2), height.next_multiple_of(2));
        let pixels = paint_pixels((width, height), origin, scale, painter);
        let channel = |i: usize| pixels.iter().map(|p| p[i]).collect();
        let halved = |i: usize| {
            let at = |x: usize, y: usize| u16::from(pixels[y * width + x][i]);
            let mut out = Vec::with_capacity(width * height / 4);
            for y in (0..height).step_by(2) {
                for x in (0..width).step_by(2) {
                    let sum = at(x, y) + at(x + 1, y) + at(x, y + 1) + at(x + 1, y + 1);
                    out.push(((sum + 2) / 4) as u8);
                }
            }
            out
        };
        Layer {
            width,
            height,
            y: channel(0),
            alpha: channel(3),
            u: halved(1),
            v: halved(2),
            chroma_alpha: halved(3),
        }
    }

    /// Fills the picture with the part of this (opaque) layer whose top left corner is at
    /// `x`, `y` of the layer.
    pub fn draw_whole(&self, picture: &mut Picture, x: f32, y: f32) {
        let chroma_width = picture.chroma_width();
        let luma = Shift::new(x, y);
        let chroma = Shift::new(x / 2.0, y / 2.0);
        for (row, out) in picture.y.chunks_exact_mut(picture.width).enumerate() {
            luma.row(&self.y, self.width, row, out);
        }
        for (plane, out) in [(&self.u, &mut picture.u), (&self.v, &mut picture.v)] {
            for (row, out) in out.chunks_exact_mut(chroma_width).enumerate() {
                chroma.row(plane, self.width / 2, row, out);
            }
        }
    }

    /// Blends this layer over the picture with its top left corner at `x`, `y`.
    pub fn blend(&self, picture: &mut Picture, x: f32, y: f32) {
        let chroma_width = picture.chroma_width();
        let stride = picture.width;
        blend_plane(
            (&self.y, &self.alpha),
            (self.width, self.height),
            &mut picture.y,
            stride,
            (x, y),
        );
        for (plane, out) in [(&self.u, &mut picture.u), (&self.v, &mut picture.v)] {
            blend_plane(
                (plane, &self.chroma_alpha),
                (self.width / 2, self.height / 2),
                out,
                chroma_width,
                (x / 2.0, y / 2.0),
            );
        }
    }
}

/// Shift of a plane by whole pixels and sixteenths.
struct Shift {
    x: usize,
    y: usize,
    fraction_x: u16,
    fraction_y: u16,
}

impl Shift {
    fn new(x: f32, y: f32) -> Shift {
        let steps = f32::from(STEPS);
        let (x, y) = ((x * steps).floor() as i32, (y * steps).floor() as i32);
        let (x, y) = (x.max(0) as usize, y.max(0) as usize);
        let steps = usize::from(STEPS);
        Shift {
            x: x / steps,
            y: y / steps,
            fraction_x: (x % steps) as u16,
            fraction_y: (y % steps) as u16,
        }
    }

    /// Returns one row of the shifted plane. The plane must extend one sample beyond the
    /// read area to the right and down; otherwise its last row is repeated.
    fn row(&self, plane: &[u8], stride: usize, row: usize, out: &mut [u8]) {
        let last = plane.len() / stride - 1;
        let n = out.len();
        let at = |row: usize, right: usize| &plane[row.min(last) * stride + self.x + right..][..n];
        let (above, below) = (row + self.y, row + self.y + 1);
        let (a, b, c, d) = (at(above, 0), at(above, 1), at(below, 0), at(below, 1));
        let (right, down) = (self.fraction_x, self.fraction_y);
        let (left, up) = (STEPS - right, STEPS - down);
        for i in 0..n {
            let above = u16::from(a[i]) * left + u16::from(b[i]) * right;
            let below = u16::from(c[i]) * left + u16::from(d[i]) * right;
            out[i] = ((above * up + below * down + (1 << 7)) >> 8) as u8;
        }
    }
}

fn blend_plane(
    (colour, alpha): (&[u8], &[u8]),
    (width, height): (usize, usize),
    out: &mut [u8],
    stride: usize,
    (x, y): (f32, f32),
) {
    // Whole part and fraction for reading the layer to the right of and below the target
    // position.
    let (left, top) = (x.ceil(), y.ceil());
    let shift = Shift::new(left - x, top - y);
    let (left, top) = (left as i32, top as i32);
    let rows = out.len() / stride;
    let skip = (-left).max(0) as usize;
    let start = left.max(0) as usize;
    if skip + 2 > width || start >= stride {
        return;
    }
    let run = (width - 1 - skip).min(stride - start);
    let (mut over, mut opacity) = (vec![0; run], vec![0; run]);
    for row in 0..height - 1 {
        let Some(target) = usize::try_from(top + row as i32).ok().filter(|r| *r < rows) else {
            continue;
        };
        let shift = Shift {
            x: skip,
            y: 0,
            ..shift
        };
        shift.row(colour, width, row, &mut over);
        shift.row(alpha, width, row, &mut opacity);
        let target = &mut out[target * stride + start..][..run];
        for ((under, over), alpha) in target.iter_mut().zip(&over).zip(&opacity) {
            *under = put_over(*under, *over, *alpha);
        }
    }
}

/// Blends `over` (premultiplied) on top of `under`.
pub fn put_over(under: u8, over: u8, alpha: u8) -> u8 {
    // 255 must count as 256 for the division by a shift.
    let rest = 256 - (u16::from(alpha) + u16::from(alpha >> 7));
    over.saturating_add(((u16::from(under) * rest + 128) >> 8) as u8)
}

/// Sensor noise: a tile of correlated Gaussian noise, read at a different position for
/// each row of each picture.
pub struct Noise {
    seed: u64,
    tile: Vec<i8>,
}

const TILE: usize = 512;
/// Standard deviation of the tile's values at strength one.
const TILE_SIGMA: f64 = 32.0;
/// Standard deviation in luma levels at mid grey. Above about 2, the curve of rate
/// against quality becomes flatter than for real cameras.
const STRENGTH: f64 = 1.15;

impl Noise {
    pub fn new(seed: u64, rng: &mut Rng) -> Noise {
        let raw: Vec<f64> = (0..TILE * TILE).map(|_| rng.normal()).collect();
        let at = |x: usize, y: usize| raw[(y % TILE) * TILE + x % TILE];
        // Neighbours are correlated, as by a lens and a demosaic filter.
        let own = 0.86_f64;
        let neighbour = ((1.0 - own * own) / 4.0).sqrt();
        let mut tile = Vec::with_capacity(TILE * TILE + TILE);
        for y in 0..TILE {
            for x in 0..TILE {
                let around =
                    at(x + 1, y) + at(x + TILE - 1, y) + at(x, y + 1) + at(x, y + TILE - 1);
                let value = own * at(x, y) + neighbour * around;
                tile.push((value * STRENGTH * TILE_SIGMA).round().clamp(-127.0, 127.0) as i8);
            }
        }
        Noise { seed, tile }
    }

    pub fn add(&self, picture: &mut Picture, number: u64) {
        let mut rng = Rng::new(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let width = picture.width;
        let chroma_width = picture.chroma_width();
        for row in picture.y.chunks_exact_mut(width) {
            self.add_row(row, &mut rng, luma_noise);
        }
        for plane in [&mut picture.u, &mut picture.v] {
            for row in plane.chunks_exact_mut(chroma_width) {
                self.add_row(row, &mut rng, chroma_noise);
            }
        }
    }

    fn add_row(&self, row: &mut [u8], rng: &mut Rng, add: impl Fn(u8, i8) -> u8) {
        // Pieces of at most half a tile from random positions, so that no repetition is
        // visible.
        for piece in row.chunks_mut(TILE) {
            let start = rng.below((self.tile.len() - piece.len()) as u64 + 1) as usize;
            for (sample, noise) in piece.iter_mut().zip(&self.tile[start..]) {
                *sample = add(*sample, *noise);
            }
        }
    }
}

/// Noise grows with light: 0.6 of the strength at black, once at mid grey.
fn luma_noise(sample: u8, noise: i8) -> u8 {
    let level = i16::from(sample);
    let gain = 77 + ((51 * level) >> 7);
    (level + ((i16::from(noise) * gain + (1 << 11)) >> 12)).clamp(16, 235) as u8
}

/// Half as strong as the luma noise, at every level.
fn chroma_noise(sample: u8, noise: i8) -> u8 {
    (i16::from(sample) + ((i16::from(noise) + 32) >> 6)).clamp(16, 240) as u8
}
