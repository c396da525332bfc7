//! Columns over time.

use std::borrow::Cow;

use serde::Serialize;

use super::frozen::Frozen;

/// A column: a quantity of one flow or link over time.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// What: the columns of one name belong in one plot.
    pub name: Cow<'static, str>,
    /// Of which flow or link, or of which path of a flow: `call@wifi`.
    pub of: String,
    /// For the axis; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// One value for each time; none where there was nothing to measure.
    pub values: Vec<Option<f64>>,
    /// Of a column of words: the values are positions among these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<&'static str>,
}

/// Columns over time.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// The end of each period, seconds.
    pub t: Vec<f64>,
    /// Each as long as `t`.
    pub columns: Vec<Column>,
    /// Freezes of each flow that shows pictures.
    pub freezes: Vec<Frozen>,
}

impl Column {
    /// Name and owner, as the head of a table.
    #[must_use]
    pub fn head(&self) -> String {
        format!("{}.{}", self.name, self.of)
    }

    /// The word of a row, in a column of words.
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

    /// At most `rows` rows, to be looked at: means of neighbours, to four digits.
    #[must_use]
    pub fn thinned(&self, rows: usize) -> Series {
        let each = self.t.len().div_ceil(rows.max(1)).max(1);
        let mean = |values: &[Option<f64>]| {
            let present: Vec<f64> = values.iter().flatten().copied().collect();
            let mean = present.iter().sum::<f64>() / present.len() as f64;
            (!present.is_empty()).then(|| to_four_digits(mean))
        };
        // Words have no mean.
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
        }
    }
}

/// The nearest number of four digits.
pub fn to_four_digits(value: f64) -> f64 {
    let rounded = format!("{value:.3e}").parse();
    rounded.unwrap_or(value)
}
