//! Scenario files: from text to setups.
//!
//! A file is read into a tree. `--set` and each system's own values are merged into it,
//! and the result is read and checked as a whole, once for each system. An error in any
//! of them therefore names its own location.

mod cells;
mod checks;
mod custom;
mod fields;
mod file;
mod flows;
mod items;
mod links;
mod measured;
mod media;
mod named;
mod names;
mod notes;
mod people;
mod place;
mod published;
mod quantity;
mod receivers;
mod scalar;
mod sweep;
mod system_spec;
mod systems;
mod traces;
mod tree;
mod vary;
mod wiring;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use weft_experiment::{FlowSetup, Hop, Setup, SetupError};
use weft_session::Policy;
use weft_units::Duration;

use crate::measure::metrics::{self, Owners};
use crate::statistics::Centre;
use checks::check_numbers;
use file::File;
use flows::{Conditions, Flow, Ways};
use links::Topology;
use measured::{measure_from, sections};
use names::Files;
use place::Text;
use tree::Tree;
use vary::{Case, Varied};
use wiring::Wiring;

pub use custom::Custom;
pub use file::By;
pub use place::{ScenarioError, Source};
pub use published::Published;
pub use quantity::time;
pub use system_spec::{SessionSpec, SystemKind, SystemSpec};
pub use traces::Traces;
pub use vary::Axis;

/// Default number of seeds of a run; chosen by us: Student's t falls below 2.8 there, and
/// a laptop needs only seconds.
const DEFAULT_SEEDS: u32 = 5;
/// Maximum length of a run with the sampling period of short runs; chosen by us: longer
/// than any embedded scenario.
const LONGEST_FINE: Duration = Duration::from_secs(900);
/// Name of the only system if nothing is compared.
const ALL: &str = "all";

/// Scenario that can be run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Set and name, such as `demo/aqm`: from the file's path.
    pub name: String,
    /// The text and its origin.
    pub source: Source,
    /// One line.
    pub title: String,
    /// A paragraph on its purpose and its expected result.
    pub about: String,
    /// Seeds 1 to this number are run.
    pub seeds: u32,
    /// Start of the measurement; metrics ignore earlier times.
    pub measure_from: Duration,
    /// Start and end of each part that is measured separately.
    pub sections: Vec<(Duration, Duration)>,
    /// Mean or median over the seeds.
    pub centre: Centre,
    /// Metrics to report; empty for all that apply.
    pub metrics: Vec<String>,
    /// System that others are compared with, if one is named; otherwise the best call
    /// over one link.
    pub baseline: Option<String>,
    /// Varied fields with their values.
    pub axes: Vec<Axis>,
    /// Runs: every system with every varied value.
    pub variants: Vec<Variant>,
    /// Values measured by others.
    pub published: Vec<Published>,
    /// Whether the published values apply to these variants: `--set` varies only fields
    /// that the file varies.
    pub is_as_published: bool,
}

/// One system under one set of conditions.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Name in results: the system's, and the varied values.
    pub name: String,
    /// System of its calls: scheduler, protection, controller, links.
    pub system: SystemSpec,
    /// Varied keys and their values.
    pub case: Vec<(String, String)>,
    /// Setup for the simulator, with the first of several traces.
    pub setup: Setup,
    /// Names of its links in the file, by their positions in `system`.
    pub links: Vec<String>,
    /// Links of each seed, if they differ.
    pub traces: Traces,
    /// Positions of the flows that the results are about: the calls under test, or all
    /// flows if there is no call.
    pub focus: Vec<usize>,
}

impl Scenario {
    /// Reads a file; `set` are the arguments of `--set`.
    ///
    /// # Errors
    /// The first error found, with location and remedy.
    pub fn read(path: &Path, set: &[String]) -> Result<Scenario, ScenarioError> {
        Scenario::read_with(path, set, &Custom::default())
    }

