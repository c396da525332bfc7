//! Tiles on the screens of people in a conference, one row per tile.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use weft_units::Instant;

use crate::measure::run::Run;
use crate::measure::view::{people, view_of_tile};
use crate::statistics::mean;

/// A tile on one person's screen in the measured time, from the same
/// [view](crate::measure::view::View) as the metrics of the group.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Tile {
    /// Name of the flow.
    pub group: String,
    /// Person who watches.
    pub viewer: String,
    /// Person whom the tile shows.
    pub shows: String,
    /// Values in the order of the table's columns.
    pub values: [Option<f64>; HEADS.len()],
}

/// Values of a tile, named like the metrics.
pub const HEADS: [&str; 8] = [
    "fps",
    "freeze_s",
    "freeze_count",
    "paused_s",
    "height_px",
    "psnr_db",
    "e2e_ms_mean",
    "first_picture_ms",
];

impl Tile {
    /// Returns all tiles of the run.
    pub(super) fn of(run: &Run<'_>) -> Vec<Tile> {
        let mut tiles = Vec::new();
        for (flow, setup) in run.setup.flows.iter().enumerate() {
            let (from, end) = run.active(flow);
            let window = (Instant::ZERO + from, Instant::ZERO + end);
            for person in people(run, flow) {
                let seen = person.tiles.iter();
                tiles.extend(seen.filter_map(|tile| {
                    let view = view_of_tile(tile, window)?;
                    let frozen = view.frozen();
                    Some(Tile {
                        group: setup.name.clone(),
                        viewer: person.name.clone(),
                        shows: tile.of.clone(),
                        values: [
                            view.shown.map(|shown| shown / view.seconds),
                            frozen.map(|frozen| frozen.seconds),
                            frozen.map(|frozen| frozen.count),
                            view.paused,
                            view.picture.height,
                            view.picture.psnr_db,
                            mean(view.latency.iter().copied()),
                            view.first_picture_ms,
                        ],
                    })
                }));
            }
        }
        tiles
    }

    /// Formats tiles as a table (RFC 4180).
    #[must_use]
    pub fn table(tiles: &[Tile]) -> String {
        let mut text = format!("group,viewer,shows,{}\n", HEADS.join(","));
        for tile in tiles {
            let _ = write!(text, "{},{},{}", tile.group, tile.viewer, tile.shows);
            for value in tile.values {
                text.push(',');
                if let Some(value) = value {
                    // An empty sum is -0.
                    let _ = write!(text, "{}", value + 0.0);
                }
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_is_a_row_and_an_unknown_value_is_empty() {
        let mut values = [Some(1.5); HEADS.len()];
        values[7] = None;
        let tile = Tile {
            group: "weak".to_owned(),
            viewer: "weak-1".to_owned(),
            shows: "host".to_owned(),
            values,
        };
        let expected = "group,viewer,shows,fps,freeze_s,freeze_count,paused_s,height_px,psnr_db,\
                        e2e_ms_mean,first_picture_ms\nweak,weak-1,host,1.5,1.5,1.5,1.5,1.5,1.5,1.5,\n";
        assert_eq!(Tile::table(&[tile]), expected);
    }
}
