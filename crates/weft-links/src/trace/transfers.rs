//! Logs of a download in the form of the public sets of Telenor (Riiser et al. 2013,
//! HSDPA) and Ghent (van der Hooft et al. 2016, 4G): six columns, of which the fifth is
//! the bytes and the sixth the milliseconds of the last transfer.

use super::{MAX_SECONDS, Trace, TraceError, TracePosition, TraceProblem, content, end};
use weft_units::{Duration, Rate};

/// Number of columns: time since 1970, time since the start, latitude, longitude, bytes,
/// milliseconds.
pub(super) const COLUMNS: usize = 6;
const REMEDY: &str = "six columns with spaces are the log of a download: two times, latitude, \
                      longitude, bytes and the milliseconds that they took";
const MAX_BYTES: f64 = 1e15;

pub(super) fn parse(name: &str, text: &str) -> Result<Trace, TraceError> {
    let (mut steps, mut length) = (Vec::new(), Duration::ZERO);
    let longest = Duration::from_secs(MAX_SECONDS);
    for (line, content) in content(text) {
        let fields: Vec<&str> = content.split_whitespace().collect();
        let place = |at: usize| TracePosition {
            trace: name,
            line,
            column: column(content, fields.get(at).copied()),
        };
        if fields.len() != COLUMNS {
            return Err(place(0).error(TraceProblem::WrongColumns {
                found: fields.len(),
                expected: COLUMNS,
                remedy: REMEDY,
            }));
        }
        let bytes = place(4).number(fields[4], MAX_BYTES, REMEDY)?;
        let ms = place(5).number(fields[5], (MAX_SECONDS * 1_000) as f64, REMEDY)?;
        let took = Duration::from_secs_f64(ms / 1e3);
        if took == Duration::ZERO {
            continue;
        }
        steps.push((
            length,
            Rate::from_bps((bytes * 8.0 / took.as_secs_f64()) as u64),
        ));
        length += took;
        if length > longest {
            let (value, remedy) = (fields[5].to_owned(), "a trace lasts a day at most");
            return Err(place(5).error(TraceProblem::TooLarge { value, remedy }));
        }
    }
    Trace::new(name, steps, length).ok_or_else(|| end(name, text).error(TraceProblem::NoDuration))
}

/// Returns the first character of a field, counted from one.
fn column(line: &str, field: Option<&str>) -> usize {
    let bytes = field.map_or(0, |field| field.as_ptr() as usize - line.as_ptr() as usize);
    line[..bytes].chars().count() + 1
}
