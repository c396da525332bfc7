//! Systems: how a call uses its links. A name defines a system, such as `webrtc@wifi`,
//! `weft/gcc_deployed@wifi+lte` or `floor`, or refers to a `[system.NAME]` of the file.

use std::ops::Range;

use toml::Spanned;
use weft_cc::{ControllerKind, ControllerKindError};
use weft_experiment::{AllocatorKind, FloorSetup};
use weft_session::{Level, Preference, ProtectionKind, Reporting, SchedulerKind};
use weft_units::Rate;
use weft_units::UnknownName;

use super::file::File;
use super::links::{self, Topology};
use super::place::{ScenarioError, Source, Text};
use super::quantity;
use super::receivers;
use super::system_spec::{FLOOR, SessionSpec, SystemKind, SystemSpec, WEBRTC, schedulers};
use crate::names::unknown_name;

/// Returns the system of this name.
pub fn system(source: &Source, file: &File, name: &Text) -> Result<SystemSpec, ScenarioError> {
    let text = name.get_ref();
    match own(file, text) {
        Some((own, None)) => defined(source, file, own),
        Some((own, Some(links))) => Ok(SystemSpec {
            name: text.clone(),
            links: Some(links_of_name(source, file, links, &name.span())?),
            ..defined(source, file, own)?
        }),
        None => named(source, file, text, name.span()),
    }
}

/// Returns the `[system.NAME]` that NAME or NAME@LINK[+LINK...] refers to, if the file
/// has it, with its links.
pub fn own<'n>(file: &File, name: &'n str) -> Option<(&'n str, Option<&'n str>)> {
    if file.system.find(name).is_some() {
        return Some((name, None));
    }
    let (own, links) = name.split_once('@')?;
    file.system.find(own).map(|_| (own, Some(links)))
}

/// Parses LINK[+LINK...] in the name of a system.
fn links_of_name(
    source: &Source,
    file: &File,
    written: &str,
    span: &Range<usize>,
) -> Result<Vec<usize>, ScenarioError> {
    let names = written.split('+');
    let names = names.map(|name| Spanned::new(span.clone(), name.to_owned()));
    own_links(source, file, &Spanned::new(span.clone(), names.collect()))
}

/// Returns the canonical name. A controller's name alone means a single path with it, and
/// a hyphen may replace an underscore.
pub fn full_name(file: &File, name: &Text) -> Text {
    let text = name.get_ref();
    if own(file, text).is_some() {
        return name.clone();
    }
    let (how, links) = text.split_at(text.find('@').unwrap_or(text.len()));
    let scheduler = |name: &str| {
        let kind = name.parse::<SchedulerKind>();
        kind.map_or_else(|_| name.to_owned(), |kind| kind.name().to_owned())
    };
    let controller = |name: &str| Some(name.parse::<ControllerKind>().ok()?.to_string());
    let how = match how.split_once('/') {
        Some((first, second)) => {
            let second = controller(second).unwrap_or_else(|| second.to_owned());
            format!("{}/{second}", scheduler(first))
        }
        None => match controller(how) {
            Some(controller) => format!("{}/{controller}", SchedulerKind::Single.name()),
            None => scheduler(how),
        },
    };
    Spanned::new(name.span(), how + links)
}

fn defined(source: &Source, file: &File, name: &str) -> Result<SystemSpec, ScenarioError> {
    let entry = file.system.find(name).cloned().unwrap_or_default();
    let mut spec = SessionSpec::default();
    if let Some(text) = &entry.scheduler {
        let name = text.get_ref();
        if !spec.set_scheduler(name, &source.custom) {
            let known = schedulers().chain(source.custom.scheduler_names());
            let message = unknown_name("there is no scheduler", name, known);
            return Err(source.error(text.span(), message));
        }
    }
    if let Some(text) = &entry.prefer {
        let preference = text.get_ref().parse::<Preference>();
        spec.preference =
            preference.map_err(|error| source.error(text.span(), error.to_string()))?;
    }
    if let Some(text) = &entry.without {
        spec.ablations = receivers::without(source, text, spec.scheduler)?;
    }
    if let Some(text) = &entry.protection {
        let parsed = text.get_ref().parse::<ProtectionKind>();
        let wrong = |error: UnknownName| source.error(text.span(), error.to_string());
        spec.protection = parsed.map_err(wrong)?;
    }
    if let Some(text) = &entry.level {
        let level = text.get_ref().parse::<Level>();
        spec.level = level.map_err(|error| source.error(text.span(), error.to_string()))?;
    }
    if let Some(text) = &entry.reports {
        let reporting = text.get_ref().parse::<Reporting>();
        spec.reporting = reporting.map_err(|error| source.error(text.span(), error.to_string()))?;
    }
    if let Some(text) = &entry.controller {
        spec.controller = Some(controller(source, text.get_ref(), text.span())?);
    }
    if let Some(text) = &entry.allocator {
        let parsed = text.get_ref().parse::<AllocatorKind>();
        let wrong = |error: UnknownName| source.error(text.span(), error.to_string());
        spec.allocator = Some(parsed.map_err(wrong)?);
    }
    spec.receiver = receivers::profile(source, &entry)?;
    spec.repair_decoding = receivers::repair_decoding(source, &entry)?;
    let links = entry.links.as_ref();
    let links = links.map(|names| own_links(source, file, names));
    Ok(SystemSpec {
        name: name.to_owned(),
        kind: SystemKind::Session(spec),
        links: links.transpose()?,
    })
}

