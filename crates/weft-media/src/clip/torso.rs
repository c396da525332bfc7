//! Neck, shoulders and sweater. The origin of the coordinates is at the throat.

use super::paint::{Rgb, bell, cover, ellipse, fractal, mix, noise, ramp, shade};
use super::palette::Palette;

/// Position of the throat in the scene at rest.
pub const CENTER: (f32, f32) = (640.0, 504.0);
/// The layer's top left corner.
pub const ORIGIN: (f32, f32) = (-400.0, -110.0);
const WIDTH: f32 = 800.0;
const HEIGHT: f32 = 360.0;

pub fn size(scale: f32) -> (usize, usize) {
    ((WIDTH * scale) as usize, (HEIGHT * scale) as usize)
}

pub fn paint(x: f32, y: f32, pixel: f32, palette: &Palette, seed: u32) -> (Rgb, f32) {
    let a = x.abs();
    let neck_half = 55.0 + 26.0 * ramp(-10.0, 60.0, y);
    let neck = cover((a - neck_half).max(y - 70.0), pixel);
    let slope = 2.0 + 80.0 * (a / 290.0).powf(2.1) + 74.0 * ((a - 262.0) / 48.0).max(0.0).powi(2);
    let body = cover((slope - y) * 0.8, pixel);
    // The neckline of the sweater and its ribbed band.
    let collar = ellipse(x, y - 10.0, 88.0, 46.0 + 4.0 * (y > 10.0) as i32 as f32);
    let skin = skin(x, y, palette, seed);
    let covered = cover(-collar, pixel) * body;
    let sweater = sweater(x, y, collar, palette, seed);
    let alpha = neck.max(body);
    (mix(skin, sweater, covered), alpha)
}

fn skin(x: f32, y: f32, palette: &Palette, seed: u32) -> Rgb {
    // Round from left to right, in the head's shadow above.
    let round = 0.92 - 0.22 * (x / 80.0) - 0.2 * (x / 80.0).powi(2);
    let shadow = 1.0 - 0.42 * ramp(24.0, -34.0, y + 0.12 * x);
    let muscle = 0.06 * bell(x.abs() - 22.0 - 0.3 * (40.0 - y), 7.0) * ramp(-30.0, 20.0, y);
    let bone = 0.08 * bell(y - 44.0 - 0.06 * x.abs(), 4.0) * ramp(8.0, 20.0, x.abs());
    let light = (round * shadow - muscle + bone).max(0.2);
    let grain = 1.5 * fractal(x, y, 24.0, 0.8, seed + 17);
    [
        palette.skin[0] * light + grain,
        palette.skin[1] * light * (0.96 + 0.04 * shadow) + grain,
        palette.skin[2] * light * (0.94 + 0.06 * shadow) + grain,
    ]
}

fn sweater(x: f32, y: f32, collar: f32, palette: &Palette, seed: u32) -> Rgb {
    let a = x.abs();
    // Light from the left; arms set off from the body by a fold.
    let mut light = 0.94 - 0.2 * ramp(-260.0, 330.0, x) - 0.16 * ramp(250.0, 330.0, a);
    light += 0.10 * bell((y - 40.0 - 0.2 * a) / 40.0, 1.0);
    let arm = a - 214.0 - 0.1 * (y - 120.0) - 5.0 * noise(y / 40.0, x.signum(), seed + 5);
    light -= 0.26 * bell(arm / 7.0, 1.0) * ramp(70.0, 130.0, y);
    light += 0.06 * bell((arm - 16.0) / 12.0, 1.0) * ramp(70.0, 130.0, y);
    light += 0.11 * noise(x / 80.0 + y / 160.0, y / 130.0, seed + 18);
    light -= 0.08 * bell((x + 30.0 - 0.3 * y) / 9.0, 1.0) * ramp(90.0, 200.0, y);
    light *= 1.0 - 0.3 * ramp(40.0, -10.0, y) * ramp(150.0, 40.0, a);
    let knit = if collar < 17.0 {
        // Ribs across the band, a seam at its lower edge.
        let angle = x.atan2(y - 10.0);
        0.09 * (angle * 64.0).sin() - 0.25 * bell(collar - 17.0, 1.6) - 0.2 * bell(collar, 2.0)
    } else {
        let (row, column) = (y / 4.4, x / 5.2);
        let stitch =
            ((column + 0.25 * (row * std::f32::consts::TAU).sin()) * std::f32::consts::TAU).sin();
        let v = (row * std::f32::consts::TAU).cos();
        0.05 * stitch * v + 0.045 * v
    };
    let wool = fractal(x, y, 16.0, 0.85, seed + 19);
    let colour = shade(palette.sweater, (light + knit).max(0.12));
    colour.map(|c| c + 4.6 * wool)
}
