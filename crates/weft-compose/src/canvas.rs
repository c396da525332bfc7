//! The picture that tiles are drawn on.

use crate::layout::{Rect, fitting};
use weft_media::{Picture, Scaler};

/// Picture of the film. Only tiles that change are drawn again.
pub(crate) struct Canvas {
    picture: Picture,
    scalers: Vec<Option<Scaler>>,
}

impl Canvas {
    pub(crate) fn new((width, height): (usize, usize)) -> Canvas {
        Canvas {
            picture: Picture::new(width, height),
            scalers: Vec::new(),
        }
    }

    pub(crate) fn picture(&self) -> &Picture {
        &self.picture
    }

    /// Paints everything black.
    pub(crate) fn clear(&mut self) {
        self.picture = Picture::new(self.picture.width, self.picture.height);
    }

    /// Draws a picture into a tile, as large as fits with its proportions. `slot` is the
    /// number of its track.
    pub(crate) fn draw(&mut self, slot: usize, tile: Rect, picture: &Picture) {
        let from = (picture.width, picture.height);
        let place = fitting(tile, from);
        let to = (place.width, place.height);
        if from == to {
            return self.copy(place, picture);
        }
        if to.0 > from.0 || to.1 > from.1 {
            return self.copy(place, &picture.scaled(to.0, to.1));
        }
        self.scalers.resize(self.scalers.len().max(slot + 1), None);
        let scaler = &mut self.scalers[slot];
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
