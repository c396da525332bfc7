//! Tables with a time and a rate on each line, in the units that the titles name.

use super::titles::{Columns, Separator};
use super::{MAX_SECONDS, Trace, TraceError, TracePosition, TraceProblem, content, end, transfers};
use weft_units::{Duration, Rate};

/// Highest rate of a link specification, in bits per second.
const MAX_RATE: f64 = 1e12;
/// Highest rate of a table without titles in Mbit/s, as bits per second. Chosen
/// by us: higher values mean another unit.
const MAX_UNNAMED_MBPS: f64 = 1e10;
/// Highest time in seconds, from a clock that counts nanoseconds since 1970.
const MAX_TIME: f64 = 1e19;

/// Meaning of the columns without a line of titles: with commas and semicolons, the
/// scenario's own format; with spaces and tabs, the format of most public sets of traces
/// (Mao et al. 2017, Pensieve; Akhtar et al. 2018, Oboe).
const UNNAMED: &str = "without a line of titles, each line is second,bytes per second or, with \
                       spaces, second and Mbit/s; for other units write a line of titles, such as \
                       time_ms,rate_kbps";
const SPAN: &str = "a trace lasts a day at most; name the unit of its times in a line of titles, \
                    such as time_ms,rate_kbps";
const DECIMAL: &str = "numbers have digits and a point, such as 1.5; with decimal commas separate \
                       the columns by semicolons";

struct Row {
    /// Time in seconds.
    time: f64,
    written: String,
    rate: Rate,
    /// Position of the first character of the time in its line, from one.
    column: usize,
}

/// Whether this line belongs to a table with several columns.
pub(super) fn is_table(line: &str) -> bool {
    Separator::of(line).is_some()
}

pub(super) fn parse(name: &str, text: &str) -> Result<Trace, TraceError> {
    let mut lines = content(text).peekable();
    let Some((first, line)) = lines.peek().copied() else {
        return Err(end(name, text).error(TraceProblem::Empty));
    };
    let place = TracePosition {
        trace: name,
        line: first,
        column: 1,
    };
    let separator = Separator::of(line).unwrap_or(Separator::Comma);
    let titles = Columns::of_titles(place, line, separator)?;
    if titles.is_some() {
        lines.next();
    } else if separator == Separator::Space && separator.count(line) == transfers::COLUMNS {
        return transfers::parse(name, text);
    }
    let columns = match titles {
        Some(columns) => columns,
        None => super::comment_before(text, first)
            .and_then(|comment| Columns::of_comment(comment, separator))
            .unwrap_or_else(|| Columns::unnamed(separator)),
    };
    let mut rows: Vec<Row> = Vec::new();
    while let Some((line, content)) = lines.next() {
        let place = TracePosition { line, ..place };
        let row = row(place, content, &columns, lines.peek().is_none())?;
        check_order(place, rows.first(), rows.last(), &row)?;
        rows.push(row);
    }
    trace(name, text, &rows)
}

fn trace(name: &str, text: &str, rows: &[Row]) -> Result<Trace, TraceError> {
    let place = end(name, text);
    let Some((first, last)) = rows.first().zip(rows.last()) else {
        return Err(place.error(TraceProblem::Empty));
    };
    let last_gap = match rows {
        [.., before, last] => last.time - before.time,
        _ => 1.0,
    };
    let since_first = |time: f64| Duration::from_secs_f64(time - first.time);
    let steps = rows.iter().map(|r| (since_first(r.time), r.rate));
    let length = since_first(last.time + last_gap);
    Trace::new(name, steps.collect(), length).ok_or_else(|| place.error(TraceProblem::NoDuration))
}

/// Checks that each line is later than the previous one, and within a day of the first.
fn check_order(
    place: TracePosition<'_>,
    first: Option<&Row>,
    last: Option<&Row>,
    row: &Row,
) -> Result<(), TraceError> {
    let (Some(first), Some(last)) = (first, last) else {
        return Ok(());
    };
    let place = TracePosition {
        column: row.column,
        ..place
    };
    let (value, before) = (row.written.clone(), last.written.clone());
    if row.time == last.time {
        return Err(place.error(TraceProblem::Repeated { value }));
    }
    if row.time < last.time {
        return Err(place.error(TraceProblem::Backwards { value, before }));
    }
    if row.time - first.time > MAX_SECONDS as f64 {
        let remedy = SPAN;
        return Err(place.error(TraceProblem::TooLarge { value, remedy }));
    }
    Ok(())
}

fn row(
    place: TracePosition<'_>,
    line: &str,
    columns: &Columns,
    is_last: bool,
) -> Result<Row, TraceError> {
    let fields = columns.separator.fields(line);
    let after_first = TracePosition {
        column: fields[0].1.chars().count() + fields[0].0 + 1,
        ..place
    };
    let filled = fields.iter().filter(|(_, field)| !field.is_empty()).count();
    if is_last && filled < columns.count && fields.len() <= columns.count {
        let missing = "a value of its line";
        return Err(after_first.error(TraceProblem::EndsEarly { missing }));
    }
    if fields.len() != columns.count {
        return Err(after_first.error(TraceProblem::WrongColumns {
            found: fields.len(),
            expected: columns.count,
            remedy: match fields.len() > columns.count && !columns.named {
                true => DECIMAL,
                false => columns.remedy(UNNAMED),
            },
        }));
    }
    let number = |at: usize, most: f64| -> Result<f64, TraceError> {
        let (column, field) = fields[at];
        let place = TracePosition { column, ..place };
        let pointed = columns.separator.with_point(field);
        let number = place.number(&pointed, most, columns.remedy(UNNAMED));
        number.map_err(|error| error.with_value(field))
    };
    let (time, seconds) = columns.time;
    let (rate, bits) = columns.rate;
    let most = match columns.separator {
        Separator::Space | Separator::Tab if !columns.named => MAX_UNNAMED_MBPS,
        _ => MAX_RATE,
    };
    Ok(Row {
        time: number(time, MAX_TIME)? * seconds,
        written: fields[time].1.to_owned(),
        rate: Rate::from_bps((number(rate, most / bits)? * bits).round() as u64),
        column: fields[time].0,
    })
}
