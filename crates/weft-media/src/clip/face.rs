//! Appearance of the head. Coordinates are in scene units, right and down, with the
//! origin between the eyes.

use super::motion::Expression;
use super::paint::{Rgb, bell, cover, ellipse, fractal, lift, mix, noise, ramp, shade};
use super::palette::{Hair, Palette};

pub struct Face {
    palette: Palette,
    seed: u32,
}

/// Values at one point that are independent of the expression.
pub struct Base {
    skin: Rgb,
    /// Opacity of the face and of the ears.
    skin_cover: f32,
    hair: Rgb,
    /// Opacity of the hair in front of the face and of the hair behind it.
    front: f32,
    behind: f32,
}

impl Face {
    pub fn new(palette: Palette, seed: u32) -> Face {
        Face { palette, seed }
    }

    pub fn base(&self, x: f32, y: f32, pixel: f32) -> Base {
        let (front, behind) = self.hair_cover(x, y, pixel);
        let face = cover(outline(x, y), pixel);
        let ear = match self.palette.style {
            Hair::Short => cover(ear(x, y), pixel),
            Hair::Bob => 0.0,
        };
        let skin_cover = face.max(ear);
        let needs_skin = skin_cover > 0.0 && front < 1.0;
        Base {
            skin: if needs_skin {
                self.skin(x, y, face)
            } else {
                self.palette.skin
            },
            skin_cover,
            hair: if front.max(behind) > 0.0 {
                self.hair(x, y)
            } else {
                self.palette.hair
            },
            front,
            behind,
        }
    }

    /// Returns colour and opacity at a point.
    pub fn paint(&self, x: f32, y: f32, pixel: f32, base: &Base, e: &Expression) -> (Rgb, f32) {
        let mut colour = base.skin;
        if base.skin_cover > 0.0 {
            colour = self.eye(colour, x, y, pixel, e);
            colour = self.brow(colour, x, y, pixel);
            colour = self.mouth(colour, x, y, pixel, e);
        }
        // From the back to the front: hair behind, skin, hair in front.
        let skin = mix(base.hair, colour, base.skin_cover);
        let alpha = base.behind.max(base.skin_cover).max(base.front);
        let colour = if base.behind > 0.0 { skin } else { colour };
        (mix(colour, base.hair, base.front), alpha)
    }

    fn skin(&self, x: f32, y: f32, face: f32) -> Rgb {
        let seed = self.seed;
        let d = 1.5;
        let (gx, gy) = (
            (relief(x + d, y) - relief(x - d, y)) / (2.0 * d),
            (relief(x, y + d) - relief(x, y - d)) / (2.0 * d),
        );
        let length = (gx * gx + gy * gy + 1.0).sqrt();
        let normal = [-gx / length, -gy / length, 1.0 / length];
        let dot = |light: [f32; 3]| -> f32 { (0..3).map(|i| normal[i] * light[i]).sum() };
        // A soft window light from the upper left, and a weak lamp on the right.
        let key = (0.5 + 0.5 * dot([-0.52, -0.42, 0.74])).max(0.0).powf(1.5);
        let fill = dot([0.85, 0.1, 0.5]).max(0.0);
        let gloss = dot([-0.28, -0.24, 0.93]).max(0.0).powf(26.0);
        let mut colour = self.palette.skin;
        let cheek = bell((x.abs() - 60.0) / 30.0, 1.0) * bell((y - 46.0) / 24.0, 1.0);
        let nose = bell(x / 16.0, 1.0) * bell((y - 50.0) / 16.0, 1.0);
        let warm = [colour[0] * 0.98, colour[1] * 0.76, colour[2] * 0.74];
        colour = mix(colour, warm, 0.5 * cheek + 0.3 * nose);
        // The skin is darker and redder under the eyes and in the folds.
        let socket = bell((x.abs() - 46.0) / 30.0, 1.0) * bell((y + 12.0) / 15.0, 1.0);
        colour = mix(colour, shade(warm, 0.86), 0.4 * socket);
        let light = 0.46 + 0.62 * key + 0.10 * fill;
        // Shadows on skin are warmer than the skin itself.
        let shadow = (1.0 - light).max(0.0);
        colour = [
            colour[0] * light * (1.0 + 0.06 * shadow),
            colour[1] * light * (1.0 - 0.05 * shadow),
            colour[2] * light * (1.0 - 0.07 * shadow),
        ];
        let grain = 2.0 * fractal(x, y, 24.0, 0.8, seed + 37) + 1.4 * noise(x / 1.7, y / 1.7, seed);
        colour = lift(colour, 26.0 * gloss + grain);
        colour = shade(colour, 1.0 - 0.22 * ramp(16.0, -6.0, y - hairline(x)));
        if face < 0.5 {
            // The ear's inside.
            let inside = ellipse(x.abs() - 117.0, y - 12.0, 8.0, 20.0);
            colour = mix(shade(warm, 0.8 * light), colour, ramp(-4.0, 5.0, inside));
        }
        let nostril = cover(
            ellipse(x.abs() - 10.5, y - 61.0 - 0.1 * x.abs(), 6.0, 3.0),
            3.0,
        );
        mix(colour, shade(warm, 0.28), 0.85 * nostril)
    }

