//! Arrangement of tiles on a screen, as in the page (`web/src/room/layout.ts`), without
//! gaps between the tiles.

/// A person's screen, in pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// Whether the active speaker has a large tile.
    pub arrangement: TileSizes,
}

/// Sizes of the tiles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TileSizes {
    /// All tiles have the same size; our own picture also takes a place.
    #[default]
    Grid,
    /// One large tile for the active speaker, and the others in a strip below it.
    Speaker,
}

/// Share of the height for the strip.
const STRIP: f64 = 0.2;

impl Screen {
    /// Returns the sizes of the first tile and of the others, for this many people
    /// besides the viewer.
    #[must_use]
    pub fn tiles(&self, others: usize) -> [(u32, u32); 2] {
        let (width, height) = (f64::from(self.width), f64::from(self.height));
        let sized = |width: f64| (width as u32, (width * 9.0 / 16.0) as u32);
        let (large, small) = match (self.arrangement, others) {
            (TileSizes::Grid, 1) | (TileSizes::Speaker, 0 | 1) => {
                let tile = tile_width(1, width, height);
                (tile, tile)
            }
            (TileSizes::Grid, _) => {
                let tile = tile_width(others + 1, width, height);
                (tile, tile)
            }
            (TileSizes::Speaker, _) => {
                let large = tile_width(1, width, height * (1.0 - STRIP));
                let below = tile_width(others - 1, width, height - large * 9.0 / 16.0);
                (large, below.min(whole(large / 2.0)))
            }
        };
        [sized(large), sized(small)]
    }
}

/// Returns the maximum width at which this many tiles fit.
fn tile_width(count: usize, width: f64, height: f64) -> f64 {
    let by = |columns: usize| {
        let rows = count.div_ceil(columns);
        let by_height = height / rows as f64 * 16.0 / 9.0;
        (width / columns as f64).min(by_height)
    };
    whole((1..=count).map(by).fold(0.0, f64::max))
}

/// Rounds down to a multiple of 16, for which the height is a whole number.
fn whole(width: f64) -> f64 {
    (width / 16.0).floor() * 16.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(arrangement: TileSizes, others: usize) -> [(u32, u32); 2] {
        let screen = Screen {
            width: 1_280,
            height: 720,
            arrangement,
        };
        screen.tiles(others)
    }

    #[test]
    fn a_grid_has_equal_tiles() {
        assert_eq!(tiles(TileSizes::Grid, 1), [(1_280, 720); 2]);
        assert_eq!(tiles(TileSizes::Grid, 3), [(640, 360); 2]);
        assert_eq!(tiles(TileSizes::Grid, 24), [(256, 144); 2]);
    }

    #[test]
    fn the_speaker_has_four_fifths_of_the_height() {
        assert_eq!(tiles(TileSizes::Speaker, 1), [(1_280, 720); 2]);
        // 23 tiles in a strip of 1280 x 144: two rows of twelve.
        assert_eq!(tiles(TileSizes::Speaker, 24), [(1_024, 576), (96, 54)]);
        assert_eq!(tiles(TileSizes::Speaker, 2), [(1_024, 576), (256, 144)]);
    }
}
