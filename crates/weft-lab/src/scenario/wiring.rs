//! Links of a run: wired links with their steps in time, and media with their stations.

use weft_experiment::{Hop, LinkSetup};
use weft_links::{Capacity, LineStep, LinkSpec, Schedule, WiredDirection};
use weft_session::Policy;
use weft_units::Duration;

use super::cells::{self, Cells, Station};
use super::file::File;
use super::items::{Items, Written};
use super::links::{Link, Step};
use super::place::{ScenarioError, Source};
use super::traces;

/// The links of a file, as set up in the run.
pub struct Wiring {
    /// Setups by the run's link: one for all seeds, or one for each trace that matches a
    /// pattern, with the matched text.
    pub setups: Vec<Vec<(String, LinkSetup)>>,
    /// By the file's link: the forward hop over it, and the policy of a call.
    pub hops: Vec<(Hop, Policy)>,
}

/// Creates the links: a wired one for each that is not on a medium, and one for each
/// medium, at the position of the first link that names it.
pub fn wiring(source: &Source, file: &File) -> Result<Wiring, ScenarioError> {
    let mut cells = Cells::of(source, file)?;
    let mut setups = Vec::new();
    let mut stations = Vec::new();
    let mut policies = Vec::new();
    for (name, written) in &file.links.get_ref().0 {
        let table = written.get_ref();
        let there = Items::default()
            .with_spec(source, table.spec.as_ref())?
            .with_keys(table);
        let (policy, there) = there.policy(source, name.get_ref())?;
        policies.push(policy);
        let back = there.clone().with_spec(source, table.back.as_ref())?;
        let link = Written {
            source,
            name: name.get_ref(),
            whole: written.span(),
            there,
            back,
        };
        match link.there.find("medium") {
            None => {
                stations.push((setups.len(), None));
                setups.push(wired(&link, table)?);
            }
            Some(_) => {
                if let Some(step) = table.steps.iter().chain(&table.steps_back).next() {
                    let remedy = "a station of a medium has no steps: remove them";
                    return Err(source.error(step.at.span(), remedy));
                }
                if let Some(place) = &table.place {
                    let remedy = "a station of a medium has no generated trace: remove `place`";
                    return Err(source.error(place.span(), remedy));
                }
                let station = cells.join(&link)?;
                let setup = cells.setup(station.cell, setups.len());
                if setup == setups.len() {
                    setups.push(Vec::new());
                }
                stations.push((setup, Some(station)));
            }
        }
    }
    let access_points = cells.finish(source, &mut setups)?;
    let hop = |(link, station): (usize, Option<Station>)| match station {
        None => Hop::wired(link, WiredDirection::Forward),
        Some(station) => Hop {
            link,
            from: station.id,
            to: access_points[station.cell],
        },
    };
    let hops = stations.into_iter().map(hop).zip(policies).collect();
    Ok(Wiring { setups, hops })
}

/// Returns the link of this table: one setup for each trace that matches its pattern,
/// with the matched text; one for all seeds without a pattern.
fn wired(link: &Written<'_>, table: &Link) -> Result<Vec<(String, LinkSetup)>, ScenarioError> {
    let Written {
        source,
        name,
        whole,
        there,
        back,
    } = link;
    if let Some(message) = cells::misses_its_medium(there) {
        let (message, span) = message;
        return Err(source.error(span, format!("link `{name}`: {message}")));
    }
    let one = |star: &str| {
        let mut forward = there.with_star(star).parse(source, name, whole.clone())?;
        let mut backward = back.with_star(star).parse(source, name, whole.clone())?;
        set_steps(source, &mut forward, &table.steps)?;
        set_steps(source, &mut backward, &table.steps_back)?;
        if [&forward, &backward]
            .into_iter()
            .any(|spec| spec.capacity.is_zero())
        {
            let message = format!("link `{name}`: {}", LinkSpec::NEVER_CARRIES);
            return Err(source.error(whole.clone(), message));
        }
        let place = place(source, table, [&forward, &backward])?;
        let setup = LinkSetup::wired(name, forward, backward);
        Ok((star.to_owned(), LinkSetup { place, ..setup }))
    };
    let Some((pattern, span)) = there.pattern() else {
        return Ok(vec![one("")?]);
    };
    let found = traces::matching(source, pattern);
    let found = found.map_err(|message| {
        source.error(span, format!("link `{name}`: trace={pattern}: {message}"))
    })?;
    found.iter().map(|star| one(star)).collect()
}

/// Returns the place of the link, if it influences its traces.
fn place(
    source: &Source,
    table: &Link,
    specs: [&LinkSpec; 2],
) -> Result<Option<String>, ScenarioError> {
    let Some(place) = &table.place else {
        return Ok(None);
    };
    let is_drawn = |spec: &&LinkSpec| matches!(&spec.capacity, Capacity::Generated(trace) if trace.seeds.is_none());
    if !specs.iter().any(is_drawn) {
        let remedy = "`place` says what a generated trace without a seed has in common with others: remove it, \
                      or write for example trace = \"generated:driving/lte\"";
        return Err(source.error(place.span(), remedy));
    }
    Ok(Some(place.get_ref().clone()))
}

/// Replaces rate, delay and loss by steps, each from its time.
fn set_steps(source: &Source, spec: &mut LinkSpec, steps: &[Step]) -> Result<(), ScenarioError> {
    let time = |step: &Step| step.at.get_ref().0;
    if let Some(pair) = steps
        .windows(2)
        .find(|pair| time(&pair[1]) <= time(&pair[0]))
    {
        let remedy = "this step does not begin after the one before it: sort the steps by time";
        return Err(source.error(pair[1].at.span(), remedy));
    }
    for step in steps {
        let loss = step.loss.as_ref();
        if let Some(loss) = loss.filter(|loss| loss.get_ref().0 > 1.0) {
            let remedy = "a link loses all of its packets at most: write 0% to 100%";
            return Err(source.error(loss.span(), remedy));
        }
        if step.rate.is_none() && step.delay.is_none() && loss.is_none() {
            let remedy = "this step changes nothing: give it a rate, delay or loss";
            return Err(source.error(step.at.span(), remedy));
        }
        spec.line_steps.push(LineStep {
            at: time(step),
            delay: step.delay.map(|delay| delay.0),
            loss: loss.map(|loss| loss.get_ref().0),
        });
    }
    set_schedule(source, spec, steps)
}

fn set_schedule(source: &Source, spec: &mut LinkSpec, steps: &[Step]) -> Result<(), ScenarioError> {
    let rates = steps.iter().filter_map(|s| Some((s, s.rate?.0)));
    let mut schedule: Vec<_> = rates.map(|(s, rate)| (s.at.get_ref().0, rate)).collect();
    let Some((first, _)) = schedule.first() else {
        return Ok(());
    };
    let Capacity::Constant(rate) = spec.capacity else {
        let remedy = "a trace has steps of its own: remove the rates of `steps`, or the trace";
        return Err(source.error(steps[0].at.span(), remedy));
    };
    if *first > Duration::ZERO {
        schedule.insert(0, (Duration::ZERO, rate));
    }
    let schedule = Schedule::new(schedule);
    let schedule = schedule.map_err(|e| source.error(steps[0].at.span(), e.to_string()))?;
    spec.capacity = Capacity::Schedule(schedule);
    Ok(())
}