    /// Reads a file that may name the controllers and schedulers of this program.
    ///
    /// # Errors
    /// The errors of [`Scenario::read`].
    pub fn read_with(
        path: &Path,
        set: &[String],
        custom: &Custom,
    ) -> Result<Scenario, ScenarioError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| {
            let remedy = "give the path of a scenario file, or the name of a set; `weft lab list` shows them";
            ScenarioError::whole(&name, format!("{error}: {remedy}"))
        })?;
        Scenario::parse_with(&name, &text, set, custom)
    }

    /// Reads a text; `file` is its name in messages.
    ///
    /// # Errors
    /// The errors of [`Scenario::read`].
    pub fn parse(file: &str, text: &str, set: &[String]) -> Result<Scenario, ScenarioError> {
        Scenario::parse_with(file, text, set, &Custom::default())
    }

    /// Reads a text that may name the controllers and schedulers of this program.
    ///
    /// # Errors
    /// The errors of [`Scenario::read`].
    pub fn parse_with(
        file: &str,
        text: &str,
        set: &[String],
        custom: &Custom,
    ) -> Result<Scenario, ScenarioError> {
        let source = Source {
            custom: custom.clone(),
            ..Source::new(file, text, set)?
        };
        let scenario = build(&source)?;
        Ok(Scenario { source, ..scenario })
    }

    /// Returns the pairs of flows for which metrics are requested, each once.
    #[must_use]
    pub fn pairs(&self) -> Vec<&str> {
        let published = self.published.iter();
        let published =
            published.flat_map(|entry| [Some(&entry.metric), entry.relative_metric.as_ref()]);
        let published = published.flatten();
        let names = self.metrics.iter().chain(published);
        let pairs: BTreeSet<&str> = names.filter_map(|name| metrics::pair(name)).collect();
        pairs.into_iter().collect()
    }

    /// Returns the length of a run.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.variants
            .first()
            .map_or(Duration::ZERO, |v| v.setup.duration)
    }
}

fn build(source: &Source) -> Result<Scenario, ScenarioError> {
    let mut tree = tree::parse(source)?;
    let sets = tree::take_sets(source, &mut tree)?;
    let file = read_tree(source, tree.clone())?;
    check_numbers(source, &file)?;
    let systems = system_names(source, &file)?;
    let axes = vary::axes(source, &file, &tree)?;
    let cases = vary::cases(source, &axes, systems.len())?;
    let mut variants = Vec::new();
    let mut files = Files::default();
    for case in &cases {
        for name in &systems {
            let mut tree = tree.clone();
            let own = systems::own(&file, name.get_ref()).map(|(own, _)| own);
            let set = sets.iter().find(|(of, _)| Some(of.as_str()) == own);
            if let Some((_, set)) = set {
                tree::merge(&mut tree, set.clone());
            }
            for varied in case {
                for key in &varied.keys {
                    let over = tree::dotted(key, varied.place.clone(), &varied.value);
                    tree::change(source, &mut tree, over)?;
                }
            }
            let file = read_tree(source, tree)?;
            check_numbers(source, &file)?;
            names::check_owners(source, &file)?;
            let variant = variant(source, &file, name, case)?;
            files.add(source, &variant.name, name)?;
            variants.push(variant);
        }
    }
    let baseline = baseline(source, &file, &systems)?;
    let mut owners = tree::owners([&tree].into_iter().chain(sets.iter().map(|(_, set)| set)));
    owners.sections = sections(source, &file)?.len();
    let traces = variants.iter().map(|v| v.traces.names().count() as u32);
    let traces = traces.max().filter(|n| *n > 0);
    let seeds = file.seeds.as_ref().map(|n| *n.get_ref());
    let seeds = seeds.or(traces).unwrap_or(DEFAULT_SEEDS);
    Ok(Scenario {
        name: short_name(&source.file),
        source: source.clone(),
        title: file.title.clone(),
        about: file.about.trim().to_owned(),
        seeds,
        measure_from: measure_from(&file),
        sections: sections(source, &file)?,
        centre: file.centre,
        metrics: asked(source, &file, &owners)?,
        baseline,
        is_as_published: !vary::has_more(source, &file),
        published: published::published(source, &file, &owners)?,
        axes,
        variants,
    })
}

fn read_tree(source: &Source, mut tree: Tree<'_>) -> Result<File, ScenarioError> {
    flows::sort_by_kind(source, &mut tree)?;
    let whole = toml::Spanned::new(0..0, tree);
    let read = File::deserialize(toml::Deserializer::from(whole));
    read.map_err(|error| tree::told(source, &error))
}