    fn eye(&self, under: Rgb, x: f32, y: f32, pixel: f32, e: &Expression) -> Rgb {
        let side = x.signum();
        let (ex, ey) = (x.abs() - 46.0, y + 12.0 + 0.05 * (x.abs() - 46.0));
        let t = 1.0 - (ex / 28.0).powi(2);
        if t < -0.5 || ey.abs() > 34.0 {
            return under;
        }
        let arc = t.max(0.0).powf(0.8);
        let (lower, open) = (9.5 * arc, -16.0 * arc);
        let upper = open + (lower - open) * e.lid;
        let ends = cover(ex.abs() - 28.0, pixel);
        let mut colour = under;
        // The fold above the lid, then the lid when it closes.
        let fold = bell(ey - open + 6.0, 2.2) * ramp(-0.1, 0.3, t);
        colour = mix(colour, shade(under, 0.72), 0.55 * fold);
        if e.lid > 0.0 && ey > open && ey < lower {
            colour = shade(under, 0.93 - 0.05 * (ey / 8.0).abs());
        }
        let inside = cover(upper - ey, pixel).min(cover(ey - lower, pixel)) * ends;
        if inside > 0.0 {
            colour = mix(
                colour,
                self.eyeball(side * ex - 4.0 * e.gaze, ey, ex, upper, pixel),
                inside,
            );
        }
        // Lashes: thick outside, thin inside, a short wing.
        let thick = 1.5 + 1.3 * ramp(-24.0, 24.0, ex);
        let lash = cover((ey - upper).abs() - thick, pixel) * cover(ex.abs() - 29.5, pixel);
        let below = 0.35 * cover((ey - lower).abs() - 0.7, pixel) * ends;
        let ink = shade(self.palette.hair, 0.45);
        mix(mix(colour, ink, 0.92 * lash), ink, below)
    }

    fn eyeball(&self, ix: f32, iy: f32, ex: f32, upper: f32, pixel: f32) -> Rgb {
        let r = ix.hypot(iy + 1.5);
        let mut ball = shade([236.0, 232.0, 228.0], 1.0 - 0.2 * (ex / 27.0).powi(2));
        let fibre = 0.14 * noise(4.0 * iy.atan2(ix), r / 3.0, self.seed + 3);
        let iris = shade(self.palette.eyes, 0.85 + 0.5 * bell(r - 6.0, 3.0) + fibre);
        ball = mix(ball, iris, cover(r - 12.5, pixel.max(1.2)));
        ball = mix(
            ball,
            shade(self.palette.eyes, 0.35),
            0.7 * bell(r - 12.0, 1.3),
        );
        ball = mix(ball, [12.0, 10.0, 10.0], cover(r - 5.4, pixel.max(1.0)));
        // The lid's shadow, then the window's reflection.
        ball = shade(ball, 1.0 - 0.38 * ramp(7.0, 0.0, iy - upper));
        let glint = cover((ix + 4.0).hypot(iy + 5.5) - 2.9, pixel.max(1.0));
        mix(ball, [252.0, 252.0, 250.0], 0.95 * glint)
    }

    fn brow(&self, under: Rgb, x: f32, y: f32, pixel: f32) -> Rgb {
        let along = (x.abs() - 18.0) / 66.0;
        if !(-0.1..1.1).contains(&along) {
            return under;
        }
        let middle = -42.0 - 11.0 * (along * 2.5 + 0.25).sin();
        let thick = 5.6 * (1.0 - 0.75 * along.max(0.0).powf(1.6)) * ramp(-0.08, 0.12, along);
        let hairs = 0.75 + 0.25 * noise((x.abs() + 0.9 * y) / 1.7, y / 7.0, self.seed + 43);
        let shape = cover((y - middle).abs() - thick, pixel.max(2.4));
        mix(
            under,
            shade(self.palette.hair, 0.8),
            0.82 * shape * hairs * ramp(1.08, 0.95, along),
        )
    }

