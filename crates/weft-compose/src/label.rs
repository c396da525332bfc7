//! Names on the tiles.

use ab_glyph::{Font as _, FontRef, Glyph, OutlinedGlyph, PxScaleFont, ScaleFont as _, point};
use weft_media::Picture;

/// DejaVu Sans 2.37 with Latin, Greek and Cyrillic letters. Its licence is in the same
/// folder.
const FONT: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
/// Maximum number of characters of a name to draw; the same as in a room.
const MAX_CHARACTERS: usize = 64;
/// Number of text lines that fill the height of a tile, and the limits of a line in
/// pixels. Chosen by us: readable in a grid of 25 on 1280x720, and small beside a face.
const LINES: usize = 20;
const LINE: (usize, usize) = (12, 28);
/// Smallest picture with a name; on a smaller one, the name would cover the picture.
const MIN_PICTURE: (usize, usize) = (64, 48);
/// Opacity of the dark background of the text, of 255.
const GROUND: u32 = 150;
/// Luma of black and white, and chroma of both (BT.601, limited range).
const BLACK: u32 = 16;
const WHITE: u32 = 235;
const GRAY: u32 = 128;

/// Name, drawn for the lower left corner of a picture.
pub(crate) struct Label {
    width: usize,
    height: usize,
    /// Coverage of each pixel by the text, by rows, of 255.
    coverage: Vec<u8>,
}

impl Label {
    /// Draws the name for pictures of this size, and truncates it if it is too long. `None`
    /// if the picture is too small, or the font has no character of the name.
    pub(crate) fn new(name: &str, (width, height): (usize, usize)) -> Option<Label> {
        if width < MIN_PICTURE.0 || height < MIN_PICTURE.1 {
            return None;
        }
        let line = (height / LINES).clamp(LINE.0, LINE.1);
        let font = FontRef::try_from_slice(FONT).expect("the font is embedded");
        let font = font.into_scaled(line as f32);
        // Distance of the text from the edges.
        let margin = line / 3;
        let glyphs = fitting(&font, &drawable(&font, name), (width - 2 * margin) as f32)?;
        let right = glyphs.last().map_or(0.0, |last| end(&font, last));
        let even = |length: usize| length.div_ceil(2) * 2;
        let mut label = Label {
            width: even(right.ceil() as usize + 2 * margin).min(width),
            height: even(line + margin / 2).min(height),
            coverage: Vec::new(),
        };
        label.coverage = vec![0; label.width * label.height];
        let base = margin as f32 / 4.0 + font.ascent();
        for mut glyph in glyphs {
            glyph.position = point(glyph.position.x + margin as f32, base);
            if let Some(outline) = font.outline_glyph(glyph) {
                label.add(&outline);
            }
        }
        Some(label)
    }

    fn add(&mut self, outline: &OutlinedGlyph) {
        let bounds = outline.px_bounds();
        let (left, top) = (bounds.min.x as i64, bounds.min.y as i64);
        outline.draw(|x, y, coverage| {
            let inside =
                |at: i64, length: usize| usize::try_from(at).ok().filter(|at| *at < length);
            let x = inside(left + i64::from(x), self.width);
            let y = inside(top + i64::from(y), self.height);
            if let (Some(x), Some(y)) = (x, y) {
                let pixel = &mut self.coverage[y * self.width + x];
                *pixel = pixel.saturating_add((coverage * 255.0) as u8);
            }
        });
    }

    /// Draws the name onto a picture whose lower left corner is at these coordinates;
    /// both are even.
    pub(crate) fn draw(&self, picture: &mut Picture, left: usize, bottom: usize) {
        let top = bottom - self.height;
        let (stride, half) = (picture.width, picture.chroma_width());
        for (y, row) in self.coverage.chunks_exact(self.width).enumerate() {
            let from = (top + y) * stride + left;
            for (luma, text) in picture.y[from..].iter_mut().zip(row) {
                *luma = mixed(mixed(*luma, BLACK, GROUND), WHITE, u32::from(*text));
            }
        }
        for y in 0..self.height / 2 {
            let rows = &self.coverage[2 * y * self.width..][..2 * self.width];
            let from = (top / 2 + y) * half + left / 2;
            for x in 0..self.width / 2 {
                let four = [0, 1, self.width, self.width + 1].map(|at| u32::from(rows[2 * x + at]));
                let text = four.iter().sum::<u32>() / 4;
                for plane in [&mut picture.u, &mut picture.v] {
                    let chroma = &mut plane[from + x];
                    *chroma = mixed(mixed(*chroma, GRAY, GROUND), GRAY, text);
                }
            }
        }
    }
}

