//! Head as a texture that is rotated, scaled and stretched.

use super::compose::{Placement, paint_pixels, put_over};
use super::face::{Base, Face};
use super::motion::Expression;
use super::palette::Palette;
use crate::Picture;

/// Position of the neck's joint in the scene at rest.
pub const NECK: (f32, f32) = (640.0, 426.0);
/// Position of that joint in the face's coordinates (origin between the eyes).
const JOINT: (f32, f32) = (0.0, 120.0);
/// The texture's part of the face's coordinates.
const LEFT: f32 = -176.0;
const TOP: f32 = -216.0;
const WIDTH: f32 = 352.0;
const HEIGHT: f32 = 432.0;

/// Parts of the face that change, in face coordinates: left, top, right, bottom.
const EYES: Area = [-90.0, -44.0, 90.0, 14.0];
const MOUTH: Area = [-64.0, 72.0, 64.0, 142.0];
type Area = [f32; 4];

/// Prepared steps of each movement.
const LIDS: usize = 5;
const GAZES: usize = 5;
const OPENINGS: usize = 12;
const WIDTHS: usize = 3;

/// Fixed point of texture coordinates: the second difference of a row is far
/// below a thousandth of a texel.
const ONE: f64 = (1_u64 << FRACTION) as f64;
const FRACTION: u32 = 32;

/// Length of the face below the mouth, and its extension by the open jaw.
const MOUTH_LINE: f32 = 96.0;
const JAW: f32 = 16.0;
const CHIN: f32 = 80.0;

/// Opacity, V, U and Y, from the highest 16-bit lane down: one multiplication computes
/// the bilinear sums of all four.
type Texel = u64;

struct Patch {
    left: usize,
    top: usize,
    width: usize,
    texels: Vec<Texel>,
}

pub struct Head {
    scale: f32,
    width: usize,
    texels: Vec<Texel>,
    /// Range of texels to draw in each row; the end is exclusive.
    spans: Vec<(u32, u32)>,
    eyes: Vec<Patch>,
    mouths: Vec<Patch>,
    shown: (usize, usize),
}

impl Head {
    pub fn new(scale: f32, palette: &Palette, seed: u32) -> Head {
        let (width, height) = ((WIDTH * scale) as usize, (HEIGHT * scale) as usize);
        let face = Face::new(palette.clone(), seed);
        let size = (width, height);
        // Values that do not depend on the expression are computed once per pixel.
        let mut bases: Vec<Base> = Vec::with_capacity(width * height);
        for row in 0..height {
            for column in 0..width {
                let (x, y) = position(column, row, scale);
                bases.push(face.base(x, y, 1.0 / scale));
            }
        }
        let patch = |area: Area, expression: Expression| -> Patch {
            let left = ((area[0] - LEFT) * scale) as usize;
            let top = ((area[1] - TOP) * scale) as usize;
            let right = (((area[2] - LEFT) * scale) as usize).min(size.0);
            let bottom = (((area[3] - TOP) * scale) as usize).min(size.1);
            let origin = (LEFT + left as f32 / scale, TOP + top as f32 / scale);
            let pixels = paint_pixels(
                (right - left, bottom - top),
                origin,
                scale,
                |x, y, pixel| {
                    let column = ((x - LEFT) * scale) as usize;
                    let row = ((y - TOP) * scale) as usize;
                    face.paint(x, y, pixel, &bases[row * size.0 + column], &expression)
                },
            );
            Patch {
                left,
                top,
                width: right - left,
                texels: pixels.into_iter().map(texel).collect(),
            }
        };
        let whole = patch([LEFT, TOP, LEFT + WIDTH, TOP + HEIGHT], NEUTRAL);
        Head {
            scale,
            width,
            eyes: eyes().map(|eyes| patch(EYES, eyes)).collect(),
            mouths: mouths().map(|mouth| patch(MOUTH, mouth)).collect(),
            spans: whole.texels.chunks_exact(width).map(span).collect(),
            texels: whole.texels,
            shown: (usize::MAX, usize::MAX),
        }
    }

