use super::{MAX_SECONDS, Trace, TraceError, TracePosition, TraceProblem, content, end};
use weft_units::{Bytes, Duration, Rate};

/// Bytes that can leave at once: an Ethernet frame of 1500 bytes and the header
/// of a TUN device (Netravali et al. 2015, Mahimahi's `link_queue`).
const OPPORTUNITY: Bytes = Bytes(1504);
const MILLISECOND: Duration = Duration::from_millis(1);
const REMEDY: &str = "each line is a whole number of milliseconds, from 0 to a day";

pub(super) fn parse(name: &str, text: &str) -> Result<Trace, TraceError> {
    let (mut slots, mut before) = (Vec::new(), 0);
    for (line, content) in content(text) {
        let value = content.trim();
        let column = content.len() - content.trim_start().len() + 1;
        let place = TracePosition {
            trace: name,
            line,
            column,
        };
        let ms = millisecond(place, value)?;
        if ms < before {
            return Err(place.error(TraceProblem::Backwards {
                value: value.into(),
                before: before.to_string(),
            }));
        }
        before = ms;
        slots.push(ms);
    }
    let place = end(name, text);
    let Some(length) = slots.last().copied() else {
        return Err(place.error(TraceProblem::Empty));
    };
    // A packet at the end of a round leaves at the start of the next.
    slots.iter_mut().for_each(|ms| *ms %= length.max(1));
    slots.sort_unstable();
    Trace::new(name, steps(&slots, length), MILLISECOND * length)
        .ok_or_else(|| place.error(TraceProblem::NoDuration))
}

fn millisecond(place: TracePosition<'_>, value: &str) -> Result<u64, TraceError> {
    if let Some(at) = value.find([',', ' ', '\t', ';']) {
        let found = value.split([',', ' ', '\t', ';']).count();
        let column = place.column + at;
        return Err(
            TracePosition { column, ..place }.error(TraceProblem::WrongColumns {
                found,
                expected: 1,
                remedy: "write one millisecond per line, or name the file .csv",
            }),
        );
    }
    let ms = place.number(value, (MAX_SECONDS * 1_000) as f64, REMEDY)?;
    if value.contains('.') {
        let value = value.into();
        let remedy = REMEDY;
        return Err(place.error(TraceProblem::NotANumber { value, remedy }));
    }
    Ok(ms as u64)
}

/// Returns the rate of each millisecond that differs from the previous one.
fn steps(slots: &[u64], length: u64) -> Vec<(Duration, Rate)> {
    let mut steps: Vec<(Duration, Rate)> = Vec::new();
    let mut step = |ms: u64, rate| {
        if ms < length && steps.last().is_none_or(|s| s.1 != rate) {
            steps.push((MILLISECOND * ms, rate));
        }
    };
    let mut free = 0;
    for slot in slots.chunk_by(|a, b| a == b) {
        if free < slot[0] {
            step(free, Rate::ZERO);
        }
        let bytes = Bytes(OPPORTUNITY.0 * slot.len() as u64);
        step(slot[0], bytes / MILLISECOND);
        free = slot[0] + 1;
    }
    step(free, Rate::ZERO);
    steps
}