/// Returns the value of a pixel covered by another one with this opacity, of 255.
fn mixed(below: u8, above: u32, opacity: u32) -> u8 {
    ((u32::from(below) * (255 - opacity) + above * opacity + 127) / 255) as u8
}

/// Returns the characters of a name that the font contains, with single spaces.
fn drawable(font: &PxScaleFont<FontRef<'_>>, name: &str) -> String {
    let known = |character: &char| font.glyph_id(*character).0 != 0 || character.is_whitespace();
    let name: String = name.chars().take(MAX_CHARACTERS).filter(known).collect();
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the glyphs of a name, starting at position zero, truncated with an ellipsis if
/// they are wider than `room`; `None` if nothing fits.
fn fitting(font: &PxScaleFont<FontRef<'_>>, name: &str, room: f32) -> Option<Vec<Glyph>> {
    let wide = |text: &str| {
        let glyphs = placed(font, text);
        let fits = glyphs.last().is_some_and(|last| end(font, last) <= room);
        fits.then_some(glyphs)
    };
    wide(name).or_else(|| {
        let cuts = name
            .char_indices()
            .rev()
            .map(|(at, _)| name[..at].trim_end());
        let mut cuts = cuts.filter(|cut| !cut.is_empty());
        cuts.find_map(|cut| wide(&format!("{cut}…")))
    })
}

fn placed(font: &PxScaleFont<FontRef<'_>>, text: &str) -> Vec<Glyph> {
    let mut glyphs: Vec<Glyph> = Vec::new();
    for character in text.chars() {
        let mut glyph = font.scaled_glyph(character);
        if let Some(last) = glyphs.last() {
            glyph.position.x = end(font, last) + font.kern(last.id, glyph.id);
        }
        glyphs.push(glyph);
    }
    glyphs
}

fn end(font: &PxScaleFont<FontRef<'_>>, glyph: &Glyph) -> f32 {
    glyph.position.x + font.h_advance(glyph.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILE: (usize, usize) = (640, 360);

    fn width(name: &str, size: (usize, usize)) -> Option<usize> {
        Label::new(name, size).map(|label| label.width)
    }

    #[test]
    fn a_long_name_is_cut_within_the_picture() {
        let long = "A name that is much too long for the tile".repeat(40);
        for size in [TILE, (256, 144), (202, 360), (64, 48)] {
            let width = width(&long, size).expect("some of it fits");
            assert!(width <= size.0, "{width} in {size:?}");
            assert!(
                width > size.0 / 2,
                "{width} in {size:?}: it is cut too early"
            );
        }
        assert!(width("Ada", TILE) < width("Ada Lovelace", TILE));
    }

    #[test]
    fn characters_that_the_font_lacks_are_left_out() {
        assert_eq!(width("Ada 🎉\n\u{202e}", TILE), width("Ada", TILE));
        for name in ["", "  ", "李雷", "\u{7}\u{1b}"] {
            assert_eq!(width(name, TILE), None, "{name:?}");
        }
        for name in ["Zoë Müller", "Łukasz", "Νίκος", "Дарья", "Nguyễn"] {
            let font = FontRef::try_from_slice(FONT).expect("the font is embedded");
            assert_eq!(drawable(&font.into_scaled(12.0), name), name);
        }
    }

    #[test]
    fn a_tiny_picture_has_no_name() {
        assert_eq!(width("Ada", (62, 36)), None);
        assert!(width("Ada", (256, 144)).is_some());
    }

    #[test]
    fn white_text_has_a_dark_background_in_the_corner() {
        let mut picture = Picture::new(TILE.0, TILE.1);
        picture.y.fill(120);
        picture.u.fill(90);
        let label = Label::new("Ada", TILE).expect("it fits");
        label.draw(&mut picture, 0, TILE.1);
        let luma = |x: usize, y: usize| picture.y[y * TILE.0 + x];
        let corner = (TILE.1 - label.height..TILE.1)
            .flat_map(|y| (0..label.width).map(move |x| (x, y)))
            .map(|(x, y)| luma(x, y));
        let corner: Vec<u8> = corner.collect();
        assert_eq!(corner.iter().min(), Some(&mixed(120, BLACK, GROUND)));
        assert!(corner.iter().max() > Some(&220));
        assert_eq!(luma(label.width, TILE.1 - 1), 120);
        assert_eq!(luma(0, TILE.1 - label.height - 1), 120);
        let changed = picture.u.iter().filter(|u| **u != 90).count();
        assert_eq!(changed, label.width * label.height / 4);
    }
}