/// Parses SCHEDULER[/CONTROLLER][@LINK[+LINK...]], or floor[/RATE] with links.
fn named(
    source: &Source,
    file: &File,
    name: &str,
    span: Range<usize>,
) -> Result<SystemSpec, ScenarioError> {
    let (how, links) = match name.split_once('@') {
        Some((how, links)) => (how, Some(links)),
        None => (name, None),
    };
    let (first, second) = match how.split_once('/') {
        Some((first, second)) => (first, Some(second)),
        None => (how, None),
    };
    let kind = match first {
        FLOOR => SystemKind::Floor(floor_rate(source, second, &span)?),
        _ => SystemKind::Session(session(source, file, (first, second), &span)?),
    };
    let links = links.map(|names| links_of_name(source, file, names, &span));
    Ok(SystemSpec {
        name: name.to_owned(),
        kind,
        links: links.transpose()?,
    })
}

fn session(
    source: &Source,
    file: &File,
    (scheduler, second): (&str, Option<&str>),
    span: &Range<usize>,
) -> Result<SessionSpec, ScenarioError> {
    let mut spec = SessionSpec::default();
    if !spec.set_scheduler(scheduler, &source.custom) {
        let alone = ControllerKind::ADAPTIVE.iter().filter(|_| second.is_none());
        let known = schedulers().chain(alone.map(|kind| kind.name()));
        let known = known.chain([FLOOR]).chain(file.system.names());
        let known = known.chain(source.custom.scheduler_names());
        let message = unknown_name("there is no system", scheduler, known);
        return Err(source.error(span.clone(), message));
    }
    if let Some(text) = second {
        spec.controller = Some(controller(source, text, span.clone())?);
    }
    Ok(spec)
}

fn floor_rate(
    source: &Source,
    written: Option<&str>,
    span: &Range<usize>,
) -> Result<Rate, ScenarioError> {
    match written {
        None => Ok(FloorSetup::default().rate),
        Some(text) => quantity::rate(text).map_err(|message| source.error(span.clone(), message)),
    }
}

/// Returns every single link, then all together: the default comparison. Links in series
/// are not compared singly. The locations are those of the links.
pub fn default_names(file: &File) -> Vec<Text> {
    let links = &file.links;
    let single = match is_chain(file) {
        true => vec![Spanned::new(links.span(), WEBRTC.to_owned())],
        false => {
            let names = links.get_ref().0.iter().map(|(link, _)| link);
            let at =
                |link: &Text| Spanned::new(link.span(), format!("{WEBRTC}@{}", link.get_ref()));
            names.map(at).collect()
        }
    };
    let all = Spanned::new(links.span(), SchedulerKind::default().to_string());
    single.into_iter().chain([all]).collect()
}

/// Whether there are links in series.
fn is_chain(file: &File) -> bool {
    file.topology == Some(Topology::ParkingLot) && file.links.get_ref().0.len() > 1
}

fn controller(
    source: &Source,
    name: &str,
    span: Range<usize>,
) -> Result<ControllerKind, ScenarioError> {
    let parsed = name.parse::<ControllerKind>();
    let custom = |error| source.custom.controller(name).ok_or(error);
    parsed
        .or_else(custom)
        .map_err(|error: ControllerKindError| {
            let own: Vec<String> = source
                .custom
                .controllers
                .iter()
                .map(|each| format!("`{}`", each.name()))
                .collect();
            let own = match own.is_empty() {
                true => String::new(),
                false => format!(", or a controller of this program: {}", own.join(", ")),
            };
            source.error(span, format!("{error}{own}"))
        })
}

/// Returns the parallel links that a system may use.
fn own_links(
    source: &Source,
    file: &File,
    names: &Spanned<Vec<Text>>,
) -> Result<Vec<usize>, ScenarioError> {
    if names.get_ref().is_empty() {
        let remedy = "`links` is empty: name at least one, or remove it";
        return Err(source.error(names.span(), remedy));
    }
    if is_chain(file) {
        let remedy = "in a parking lot every system's call crosses all links, or those in its `via`: \
                      name the system without links, or write topology = \"parallel\"";
        return Err(source.error(names.span(), remedy));
    }
    links::positions(source, file.links.get_ref(), names.get_ref())
}

#[cfg(test)]
mod tests;
