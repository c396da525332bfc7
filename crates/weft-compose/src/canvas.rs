//! Picture on which the tiles are drawn.

use crate::label::Label;
use crate::layout::{Rect, fitting};
use weft_media::{Picture, Scaler};

/// Picture of the film. Draws only the tiles that change.
pub(crate) struct Canvas {
    picture: Picture,
    tiles: Vec<Tile>,
}

/// State for drawing one track.
#[derive(Default)]
struct Tile {
    scaler: Option<Scaler>,
    /// Label for pictures of this size. The inner option is `None` if there is nothing to
    /// draw.
    label: Option<((usize, usize), Option<Label>)>,
}

impl Canvas {
    pub(crate) fn new((width, height): (usize, usize)) -> Canvas {
        Canvas {
            picture: Picture::new(width, height),
            tiles: Vec::new(),
        }
    }

    pub(crate) fn picture(&self) -> &Picture {
        &self.picture
    }

    /// Paints everything black.
    pub(crate) fn clear(&mut self) {
        self.picture = Picture::new(self.picture.width, self.picture.height);
    }

    /// Draws a picture into a tile, as large as its aspect ratio allows, with the
    /// participant's name in its lower left corner. `slot` is the number of its track.
    pub(crate) fn draw(&mut self, slot: usize, tile: Rect, picture: &Picture, name: &str) {
        let place = fitting(tile, (picture.width, picture.height));
        self.draw_picture(slot, place, picture);
        let size = (place.width, place.height);
        let label = &mut self.tiles[slot].label;
        if label.as_ref().is_none_or(|(of, _)| *of != size) {
            *label = Some((size, Label::new(name, size)));
        }
        if let Some((_, Some(label))) = label {
            label.draw(&mut self.picture, place.x, place.y + place.height);
        }
    }

    fn draw_picture(&mut self, slot: usize, place: Rect, picture: &Picture) {
        if self.tiles.len() <= slot {
            self.tiles.resize_with(slot + 1, Tile::default);
        }
        let from = (picture.width, picture.height);
        let to = (place.width, place.height);
        if from == to {
            return self.copy(place, picture);
        }
        if to.0 > from.0 || to.1 > from.1 {
            return self.copy(place, &picture.scaled(to.0, to.1));
        }
        let scaler = &mut self.tiles[slot].scaler;
        let mut fresh = match scaler.take() {
            Some(scaler) if scaler.is(from, to) => scaler,
            _ => Scaler::new(from, to),
        };
        let scaled = fresh.scale(picture);
        *scaler = Some(fresh);
        self.copy(place, &scaled);
    }

    fn copy(&mut self, place: Rect, picture: &Picture) {
        let (stride, half) = (self.picture.width, self.picture.chroma_width());
        let whole = (place.x, place.y, picture.width);
        copy_plane(&mut self.picture.y, stride, whole, &picture.y);
        let chroma = (place.x / 2, place.y / 2, picture.chroma_width());
        copy_plane(&mut self.picture.u, half, chroma, &picture.u);
        copy_plane(&mut self.picture.v, half, chroma, &picture.v);
    }
}

fn copy_plane(to: &mut [u8], stride: usize, (x, y, width): (usize, usize, usize), from: &[u8]) {
    let lines = to[y * stride..].chunks_exact_mut(stride);
    for (line, row) in lines.zip(from.chunks_exact(width)) {
        line[x..x + width].copy_from_slice(row);
    }
}
