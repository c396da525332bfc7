//! Room in the background: a window with a plant on the left, a shelf on the right.

use super::paint::{
    Rgb, bell, cover, ellipse, fractal, hash, mix, noise, ramp, rounded_box, shade,
};
use super::palette::Palette;

/// The lens is focused on the person, so edges in the background have at least this
/// width.
const BLUR: f32 = 2.0;

pub fn paint(x: f32, y: f32, pixel: f32, palette: &Palette, seed: u32) -> (Rgb, f32) {
    let soft = pixel.max(BLUR);
    let mut colour = wall(x, y, palette, seed);
    colour = window(colour, x, y, soft, seed);
    colour = curtain(colour, x, y, soft, seed);
    colour = shelf(colour, x, y, soft, seed);
    colour = plant(colour, x, y, soft, seed);
    // Light falls off with distance from the window, and corners are darker as with any
    // lens.
    let far = ((x - 640.0) / 640.0).hypot((y - 360.0) / 420.0);
    let grain = 2.9 * fractal(x, y, 8.0, 0.9, seed + 3);
    (
        colour.map(|c| c * (1.0 - 0.16 * ramp(0.7, 1.5, far)) + grain),
        1.0,
    )
}

fn wall(x: f32, y: f32, palette: &Palette, seed: u32) -> Rgb {
    let light = 0.98 - 0.30 * ramp(250.0, 1300.0, x) - 0.12 * ramp(300.0, 760.0, y);
    let lamp = 0.16 * bell((x - 770.0) / 180.0, 1.0) * bell((y - 120.0) / 220.0, 1.0);
    let plaster = 3.8 * fractal(x, y, 64.0, 0.8, seed + 1);
    shade(palette.wall, light + lamp).map(|c| c + plaster)
}

fn window(under: Rgb, x: f32, y: f32, soft: f32, seed: u32) -> Rgb {
    let (cx, cy) = (x - 170.0, y - 200.0);
    let frame = rounded_box(cx, cy, 160.0, 210.0, 4.0);
    if frame > soft {
        let shadow = 0.82 + 0.18 * ramp(0.0, 26.0, frame);
        return shade(under, if cx > 0.0 { shadow } else { 1.0 });
    }
    let sky = mix(
        [214.0, 230.0, 244.0],
        [246.0, 244.0, 236.0],
        ramp(0.0, 330.0, y),
    );
    // Trees, far out of focus.
    if y > 430.0 {
        return under;
    }
    let crown =
        250.0 + 40.0 * noise(x / 70.0, 0.0, seed + 61) + 18.0 * noise(x / 26.0, 1.0, seed + 61);
    let leaf = mix(
        [126.0, 158.0, 104.0],
        [186.0, 204.0, 142.0],
        0.5 + 0.5 * noise(x / 22.0, y / 22.0, seed + 62),
    );
    let glass = mix(sky, leaf, 0.85 * ramp(-18.0, 18.0, y - crown));
    let bars = cover((cx.abs() - 5.0).min((cy + 30.0).abs() - 4.0), soft);
    let edge = cover(-(frame + 14.0), soft);
    let wood = shade([238.0, 234.0, 226.0], 0.9 - 0.12 * ramp(-3.0, 4.0, cx));
    let pane = mix(glass, wood, bars.max(edge));
    mix(under, pane, cover(frame, soft))
}

fn curtain(under: Rgb, x: f32, y: f32, soft: f32, seed: u32) -> Rgb {
    let wave = 8.0 * (y / 150.0).sin();
    let shape = (x - 362.0 - wave).abs() - 46.0 - 10.0 * ramp(100.0, 620.0, y);
    if shape > soft {
        return under;
    }
    let folds = ((x - wave * 0.6) / 9.5 + 0.9 * noise(x / 30.0, y / 200.0, seed + 8)).sin();
    let weave = 1.8 * (x * 1.6).sin() * (y * 1.6).sin();
    let cloth = shade(
        [222.0, 212.0, 196.0],
        0.86 + 0.11 * folds - 0.1 * ramp(300.0, 410.0, x),
    );
    mix(under, cloth.map(|c| c + weave), 0.96 * cover(shape, soft))
}

/// Height of a compartment, thickness of a board.
const ROW: f32 = 152.0;
const BOARD: f32 = 13.0;

fn shelf(under: Rgb, x: f32, y: f32, soft: f32, seed: u32) -> Rgb {
    let outline = rounded_box(x - 1064.0, y - 420.0, 186.0, 374.0, 3.0);
    if outline > 30.0 {
        return under;
    }
    let under = shade(under, 0.80 + 0.20 * ramp(0.0, 30.0, outline));
    let wood = |x: f32, y: f32| {
        let rings =
            7.0 * noise(x / 60.0, y / 2.5, seed + 7) + 4.0 * noise(x / 20.0, y / 1.2, seed + 6);
        [150.0 + rings, 108.0 + rings, 72.0 + rings]
    };
    let row = ((y - 46.0) / ROW).floor();
    let down = y - 46.0 - row * ROW;
    let side = 186.0 - (x - 1064.0).abs();
    let inner = books(x - 892.0, down - BOARD, row as i32, soft, seed);
    let board = cover(down - BOARD, soft).max(cover(side - 11.0, soft));
    let colour = mix(inner, wood(x, y), board);
    mix(under, colour, cover(outline, soft))
}

