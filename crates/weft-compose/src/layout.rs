//! Places of the tiles on the picture.

/// Arrangement of the pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// All pictures have the same size. A shared screen is large, with the cameras below
    /// it.
    Grid,
    /// The active speaker is large, with the others below. A shared screen takes
    /// precedence.
    Speaker,
}

/// Maximum number of tiles of a picture; more would be too small to see.
pub(crate) const MAX_TILES: usize = 25;
/// Share of the height that a row of small tiles takes: one part in this many.
const ROW: usize = 5;

/// Rectangle on the picture in pixels; all sides are even, as the chroma planes require.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// Returns the places of `count` tiles in order; the tile `large` gets most of the
/// picture.
pub(crate) fn places(
    (width, height): (usize, usize),
    count: usize,
    large: Option<usize>,
) -> Vec<Rect> {
    let whole = Rect {
        x: 0,
        y: 0,
        width,
        height,
    };
    let Some(large) = large.filter(|_| count > 1) else {
        return grid(whole, count);
    };
    let row = even(height / ROW);
    let below = Rect {
        y: height - row,
        height: row,
        ..whole
    };
    let mut places = line(below, count - 1);
    let above = Rect {
        height: height - row,
        ..whole
    };
    places.insert(large, above);
    places
}

/// Tiles of the same size, in the number of columns that makes them largest.
fn grid(area: Rect, count: usize) -> Vec<Rect> {
    let sized = |columns: usize| {
        let rows = count.div_ceil(columns);
        let width = (area.width / columns).min(area.height / rows * 16 / 9);
        (even(width), columns, rows)
    };
    let Some((width, columns, rows)) = (1..=count).map(sized).max_by_key(|(w, c, _)| (*w, *c))
    else {
        return Vec::new();
    };
    let height = even((width * 9 / 16).min(area.height / rows));
    let top = area.y + even((area.height - height * rows) / 2);
    let row_of = |row: usize| {
        let line_area = Rect {
            y: top + row * height,
            height,
            ..area
        };
        line_of(line_area, width, columns.min(count - row * columns))
    };
    (0..rows).flat_map(row_of).collect()
}

/// One row of tiles.
fn line(area: Rect, count: usize) -> Vec<Rect> {
    let width = even((area.width / count.max(1)).min(area.height * 16 / 9));
    let height = even((width * 9 / 16).min(area.height));
    let area = Rect {
        y: area.y + even((area.height - height) / 2),
        height,
        ..area
    };
    line_of(area, width, count)
}

fn line_of(area: Rect, width: usize, count: usize) -> Vec<Rect> {
    let left = area.x + even((area.width - width * count) / 2);
    let place = |column: usize| Rect {
        x: left + column * width,
        width,
        ..area
    };
    (0..count).map(place).collect()
}

/// Returns the largest part of a tile that has the aspect ratio of a picture.
pub(crate) fn fitting(tile: Rect, (width, height): (usize, usize)) -> Rect {
    let (wide, high) = (tile.width * height, tile.height * width);
    let (w, h) = match wide > high {
        true => (even(high / height), tile.height),
        false => (tile.width, even(wide / width)),
    };
    let (w, h) = (w.max(2), h.max(2));
    Rect {
        x: tile.x + even((tile.width - w) / 2),
        y: tile.y + even((tile.height - h) / 2),
        width: w,
        height: h,
    }
}

fn even(length: usize) -> usize {
    length / 2 * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    const HD: (usize, usize) = (1280, 720);

    fn overlap(a: &Rect, b: &Rect) -> bool {
        a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
    }

    #[test]
    fn four_fill_the_picture_in_two_rows() {
        let tile = |x, y| Rect {
            x,
            y,
            width: 640,
            height: 360,
        };
        let places = places(HD, 4, None);
        assert_eq!(
            places,
            [tile(0, 0), tile(640, 0), tile(0, 360), tile(640, 360)]
        );
    }

    #[test]
    fn no_tiles_overlap_or_leave_the_picture() {
        for size in [HD, (640, 480), (720, 1280), (1920, 1080), (320, 180)] {
            for count in 0..=MAX_TILES {
                for large in [None, Some(0), Some(count.saturating_sub(1))] {
                    let places = places(size, count, large.filter(|_| count > 0));
                    assert_eq!(places.len(), count, "{size:?} {large:?}");
                    for (n, place) in places.iter().enumerate() {
                        assert!(place.width >= 2 && place.height >= 2, "{place:?}");
                        assert!(place.x + place.width <= size.0, "{size:?}: {place:?}");
                        assert!(place.y + place.height <= size.1, "{size:?}: {place:?}");
                        let sides = [place.x, place.y, place.width, place.height];
                        assert!(sides.iter().all(|side| side % 2 == 0), "{place:?}");
                        let others = places[..n].iter();
                        assert!(others.filter(|other| overlap(place, other)).count() == 0);
                    }
                }
            }
        }
    }

    #[test]
    fn the_large_tile_has_four_fifths_and_keeps_its_position() {
        let places = places(HD, 3, Some(1));
        assert_eq!((places[1].width, places[1].height), (1280, 576));
        assert!(places[0].y >= 576 && places[2].x > places[0].x);
    }

    #[test]
    fn pictures_keep_their_proportions() {
        let tile = Rect {
            x: 640,
            y: 0,
            width: 640,
            height: 360,
        };
        assert_eq!(fitting(tile, (1920, 1080)), tile);
        let upright = fitting(tile, (720, 1280));
        assert_eq!((upright.width, upright.height), (202, 360));
        assert_eq!(upright.x, 640 + 218);
        let odd = fitting(tile, (1, 4000));
        assert_eq!((odd.width, odd.height), (2, 360));
    }
}
