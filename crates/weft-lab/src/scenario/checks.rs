//! Checks of a scenario's numbers.

use weft_units::Duration;

use super::file::File;
use super::place::{ScenarioError, Source};

/// Maximum number of seeds of a run; chosen by us.
const MOST_SEEDS: u32 = 10_000;
/// Minimum length of a run: five samples of its series. Chosen by us.
const SHORTEST: Duration = Duration::from_secs(1);

/// Checks length, start of the measurement, seeds, and that links and flows exist.
pub fn check_numbers(source: &Source, file: &File) -> Result<(), ScenarioError> {
    let duration = file.duration.get_ref().0;
    if duration < SHORTEST {
        let message = format!(
            "a run of {} s is too short to measure anything: give it at least {} s, such as \
             duration = \"60s\"",
            duration.as_secs_f64(),
            SHORTEST.as_secs_f64()
        );
        return Err(source.error(file.duration.span(), message));
    }
    if let Some(from) = file
        .measure_from
        .as_ref()
        .filter(|t| t.get_ref().0 >= duration)
    {
        let remedy = "measuring begins after the end of the run: begin earlier";
        return Err(source.error(from.span(), remedy));
    }
    if let Some(seeds) = file
        .seeds
        .as_ref()
        .filter(|n| !(1..=MOST_SEEDS).contains(n.get_ref()))
    {
        let remedy = format!("{} seeds: give 1 to {MOST_SEEDS}", seeds.get_ref());
        return Err(source.error(seeds.span(), remedy));
    }
    for (place, empty) in [
        (
            "links",
            file.links.get_ref().0.is_empty().then(|| file.links.span()),
        ),
        (
            "flows",
            file.flows.get_ref().0.is_empty().then(|| file.flows.span()),
        ),
    ] {
        if let Some(span) = empty {
            return Err(source.error(span, format!("there are no {place}: add [{place}.NAME]")));
        }
    }
    Ok(())
}