/// `x` from the shelf's left side, `y` down from the board above.
fn books(x: f32, y: f32, row: i32, soft: f32, seed: u32) -> Rgb {
    let space = ROW - BOARD;
    let deep = shade([92.0, 70.0, 52.0], 0.75 + 0.25 * ramp(0.0, 60.0, y));
    // A bowl or a lamp's globe takes part of some rows.
    let gap = 236.0 + 40.0 * hash(row, 9, seed);
    if row % 2 == 1 && x > gap {
        let (bx, by) = (x - gap - 62.0, y - space + 32.0);
        let bowl = ellipse(bx, by, 44.0, 34.0);
        let glaze = shade(
            [206.0, 190.0, 166.0],
            0.95 - 0.35 * ramp(-44.0, 44.0, bx) - 0.1 * (by / 34.0),
        );
        return mix(deep, glaze, cover(bowl, soft));
    }
    // Books of random width: walk the row until the one at `x`.
    let (mut left, mut index) = (0.0, 0);
    let width = loop {
        let width = 24.0 + 9.0 * hash(index, row, seed + 11);
        if left + width > x || index > 24 {
            break width;
        }
        left += width;
        index += 1;
    };
    let pick = |what: u32| 0.5 + 0.5 * hash(index, row, seed + what);
    let top = space * (0.10 + 0.24 * pick(12));
    let spines: [Rgb; 8] = [
        [150.0, 62.0, 54.0],
        [52.0, 86.0, 110.0],
        [206.0, 186.0, 148.0],
        [74.0, 104.0, 84.0],
        [198.0, 142.0, 70.0],
        [88.0, 72.0, 104.0],
        [222.0, 214.0, 202.0],
        [60.0, 62.0, 70.0],
    ];
    let spine = spines[(pick(13) * 7.99) as usize];
    let (fx, from_top) = ((x - left) / width, y - top);
    let round = 1.0 - 0.34 * (2.0 * fx - 1.0).abs().powi(3) - 0.08 * fx;
    let mut colour = shade(spine, round).map(|c| c + 2.4 * fractal(x, y, 16.0, 0.8, seed + 14));
    let band =
        cover((from_top - 14.0).abs() - 2.5, soft).max(cover((y - space + 16.0).abs() - 2.5, soft));
    colour = mix(
        colour,
        [226.0, 196.0, 128.0],
        0.6 * band * (pick(15) > 0.4) as i32 as f32,
    );
    // Lettering too small to read: runs of light marks along the spine.
    let lettering = cover((fx - 0.5).abs() * width - 4.0, soft)
        * ramp(26.0, 30.0, from_top)
        * ramp(space - 30.0, space - 34.0, y)
        * (0.5 + 0.5 * noise(x / 2.2, y / 2.6, seed + 16));
    colour = mix(colour, [236.0, 228.0, 210.0], 0.55 * lettering);
    mix(
        deep,
        colour,
        cover(-from_top, soft) * cover((fx - 0.5).abs() * width - width / 2.0 + 1.0, soft),
    )
}

fn plant(under: Rgb, x: f32, y: f32, soft: f32, seed: u32) -> Rgb {
    let (px, py) = (x - 118.0, y - 560.0);
    if px.abs() > 240.0 || py < -200.0 {
        return under;
    }
    let mut colour = under;
    for leaf in 0..17 {
        let turn = hash(leaf, 1, seed + 51);
        let angle = -1.25 + 2.5 * (leaf as f32 / 16.0) + 0.12 * turn;
        let long = 132.0 + 46.0 * hash(leaf, 2, seed + 51);
        // Along the leaf and across it; it bends down towards its tip.
        let (sin, cos) = angle.sin_cos();
        let along = px * sin - py * cos;
        let t = along / long;
        let across = px * cos + py * sin - 34.0 * angle * t * t;
        let half = 15.0 * (std::f32::consts::PI * t.clamp(0.0, 1.0)).sin().powf(0.7);
        let inside =
            cover(across.abs() - half, soft) * cover(-along, soft) * cover(along - long, soft);
        if inside > 0.0 {
            let vein = 0.12 * bell(across, 1.6) + 0.05 * ((along * 0.5 + across.abs() * 0.6).sin());
            let light = 0.72 + 0.30 * t + 0.14 * turn - 0.16 * ramp(-3.0, 3.0, across) + vein;
            colour = mix(colour, shade([88.0, 132.0, 78.0], light), inside);
        }
    }
    let taper = 58.0 - 0.12 * (py - 20.0);
    let pot = (px.abs() - taper).max(-6.0 - py);
    let clay = shade(
        [204.0, 122.0, 84.0],
        1.0 - 0.4 * ramp(-50.0, 60.0, px) - 0.22 * cover((py - 24.0).abs() - 2.0, 6.0),
    )
    .map(|c| c + 3.0 * fractal(x, y, 16.0, 0.8, seed + 52));
    mix(colour, clay, cover(pot, soft))
}
