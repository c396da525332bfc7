//! Columns of a table: their separator, and the units that their titles name.

use super::{TraceError, TracePosition, TraceProblem};

/// Separator of the columns of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Separator {
    Comma,
    Semicolon,
    /// A single tab.
    Tab,
    /// Any number of spaces or tabs.
    Space,
}

/// Positions of times and rates in a table.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Columns {
    pub separator: Separator,
    /// Number of columns.
    pub count: usize,
    /// Position of the times, and seconds of their unit.
    pub time: (usize, f64),
    /// Position of the rates, and bits per second of their unit.
    pub rate: (usize, f64),
    /// Whether the columns come from a line of titles.
    pub named: bool,
}

/// Quantity of a column.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Quantity {
    /// Time, with the seconds of its unit; `None` if the title has no unit.
    Time(Option<f64>),
    /// Rate, with the bits per second of its unit; `None` if the title has no unit.
    Rate(Option<f64>),
    Other,
}

const TIME_WORDS: [&str; 5] = ["time", "timestamp", "t", "at", "elapsed"];
const RATE_WORDS: [&str; 8] = [
    "rate",
    "throughput",
    "bandwidth",
    "capacity",
    "bitrate",
    "goodput",
    "speed",
    "bw",
];
const TIME_UNITS: [(&str, f64); 21] = [
    ("s", 1.0),
    ("sec", 1.0),
    ("secs", 1.0),
    ("second", 1.0),
    ("seconds", 1.0),
    ("ms", 1e-3),
    ("msec", 1e-3),
    ("msecs", 1e-3),
    ("millis", 1e-3),
    ("millisecond", 1e-3),
    ("milliseconds", 1e-3),
    ("us", 1e-6),
    ("usec", 1e-6),
    ("µs", 1e-6),
    ("microsecond", 1e-6),
    ("microseconds", 1e-6),
    ("ns", 1e-9),
    ("nanoseconds", 1e-9),
    ("min", 60.0),
    ("minute", 60.0),
    ("minutes", 60.0),
];
/// Multiples of a unit, as powers of ten.
const MULTIPLES: [(&str, f64); 8] = [
    ("", 1.0),
    ("k", 1e3),
    ("kilo", 1e3),
    ("m", 1e6),
    ("mega", 1e6),
    ("g", 1e9),
    ("giga", 1e9),
    ("t", 1e12),
];

const NO_UNIT: &str = "name the unit of the rates in the title, such as rate_kbps, rate_mbps or \
                       bytes_per_second";
const TITLES: &str = "the titles must name one time and one rate with its unit, such as \
                      time_ms,rate_kbps";

impl Separator {
    /// Returns the separator of this line; `None` for a single column.
    pub fn of(line: &str) -> Option<Separator> {
        let line = line.trim();
        if line.contains(';') {
            return Some(Separator::Semicolon);
        }
        if line.contains('\t') && line.split('\t').all(|part| !part.trim().is_empty()) {
            return Some(Separator::Tab);
        }
        let words = || line.split_whitespace();
        // `0,5 1,25` has decimal commas; `0, 5` and `time (s),kbps` have columns.
        let is_column = |word: &str| {
            let ends = word.starts_with(',') || word.ends_with(',');
            !ends && word.matches(',').count() <= 1 && !(line.contains(',') && is_word(word))
        };
        if words().count() > 1 && words().all(is_column) {
            return Some(Separator::Space);
        }
        line.contains(',').then_some(Separator::Comma)
    }

    /// Returns the columns, each with its first character in the line, counted from one.
    pub fn fields(self, line: &str) -> Vec<(usize, &str)> {
        let parts: Vec<&str> = match self {
            Separator::Comma => line.split(',').collect(),
            Separator::Semicolon => line.split(';').collect(),
            Separator::Tab => line.trim().split('\t').collect(),
            Separator::Space => line.split_whitespace().collect(),
        };
        let field = |part: &'_ str| -> usize {
            let bytes = part.as_ptr() as usize - line.as_ptr() as usize;
            line[..bytes].chars().count() + 1
        };
        let trimmed = parts.into_iter().map(|part| {
            let text = part.trim_start();
            (field(text), text.trim_end())
        });
        trimmed.collect()
    }

    /// Returns the number of columns.
    pub fn count(self, line: &str) -> usize {
        self.fields(line).len()
    }

    /// Returns the number with a decimal point, if a comma can only be a decimal comma.
    pub fn with_point(self, field: &str) -> String {
        match self {
            Separator::Comma => field.to_owned(),
            Separator::Semicolon | Separator::Tab | Separator::Space => field.replacen(',', ".", 1),
        }
    }
}

fn is_word(field: &str) -> bool {
    let field = field.trim_matches(['"', '\'', '[', '(']);
    field.starts_with(char::is_alphabetic)
}

impl Columns {
    /// Returns the columns without titles: seconds, and Mbit/s if separated by spaces,
    /// otherwise bytes per second.
    pub fn unnamed(separator: Separator) -> Columns {
        let bits = match separator {
            Separator::Space | Separator::Tab => 1e6,
            Separator::Comma | Separator::Semicolon => 8.0,
        };
        Columns {
            separator,
            count: 2,
            time: (0, 1.0),
            rate: (1, bits),
            named: false,
        }
    }