/// Returns the sampling period: the default in runs of up to a quarter of an hour, and
/// whole seconds in longer ones, so that no run keeps more samples than one of that
/// length.
fn sample_period(setup: &Setup) -> Duration {
    let most = LONGEST_FINE.as_nanos() / setup.sample_every.as_nanos();
    let seconds = setup
        .duration
        .as_nanos()
        .div_ceil(most)
        .div_ceil(1_000_000_000);
    match setup.duration > LONGEST_FINE {
        true => Duration::from_secs(seconds),
        false => setup.sample_every,
    }
}

/// Whether a flow uses its links like the compared system.
fn has_compared(file: &File) -> bool {
    let mut flows = file.flows.get_ref().0.iter().map(|(_, f)| f.get_ref());
    flows.any(Flow::is_compared)
}

/// Returns the systems to run, with the location of each name.
fn system_names(source: &Source, file: &File) -> Result<Vec<Text>, ScenarioError> {
    let names = match &file.systems {
        Some(names) => {
            let names = names.get_ref().iter();
            names.map(|name| systems::full_name(file, name)).collect()
        }
        None if !file.system.0.is_empty() => {
            file.system.0.iter().map(|(name, _)| name.clone()).collect()
        }
        None if has_compared(file) => systems::default_names(file),
        None => vec![toml::Spanned::new(file.flows.span(), ALL.to_owned())],
    };
    if let (true, Some(written)) = (names.is_empty(), &file.systems) {
        let remedy = "`systems` is empty: name some, or remove it";
        return Err(source.error(written.span(), remedy));
    }
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            let message = format!("system `{}` is named twice: keep one", name.get_ref());
            return Err(source.error(name.span(), message));
        }
    }
    Ok(names)
}

fn variant(
    source: &Source,
    file: &File,
    name: &Text,
    case: &Case,
) -> Result<Variant, ScenarioError> {
    let own = systems::own(file, name.get_ref()).is_some();
    let plain = !has_compared(file) && !own && name.get_ref() == ALL;
    let system = if plain {
        system_spec::default_system(name.get_ref())
    } else {
        systems::system(source, file, name)?
    };
    let mut setup = Setup::new(file.duration.get_ref().0);
    setup.sample_every = sample_period(&setup);
    setup.measure_from = measure_from(file);
    let Wiring {
        setups: mut links,
        hops,
    } = wiring::wiring(source, file)?;
    setup.flows = read_flows(source, file, &system, &hops)?;
    people::spread(source, file, &mut links, &mut setup.flows)?;
    let traces = Traces::pair(&links);
    let traces = traces.map_err(|message| source.error(file.links.span(), message))?;
    // A link always has at least one setup.
    setup.links = links
        .into_iter()
        .flat_map(|link| link.into_iter().next())
        .map(|(_, setup)| setup)
        .collect();
    let checked = setup.check();
    checked.map_err(|error| source.error(guilty(&error, file), error.to_string()))?;
    let flows = file.flows.get_ref().0.iter().enumerate();
    let mut focus: Vec<usize> = flows
        .filter(|(_, (_, f))| f.get_ref().is_compared())
        .map(|(i, _)| i)
        .collect();
    if focus.is_empty() {
        let flows = file.flows.get_ref().0.iter().enumerate();
        let groups = flows.filter(|(_, (_, f))| f.get_ref().is_conference());
        focus = groups.map(|(i, _)| i).collect();
    }
    if focus.is_empty() {
        focus = (0..setup.flows.len()).collect();
    }
    let values: Vec<&str> = case.iter().map(|varied| varied.words.as_str()).collect();
    let name = match (values.is_empty(), plain) {
        (true, _) => system.name.clone(),
        (false, true) => values.join(", "),
        (false, false) => format!("{} ({})", system.name, values.join(", ")),
    };
    let pairs = |varied: &Varied| -> Vec<(String, String)> {
        let value = varied.value.get_ref().text();
        let keys = varied.keys.iter();
        keys.map(|key| (key.clone(), value.to_owned())).collect()
    };
    Ok(Variant {
        name,
        system,
        case: case.iter().flat_map(pairs).collect(),
        setup,
        links: file.links.get_ref().names().map(str::to_owned).collect(),
        traces,
        focus,
    })
}