    /// Sets the eyes and the mouth.
    pub fn express(&mut self, face: &Expression) {
        let step = |value: f32, steps: usize| (value * (steps - 1) as f32).round() as usize;
        let eyes = step(face.lid, LIDS) + LIDS * step((face.gaze + 1.0) / 2.0, GAZES);
        let mouth = step(face.open, OPENINGS) + OPENINGS * step((face.wide + 1.0) / 2.0, WIDTHS);
        let patches = [
            (eyes != self.shown.0).then(|| &self.eyes[eyes]),
            (mouth != self.shown.1).then(|| &self.mouths[mouth]),
        ];
        for patch in patches.into_iter().flatten() {
            for (row, texels) in patch.texels.chunks_exact(patch.width).enumerate() {
                let start = (patch.top + row) * self.width + patch.left;
                self.texels[start..start + patch.width].copy_from_slice(texels);
            }
        }
        self.shown = (eyes, mouth);
    }

    /// Draws the head over the picture; `place` is the position of the neck's joint.
    pub fn draw(&self, picture: &mut Picture, place: &Placement) {
        let (width, height) = (picture.width, picture.height);
        let chroma = (picture.chroma_width(), picture.chroma_height());
        self.draw_plane((width, height), 1.0, place, |at, texel| {
            let sample = &mut picture.y[at];
            *sample = put_over(*sample, lane(texel, 0), lane(texel, 3));
        });
        let (u, v) = (&mut picture.u, &mut picture.v);
        self.draw_plane(chroma, 2.0, place, |at, texel| {
            u[at] = put_over(u[at], lane(texel, 1), lane(texel, 3));
            v[at] = put_over(v[at], lane(texel, 2), lane(texel, 3));
        });
    }

    /// Visits every sample of a plane that the head covers; samples are `step` pixels
    /// apart.
    fn draw_plane(
        &self,
        (columns, rows): (usize, usize),
        step: f32,
        place: &Placement,
        mut visit: impl FnMut(usize, Texel),
    ) {
        let scale = self.scale;
        // The texture's extent around the joint, with a margin for the movements.
        let range = |center: f32, before: f32, after: f32, limit: usize| {
            let first = ((center - before * scale) / step).max(0.0) as usize;
            let end = ((center + after * scale) / step).max(0.0) as usize;
            first..end.min(limit)
        };
        let up = 1.05 * (JOINT.1 - TOP) + 16.0;
        let down = 1.05 * (TOP + HEIGHT - JOINT.1) + 32.0;
        let side = 0.55 * WIDTH + 16.0;
        let (sin, cos) = place.angle.sin_cos();
        let (sin, cos) = (sin / place.zoom, cos / place.zoom);
        // The turn moves the middle of the face but not its outline: the shift is a
        // parabola over the width, and another one over the height.
        let half = WIDTH * scale * 0.4;
        let bend = place.turn / (half * half);
        for row in range(place.y, up, down, rows) {
            let dy = (row as f32 + 0.5) * step - place.y;
            let left = range(place.x, side, side, columns);
            if left.is_empty() {
                return;
            }
            let dx = (left.start as f32 + 0.5) * step - place.x;
            // Face coordinates in pixels, relative to its origin.
            let x = cos * dx + sin * dy + JOINT.0 * scale;
            let y = -sin * dx + cos * dy + JOINT.1 * scale;
            let middle = cos * dy + JOINT.1 * scale;
            let fade = 1.0 - (middle / (180.0 * scale)).powi(2);
            let down = self.jaw_shift(middle, place.jaw) - place.nod * fade.max(0.0);
            let turn = fade.max(0.0);
            // x(n) = x + a n, then minus turn (1 - (x / half)^2).
            let a = cos * step;
            let fixed = |v: f32| (f64::from(v) * ONE) as i64;
            let mut u = fixed(x - turn * (place.turn - bend * x * x) - (LEFT * scale) - 0.5);
            let mut du = fixed(a + turn * bend * (2.0 * x * a + a * a));
            let ddu = fixed(turn * 2.0 * bend * a * a);
            let mut v = fixed(y + down - TOP * scale - 0.5);
            let dv = fixed(-sin * step);
            for column in left {
                if let Some(texel) = self.sample(u, v) {
                    visit(row * columns + column, texel);
                }
                u += du;
                du += ddu;
                v += dv;
            }
        }
    }