    /// Returns the columns of a line of titles; `None` for a line of numbers.
    pub fn of_titles(
        place: TracePosition<'_>,
        line: &str,
        separator: Separator,
    ) -> Result<Option<Columns>, TraceError> {
        let fields = separator.fields(line);
        if fields.is_empty() || !fields.iter().all(|(_, field)| is_word(field)) {
            return Ok(None);
        }
        let bad = |column: usize, value: &str, remedy| {
            let value = value.to_owned();
            let place = TracePosition { column, ..place };
            Err(place.error(TraceProblem::NotATitle { value, remedy }))
        };
        let quantities: Vec<Quantity> = fields.iter().map(|(_, f)| quantity(f)).collect();
        let of = |wanted: fn(&Quantity) -> bool| -> Vec<usize> {
            let all = quantities.iter().enumerate();
            all.filter(|(_, q)| wanted(q)).map(|(at, _)| at).collect()
        };
        let times = of(|q| matches!(q, Quantity::Time(_)));
        let rates = of(|q| matches!(q, Quantity::Rate(_)));
        let ([time], [rate]) = (&times[..], &rates[..]) else {
            let other = of(|q| *q == Quantity::Other).first().copied();
            let (column, field) = fields[other.unwrap_or(0)];
            return bad(column, field, TITLES);
        };
        let Quantity::Rate(Some(bits)) = quantities[*rate] else {
            let (column, field) = fields[*rate];
            return bad(column, field, NO_UNIT);
        };
        let seconds = match quantities[*time] {
            Quantity::Time(Some(seconds)) => seconds,
            _ => 1.0,
        };
        Ok(Some(Columns {
            separator,
            count: fields.len(),
            time: (*time, seconds),
            rate: (*rate, bits),
            named: true,
        }))
    }

    /// Returns the columns of a comment above the numbers, if it names units.
    pub fn of_comment(comment: &str, separator: Separator) -> Option<Columns> {
        let place = TracePosition {
            trace: "",
            line: 1,
            column: 1,
        };
        let titles = comment.trim_start().trim_start_matches('#').trim();
        Columns::of_titles(place, titles, separator).ok().flatten()
    }

    /// Returns the remedy for a line that does not fit.
    pub fn remedy(&self, unnamed: &'static str) -> &'static str {
        match self.named {
            true => {
                "each line has the columns of the titles: numbers from 0, in digits with or \
                     without a point"
            }
            false => unnamed,
        }
    }
}

/// Returns quantity and unit of a column, from its title.
fn quantity(title: &str) -> Quantity {
    let title = title
        .trim_matches(['"', '\''])
        .replace("_per_", "/")
        .replace(" per ", "/");
    // Only the letter distinguishes bits from bytes.
    let title = title
        .replace("B/", "byte/")
        .replace("Bps", "byteps")
        .to_lowercase();
    let words = title.split(|c: char| !(c.is_alphanumeric() || c == '/' || c == 'µ'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let rates = words.iter().enumerate();
    let mut rates = rates.filter_map(|(at, word)| bits(word, words.get(at + 1).copied()));
    if let Some(bits) = rates.next_back() {
        return Quantity::Rate(Some(bits));
    }
    if words.iter().any(|word| RATE_WORDS.contains(word)) {
        return Quantity::Rate(None);
    }
    let unit = |word: &&str| TIME_UNITS.iter().find(|(unit, _)| unit == word);
    let mut units = words.iter().filter_map(|word| Some(unit(word)?.1));
    match units.next_back() {
        Some(seconds) => Quantity::Time(Some(seconds)),
        None if words.iter().any(|word| TIME_WORDS.contains(word)) => Quantity::Time(None),
        None => Quantity::Other,
    }
}

/// Returns the bits per second of a unit: `kbps`, `mbit/s`, `bytes/s`. `bytes` and `mbit`
/// count as per second, also if a word for it follows.
fn bits(word: &str, next: Option<&str>) -> Option<f64> {
    const SECONDS: [&str; 4] = ["s", "sec", "second", "seconds"];
    let (amount, per) = match word.split_once('/') {
        Some((amount, per)) => (amount, Some(per)),
        None => match word.strip_suffix("ps") {
            Some(amount) => (amount, Some("s")),
            None => (word, next.filter(|next| SECONDS.contains(next))),
        },
    };
    if per.is_some_and(|per| !SECONDS.contains(&per)) {
        return None;
    }
    let units: [(&str, f64); 5] = [
        ("bits", 1.0),
        ("bit", 1.0),
        ("bytes", 8.0),
        ("byte", 8.0),
        ("b", 1.0),
    ];
    units.iter().find_map(|(unit, bits)| {
        let multiple = amount.strip_suffix(unit)?;
        // A single letter is a unit only together with a "per".
        let known = MULTIPLES.iter().find(|(name, _)| *name == multiple)?;
        (per.is_some() || unit.len() > 1).then_some(known.1 * bits)
    })
}