    fn mouth(&self, under: Rgb, x: f32, y: f32, pixel: f32, e: &Expression) -> Rgb {
        let half = 41.0 + 5.0 * e.wide - 6.0 * e.open;
        let t = x / half;
        let arc = 1.0 - t * t;
        // The corners rise for a smile, less so during speech.
        let line = 98.0 - (7.0 - 2.0 * e.open) * t * t;
        if arc <= -0.2 || !(-30.0..48.0).contains(&(y - line)) {
            return under;
        }
        let arc = arc.max(0.0);
        let (up, down) = (7.0 * e.open * arc, 21.0 * e.open * arc.powf(0.8));
        let bow = 1.0 - 0.22 * bell(x, 5.0);
        let round = 1.0 - 0.12 * e.wide;
        let top = line - up - 8.5 * round * bow * arc.powf(0.75);
        let bottom = line + down + 11.5 * round * arc.powf(0.7);
        let soft = pixel.max(1.6);
        let lips = cover(top - y, soft).min(cover(y - bottom, soft));
        let edge = cover(x.abs() - half, pixel);
        let crease = 0.9 + 0.1 * noise(x / 2.0, y / 14.0, self.seed + 71);
        let is_lower = ramp(line - 2.0, line + 2.0, y);
        let shine = bell((x + 7.0) / 13.0, 1.0) * bell((y - line - down - 5.0) / 3.0, 1.0);
        let lip = lift(
            shade(self.palette.lips, crease * (0.8 + 0.24 * is_lower)),
            34.0 * shine * is_lower,
        );
        let mut colour = mix(under, lip, 0.9 * lips * edge);
        let hole = cover(line - up - y, pixel).min(cover(y - line - down, pixel)) * edge;
        if hole > 0.0 && e.open > 0.02 {
            colour = mix(
                colour,
                inside_mouth(x, y - line + up, up + down, pixel),
                hole,
            );
        }
        // The line between closed lips, and the corners' dimples.
        let closed = (1.0 - 4.0 * e.open).max(0.0);
        let seam = closed * cover((y - line).abs() - 1.0, soft) * edge;
        let corner = bell((x.abs() - half) / 4.0, 1.0) * bell((y - line) / 3.5, 1.0);
        let dark = shade(self.palette.lips, 0.42);
        mix(mix(colour, dark, 0.75 * seam), dark, 0.5 * corner)
    }

    fn hair_cover(&self, x: f32, y: f32, pixel: f32) -> (f32, f32) {
        let seed = self.seed + 23;
        let ragged = 1.3 * noise(x / 9.0, y / 9.0, seed) + 0.5 * noise(x / 3.0, y / 3.0, seed + 1);
        let front_edge = hairline(x) - y;
        let crown = ellipse(x, y + 36.0, 130.0, 154.0) + ragged;
        match self.palette.style {
            Hair::Short => {
                let low = y - 4.0 + 0.3 * ragged;
                let cap = crown.max(low);
                let sides = cap.max(3.0 - outline(x, y) - ramp(-60.0, 0.0, y) * 6.0);
                let front = cap.max(-front_edge * 0.7 + ragged * 0.6);
                (cover(front.min(sides), pixel.max(1.5)), 0.0)
            }
            Hair::Bob => {
                // Falls to the shoulders, turned inwards at the ends.
                let half = 133.0 + 12.0 * ramp(-20.0, 80.0, y) - 26.0 * ramp(90.0, 172.0, y);
                let fall = (x.abs() - half)
                    .max(y - 172.0 + 0.002 * x * x)
                    .max(-36.0 - y);
                let whole = crown.min(fall + ragged);
                let curtain = whole.max(103.0 - 13.0 * ramp(-50.0, 110.0, y) - x.abs() + ragged);
                let front = crown.max(-front_edge * 0.7 + ragged * 0.6);
                let front = front.min(curtain.max(-84.0 - y));
                (cover(front, pixel.max(1.5)), cover(whole, pixel.max(1.5)))
            }
        }
    }

