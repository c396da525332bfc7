use super::{MAX_SECONDS, Place, Trace, TraceError, TraceProblem, content, end};
use weft_units::{Duration, Rate};

/// As the highest rate of a link specification.
const MAX_BYTES_PER_SECOND: f64 = 1e12 / 8.0;
const COLUMNS: &str = "each line is second,bytes per second";
const SECOND: &str = "the first column is a time in seconds, from 0 to a day";
const BYTES: &str = "the second column is bytes per second, from 0 to 125000000000";

struct Row {
    second: f64,
    rate: Rate,
}

pub(super) fn parse(name: &str, text: &str) -> Result<Trace, TraceError> {
    let mut rows: Vec<Row> = Vec::new();
    let mut lines = content(text).peekable();
    lines.next_if(|(_, line)| is_title(line));
    while let Some((number, line)) = lines.next() {
        let place = Place {
            trace: name,
            line: number,
            column: 1,
        };
        let row = row(place, line, lines.peek().is_none())?;
        if let Some(last) = rows.last()
            && row.second <= last.second
        {
            let value = row.second.to_string();
            let before = last.second.to_string();
            return Err(place.error(match value == before {
                true => TraceProblem::Repeated { value },
                false => TraceProblem::Backwards { value, before },
            }));
        }
        rows.push(row);
    }
    let place = end(name, text);
    let Some((first, last)) = rows.first().zip(rows.last()) else {
        return Err(place.error(TraceProblem::Empty));
    };
    let last_gap = match &rows[..] {
        [.., before, last] => last.second - before.second,
        _ => 1.0,
    };
    let since_first = |second: f64| Duration::from_secs_f64(second - first.second);
    let steps = rows.iter().map(|r| (since_first(r.second), r.rate));
    let length = since_first(last.second + last_gap);
    Trace::new(name, steps.collect(), length).ok_or_else(|| place.error(TraceProblem::NoDuration))
}

fn row(place: Place<'_>, line: &str, is_last: bool) -> Result<Row, TraceError> {
    let fields: Vec<&str> = line.split(',').collect();
    let after_first = Place {
        column: fields[0].chars().count() + 2,
        ..place
    };
    match fields[..] {
        [second, bytes] if !(is_last && bytes.trim().is_empty()) => {
            let second = place.number(second.trim(), MAX_SECONDS as f64, SECOND)?;
            let bytes = after_first.number(bytes.trim(), MAX_BYTES_PER_SECOND, BYTES)?;
            let rate = Rate::from_bps((bytes * 8.0).round() as u64);
            Ok(Row { second, rate })
        }
        [_] | [_, _] if is_last => {
            let missing = "the number of bytes per second";
            Err(after_first.error(TraceProblem::EndsEarly { missing }))
        }
        _ => Err(after_first.error(TraceProblem::WrongColumns {
            found: fields.len(),
            expected: 2,
            remedy: COLUMNS,
        })),
    }
}

/// Two columns of words.
fn is_title(line: &str) -> bool {
    let is_word = |field: &str| field.trim().starts_with(char::is_alphabetic);
    line.split(',').count() == 2 && line.split(',').all(is_word)
}
