//! Measured parts of a run.

use weft_units::Duration;

use super::file::File;
use super::place::{ScenarioError, Source};

/// Returns the start of the measurement; by default the start of the run.
pub fn measure_from(file: &File) -> Duration {
    let from = file.measure_from.as_ref();
    from.map_or(Duration::ZERO, |t| t.get_ref().0)
}

/// Returns the sections between these times; none without times.
pub fn sections(source: &Source, file: &File) -> Result<Vec<(Duration, Duration)>, ScenarioError> {
    let mut found = Vec::new();
    let mut begin = measure_from(file);
    for bound in &file.sections {
        let end = bound.get_ref().0;
        if end <= begin || end >= file.duration.get_ref().0 {
            let remedy = "a section begins here, after the one before it and before the end of the run: sort the times, and keep those between `measure-from` and `duration`";
            return Err(source.error(bound.span(), remedy));
        }
        found.push((begin, end));
        begin = end;
    }
    if !found.is_empty() {
        found.push((begin, file.duration.get_ref().0));
    }
    Ok(found)
}