fn read_flows(
    source: &Source,
    file: &File,
    compared: &SystemSpec,
    hops: &[(Hop, Policy)],
) -> Result<Vec<FlowSetup>, ScenarioError> {
    let topology = topology(source, file)?;
    let flows = file.flows.get_ref().0.iter();
    let read = flows.map(|(name, written)| {
        let own = match written.get_ref().ways() {
            Ways::Own(name) | Ways::Each(Some(name)) => {
                let name = systems::full_name(file, name);
                Some(systems::system(source, file, &name)?)
            }
            Ways::One | Ways::Named | Ways::Compared | Ways::Each(None) => None,
        };
        let conditions = Conditions {
            source,
            duration: file.duration.get_ref().0,
            links: file.links.get_ref(),
            hops,
            topology,
            system: own.as_ref().unwrap_or(compared),
        };
        let whole = written.span();
        written.get_ref().read(name, whole, &conditions)
    });
    read.collect()
}

/// Returns the location of the setting that prevents the run.
fn guilty(error: &SetupError, file: &File) -> Range<usize> {
    let flows = &file.flows.get_ref().0;
    let of_flow = |name: &str| {
        let named = flows.iter().find(|(flow, _)| flow.get_ref() == name);
        named.map(|(flow, _)| flow.span())
    };
    let found = match error {
        SetupError::UnknownLink { flow, .. }
        | SetupError::Stations { flow, .. }
        | SetupError::RouteLength { flow, .. }
        | SetupError::Routes { flow, .. }
        | SetupError::NeverRuns { flow, .. }
        | SetupError::Servers { flow, .. }
        | SetupError::BadFlow { flow, .. } => of_flow(flow),
        SetupError::TooLong { time, .. } => {
            let mut times = flows.iter().flat_map(|(_, f)| f.get_ref().access_times());
            times
                .find(|given| given.get_ref().0 == *time)
                .map(toml::Spanned::span)
        }
        SetupError::Zero { .. } | SetupError::TooManySamples { .. } => Some(file.duration.span()),
        SetupError::Repeated { .. } => None,
    };
    found.unwrap_or(file.flows.span())
}

fn topology(source: &Source, file: &File) -> Result<Topology, ScenarioError> {
    let links = file.links.get_ref().0.len();
    match file.topology {
        Some(Topology::Dumbbell) if links > 1 => {
            let remedy = "a dumbbell has one link: write topology = \"parallel\" for links beside each \
                          other, or \"parking-lot\" for links one behind the other";
            Err(source.error(file.links.span(), remedy))
        }
        Some(topology) => Ok(topology),
        None if links > 1 => Ok(Topology::Parallel),
        None => Ok(Topology::Dumbbell),
    }
}

fn baseline(source: &Source, file: &File, names: &[Text]) -> Result<Option<String>, ScenarioError> {
    match &file.baseline {
        Some(name) => {
            let full = systems::full_name(file, name);
            if names.contains(&full) {
                return Ok(Some(full.into_inner()));
            }
            // `--systems` may have omitted it; an unknown name is an error.
            systems::system(source, file, &full).map(|_| None)
        }
        None => Ok(None),
    }
}

fn asked(source: &Source, file: &File, owners: &Owners) -> Result<Vec<String>, ScenarioError> {
    let mut names = Vec::new();
    for text in file.metrics.iter().flatten() {
        metrics::check_name(text.get_ref(), owners)
            .map_err(|message| source.error(text.span(), message))?;
        names.push(text.get_ref().clone());
    }
    metrics::complete(&mut names);
    Ok(names)
}

/// Shortens a path: `.../scenarios/demo/aqm.toml` is `demo/aqm`.
fn short_name(file: &str) -> String {
    let path = Path::new(file);
    let stem = path
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let parent = path
        .parent()
        .and_then(Path::file_name)
        .map(|s| s.to_string_lossy().into_owned());
    match parent {
        Some(set) if set != "scenarios" => format!("{set}/{stem}"),
        _ => stem,
    }
}

#[cfg(test)]
mod tests;