    /// Returns by how much the open jaw stretches the face below the mouth.
    fn jaw_shift(&self, y: f32, open: f32) -> f32 {
        let below = (y / self.scale - MOUTH_LINE).max(0.0);
        let stretched = below * CHIN / (CHIN + JAW * open);
        (stretched - below) * self.scale
    }

    #[inline]
    fn sample(&self, u: i64, v: i64) -> Option<Texel> {
        let (column, row) = ((u >> FRACTION) as i32, (v >> FRACTION) as i32);
        let (start, end) = *self.spans.get(row as usize)?;
        if (column as u32).wrapping_sub(start) >= end.saturating_sub(start) {
            return None;
        }
        let (fx, fy) = (
            (u >> (FRACTION - 4) & 15) as u64,
            (v >> (FRACTION - 4) & 15) as u64,
        );
        let at = row as usize * self.width + column as usize;
        let above = self.texels.get(at..at + 2)?;
        let below = self.texels.get(at + self.width..at + self.width + 2)?;
        let sum = (above[0] * (16 - fx) + above[1] * fx) * (16 - fy)
            + (below[0] * (16 - fx) + below[1] * fx) * fy;
        Some(sum >> 8 & 0x00ff_00ff_00ff_00ff)
    }
}

const NEUTRAL: Expression = Expression {
    open: 0.0,
    wide: 0.0,
    lid: 0.0,
    gaze: 0.0,
};

/// Returns all prepared eyes, in the order of [`Head::express`].
fn eyes() -> impl Iterator<Item = Expression> {
    (0..LIDS * GAZES).map(|i| Expression {
        lid: (i % LIDS) as f32 / (LIDS - 1) as f32,
        gaze: (i / LIDS) as f32 / (GAZES - 1) as f32 * 2.0 - 1.0,
        ..NEUTRAL
    })
}

/// Returns all prepared mouths, in the order of [`Head::express`].
fn mouths() -> impl Iterator<Item = Expression> {
    (0..OPENINGS * WIDTHS).map(|i| Expression {
        open: (i % OPENINGS) as f32 / (OPENINGS - 1) as f32,
        wide: (i / OPENINGS) as f32 / (WIDTHS - 1) as f32 * 2.0 - 1.0,
        ..NEUTRAL
    })
}

/// Returns the non-empty range of a row, with one texel more on the left for the
/// interpolation; never the last column.
fn span(row: &[Texel]) -> (u32, u32) {
    let first = row
        .iter()
        .position(|texel| *texel != 0)
        .unwrap_or(row.len());
    let last = row.iter().rposition(|texel| *texel != 0).unwrap_or(0);
    let end = (last + 1).min(row.len() - 1);
    (first.saturating_sub(1) as u32, end as u32)
}

fn position(column: usize, row: usize, scale: f32) -> (f32, f32) {
    (
        LEFT + (column as f32 + 0.5) / scale,
        TOP + (row as f32 + 0.5) / scale,
    )
}

fn texel([y, u, v, alpha]: [u8; 4]) -> Texel {
    u64::from(y) | u64::from(u) << 16 | u64::from(v) << 32 | u64::from(alpha) << 48
}

fn lane(texel: Texel, lane: u32) -> u8 {
    (texel >> (16 * lane)) as u8
}