    fn hair(&self, x: f32, y: f32) -> Rgb {
        let seed = self.seed + 29;
        // Strands run from the parting around the head, then down.
        let (px, py) = (x + 20.0 * ramp(20.0, -140.0, y), (y + 36.0).min(0.0) * 0.86);
        let ring = px.hypot(py);
        let angle = px.atan2(-py + 1.0);
        let drop = (y + 36.0).max(0.0);
        let along = angle * 2.2 + drop / 90.0;
        let strand = 0.55 * noise(ring / 2.1, along * 1.3, seed)
            + 0.45 * noise(ring / 5.5, along * 0.9, seed + 1)
            + 0.35 * noise(ring / 1.2, along * 2.0, seed + 2);
        let gloss = bell((angle + 0.75) / 0.32, 1.0) * ramp(120.0, 0.0, drop)
            + 0.45 * bell((angle - 0.9) / 0.25, 1.0) * ramp(60.0, 0.0, drop);
        let depth = 1.0 - 0.3 * ramp(20.0, 150.0, drop) - 0.25 * ramp(0.0, 130.0, x);
        let inner = 1.0 - 0.45 * ramp(104.0, 84.0, ring) * ramp(-10.0, 60.0, drop);
        let base = mix(
            self.palette.hair,
            self.palette.gloss,
            (0.16 + 0.62 * gloss + 0.3 * strand * (0.4 + gloss)).clamp(0.0, 1.0),
        );
        shade(base, (depth * inner * (1.0 + 0.3 * strand)).max(0.2))
    }
}

/// Returns the approximate signed distance to the face's outline.
fn outline(x: f32, y: f32) -> f32 {
    (squash(x, y) - 1.0) * 112.0
}

/// Returns 0 in the middle of the face, 1 at its outline.
fn squash(x: f32, y: f32) -> f32 {
    let half = 112.0 - 24.0 * ramp(16.0, 165.0, y);
    let (height, power) = if y < 0.0 { (152.0, 2.2) } else { (170.0, 2.35) };
    ((x.abs() / half).powf(power) + (y.abs() / height).powf(power)).powf(1.0 / power)
}

fn ear(x: f32, y: f32) -> f32 {
    ellipse(x.abs() - 113.0 - 0.08 * (10.0 - y), y - 10.0, 15.0, 33.0)
}

/// Lower edge of the hair over the forehead: parted left of the middle.
fn hairline(x: f32) -> f32 {
    let from_parting = x + 34.0;
    if from_parting > 0.0 {
        -122.0 + 84.0 * (from_parting / 144.0).powf(1.7)
    } else {
        -122.0 + 92.0 * (-from_parting / 78.0).powf(1.8)
    }
}

/// Returns the depth of the face at each point.
fn relief(x: f32, y: f32) -> f32 {
    let e = squash(x, y);
    let a = x.abs();
    let bump = |dx: f32, rx: f32, dy: f32, ry: f32| bell(dx / rx, 1.0) * bell(dy / ry, 1.0);
    let bridge = 13.0 * bell(x, 11.0) * ramp(-34.0, 40.0, y) * ramp(66.0, 52.0, y);
    let fold = 26.0 + 0.6 * (y - 54.0);
    100.0 * (1.0 - e * e).max(0.0).sqrt()
        + bridge
        + 15.0 * bump(x, 15.0, y - 48.0, 14.0)
        + 7.0 * bump(a - 17.0, 8.0, y - 54.0, 9.0)
        - 8.0 * bump(a - 46.0, 31.0, y + 12.0, 19.0)
        + 4.0 * bump(a - 44.0, 36.0, y + 42.0, 11.0)
        + 8.0 * bump(a - 58.0, 28.0, y - 44.0, 25.0)
        + 6.0 * bump(x, 46.0, y - 97.0, 26.0)
        - 2.0 * bump(x, 5.0, y - 77.0, 9.0)
        - 5.0 * bump(x, 27.0, y - 122.0, 7.0)
        + 8.0 * bump(x, 27.0, y - 146.0, 17.0)
        - 2.2 * bell(a - fold, 5.0) * ramp(50.0, 62.0, y) * ramp(108.0, 92.0, y)
}

/// `y` counts down from the upper lip; `height` is the whole opening.
fn inside_mouth(x: f32, y: f32, height: f32, pixel: f32) -> Rgb {
    let mut colour = [64.0, 22.0, 24.0];
    let tongue = ellipse(x, y - height - 2.0, 24.0, 11.0);
    colour = mix(colour, [176.0, 84.0, 86.0], 0.85 * cover(tongue, 4.0));
    let teeth = (0.5 * height).min(8.5);
    let gap = 0.14 * bell((x / 8.5 - (x / 8.5).round()) * 8.5, 0.9);
    let tooth = shade(
        [240.0, 234.0, 224.0],
        (1.0 - gap) * (1.0 - 0.3 * (x / 38.0).powi(2)),
    );
    let edge = teeth - 0.6 * bell((x / 8.5 - (x / 8.5).round()) * 8.5, 1.5);
    let colour = mix(colour, tooth, cover(y - edge, pixel.max(1.2)));
    shade(colour, 1.0 - 0.35 * ramp(4.0, 0.0, y))
}
