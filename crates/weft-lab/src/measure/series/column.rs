//! Columns over time.

use std::borrow::Cow;

use serde::Serialize;

use super::frozen::Frozen;
use super::tiles::Tile;

/// Quantity of one flow or link over time.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Quantity; columns with the same name belong in one plot.
    pub name: Cow<'static, str>,
    /// Flow or link, or path of a flow: `call@wifi`.
    pub of: String,
    /// Unit for the axis; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// Value for each time; `None` if there was nothing to measure.
    pub values: Vec<Option<f64>>,
    /// Words of a column of words, whose values are positions in this list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<&'static str>,
}

/// Columns over time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// End of each period in seconds.
    pub t: Vec<f64>,
    /// Columns as long as `t`.
    pub columns: Vec<Column>,
    /// Freezes of each flow that shows pictures.
    pub freezes: Vec<Frozen>,
    /// Tiles of a conference; none in a report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tiles: Vec<Tile>,
}

impl Column {
    /// Returns name and owner, as in the header of a table.
    #[must_use]
    pub fn head(&self) -> String {
        format!("{}.{}", self.name, self.of)
    }

    /// Returns the word of a row, in a column of words.
    #[must_use]
    pub fn word(&self, row: usize) -> Option<&'static str> {
        let at = self.values.get(row).copied().flatten()?;
        self.words.get(at as usize).copied()
    }
}

impl Series {
    /// Adds a column of numbers.
    pub fn add(
        &mut self,
        name: &'static str,
        of: &str,
        unit: &'static str,
        values: Vec<Option<f64>>,
    ) {
        let of = of.to_owned();
        self.columns.push(Column {
            name: Cow::Borrowed(name),
            of,
            unit,
            values,
            words: Vec::new(),
        });
    }

    /// Returns at most `rows` rows, for display: means of neighbours, to four digits.
    #[must_use]
    pub fn thinned(&self, rows: usize) -> Series {
        let each = self.t.len().div_ceil(rows.max(1)).max(1);
        let mean = |values: &[Option<f64>]| {
            let present: Vec<f64> = values.iter().flatten().copied().collect();
            let mean = present.iter().sum::<f64>() / present.len() as f64;
            (!present.is_empty()).then(|| to_four_digits(mean))
        };
        // Words have no mean, so the last one is kept.
        let last = |values: &[Option<f64>]| values.iter().flatten().last().copied();
        let columns = self.columns.iter().map(|column| Column {
            values: match column.words.is_empty() {
                true => column.values.chunks(each).map(mean).collect(),
                false => column.values.chunks(each).map(last).collect(),
            },
            ..column.clone()
        });
        Series {
            t: self
                .t
                .chunks(each)
                .filter_map(|chunk| chunk.last().copied())
                .collect(),
            columns: columns.collect(),
            freezes: self.freezes.clone(),
            tiles: Vec::new(),
        }
    }
}

/// Rounds to four digits.
pub fn to_four_digits(value: f64) -> f64 {
    let rounded = format!("{value:.3e}").parse();
    rounded.unwrap_or(value)
}
