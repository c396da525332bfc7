//! A frame number and a time, drawn into a picture and read at the far end, to measure
//! latency and losses of displayed pictures.
//!
//! Layout: a grid of 22 x 4 square cells in the top left corner. A cell is 1/45 of the
//! height or 1/48 of the width, whichever is smaller, so that it grows and shrinks with
//! the picture. The first and the last column are markers: bright, dark, bright, dark
//! from the top, and the reverse. The 20 columns between hold 80 bits, row by row, most
//! significant first: number (32), time in milliseconds (32), CRC-16 of these eight bytes
//! (CCITT polynomial 0x1021, initial value 0xFFFF). A bright cell is a one. A reader
//! compares the mean of the middle half of each cell with the middle between bright and
//! dark markers.

use crate::Picture;

#[cfg(test)]
mod tests;

/// Contents of a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Number of the picture.
    pub number: u32,
    /// Capture time in milliseconds, on the clock of the writer.
    pub time_ms: u32,
}

const COLUMNS: usize = 22;
const ROWS: usize = 4;
const DATA_COLUMNS: usize = COLUMNS - 2;
/// Levels of the cells: within limited range, with a margin for the overshoot of scalers,
/// and less glaring than full contrast.
const DARK: u8 = 32;
const BRIGHT: u8 = 208;
/// Smallest difference of the markers' means that counts as a stamp: a quarter of the
/// written difference.
const MIN_CONTRAST: f32 = (BRIGHT - DARK) as f32 / 4.0;

/// Draws the stamp. Does not change a picture that is too small for cells of two pixels.
pub fn write(picture: &mut Picture, stamp: Stamp) {
    let cell = cell_size(picture);
    if cell < 2.0 {
        return;
    }
    let bits = bits(stamp);
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let bright = match column {
                0 => row % 2 == 0,
                c if c == COLUMNS - 1 => row % 2 == 1,
                c => bits >> (79 - (row * DATA_COLUMNS + c - 1)) & 1 == 1,
            };
            let level = if bright { BRIGHT } else { DARK };
            let (top, bottom) = span(row, cell, 1.0);
            let (left, right) = span(column, cell, 1.0);
            for y in top..bottom {
                picture.y[y * picture.width + left..y * picture.width + right].fill(level);
            }
        }
    }
    let stride = picture.chroma_width();
    let (right, bottom) = (COLUMNS as f32 * cell / 2.0, ROWS as f32 * cell / 2.0);
    for y in 0..bottom.ceil() as usize {
        let row = y * stride..y * stride + right.ceil() as usize;
        picture.u[row.clone()].fill(128);
        picture.v[row].fill(128);
    }
}

/// Reads the stamp of a picture that may have been compressed and scaled; `None` if there
/// is none or its checksum is wrong.
#[must_use]
pub fn read(picture: &Picture) -> Option<Stamp> {
    let cell = cell_size(picture);
    if cell < 2.0 {
        return None;
    }
    let mean = |row, column| mean(picture, cell, row, column);
    let (mut bright, mut dark) = (0.0, 0.0);
    let (mut least_bright, mut most_dark) = (f32::MAX, f32::MIN);
    for row in 0..ROWS {
        for (column, is_bright) in [(0, row % 2 == 0), (COLUMNS - 1, row % 2 == 1)] {
            let level = mean(row, column);
            if is_bright {
                bright += level / ROWS as f32;
                least_bright = level.min(least_bright);
            } else {
                dark += level / ROWS as f32;
                most_dark = level.max(most_dark);
            }
        }
    }
    let middle = f32::midpoint(bright, dark);
    if bright - dark < MIN_CONTRAST || least_bright <= middle || most_dark >= middle {
        return None;
    }
    let mut bits = 0_u128;
    for row in 0..ROWS {
        for column in 1..=DATA_COLUMNS {
            bits = bits << 1 | u128::from(mean(row, column) > middle);
        }
    }
    let stamp = Stamp {
        number: (bits >> 48) as u32,
        time_ms: (bits >> 16) as u32,
    };
    (self::bits(stamp) == bits).then_some(stamp)
}

fn cell_size(picture: &Picture) -> f32 {
    (picture.height as f32 / 45.0).min(picture.width as f32 / 48.0)
}

fn bits(stamp: Stamp) -> u128 {
    let body = u64::from(stamp.number) << 32 | u64::from(stamp.time_ms);
    u128::from(body) << 16 | u128::from(crc16(&body.to_be_bytes()))
}

fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0xFFFF, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            if crc & 0x8000 == 0 {
                crc << 1
            } else {
                crc << 1 ^ 0x1021
            }
        })
    })
}

/// Returns the pixels of the middle `part` of the cell.
fn span(index: usize, cell: f32, part: f32) -> (usize, usize) {
    let center = (index as f32 + 0.5) * cell;
    let reach = cell * part / 2.0;
    (
        (center - reach).round() as usize,
        (center + reach).round() as usize,
    )
}

fn mean(picture: &Picture, cell: f32, row: usize, column: usize) -> f32 {
    let (top, bottom) = span(row, cell, 0.5);
    let (left, right) = span(column, cell, 0.5);
    let sum: u32 = (top..bottom)
        .flat_map(|y| &picture.y[y * picture.width + left..y * picture.width + right])
        .map(|level| u32::from(*level))
        .sum();
    sum as f32 / ((bottom - top) * (right - left)).max(1) as f32
}
