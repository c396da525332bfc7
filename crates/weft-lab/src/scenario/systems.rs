//! Systems: how a call uses its links. A name says it all, such as
//! `webrtc@wifi` or `weft/gcc_deployed@wifi+lte`, or stands for a
//! `[system.NAME]` of the file.

use std::ops::Range;

use toml::Spanned;
use weft_cc::ControllerKind;
use weft_session::protection::UnknownProtection;
use weft_session::{Ablation, Level, ProtectionKind, SchedulerKind};

use super::file::{File, Text, Topology};
use super::place::{ScenarioError, Source};
use crate::names::unknown_name;

/// Plain WebRTC: one path, the controller as browsers have it.
const WEBRTC: &str = "webrtc";

/// The systems that Converge was compared with, by the names of its paper
/// (Converge, section 5): WebRTC whose paths are migrated between or scheduled.
const RIVALS: [(&str, SchedulerKind, Level); 4] = [
    ("webrtc-cm", SchedulerKind::Migrate, Level::SenderSide),
    ("m-rtp", SchedulerKind::Mprtp, Level::Full),
    ("m-tput", SchedulerKind::Throughput, Level::Full),
    ("srtt", SchedulerKind::MinRtt, Level::Full),
];

/// How a call uses its links.
#[derive(Clone, PartialEq, Debug)]
pub struct SystemSpec {
    /// The name in results.
    pub name: String,
    /// Which packet goes over which path.
    pub scheduler: SchedulerKind,
    /// What is left out of the scheduler.
    pub ablation: Ablation,
    /// How many repair packets there are.
    pub protection: ProtectionKind,
    /// The controller of every path.
    pub controller: ControllerKind,
    /// What the two ends know of paths.
    pub level: Level,
    /// Positions of the links it may use; none: all of them.
    pub links: Option<Vec<usize>>,
}

/// The system of this name.
pub fn system(source: &Source, file: &File, name: &Text) -> Result<SystemSpec, ScenarioError> {
    match file.system.find(name.get_ref()) {
        Some(_) => defined(source, file, name.get_ref()),
        None => named(source, file, name.get_ref(), name.span()),
    }
}

/// The one name of what may have several: a controller's alone means that of
/// a single path, and a hyphen will do for an underscore.
pub fn full_name(file: &File, name: &Text) -> Text {
    let text = name.get_ref();
    if file.system.find(text).is_some() {
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
    let mut spec = default_system(name);
    if let Some(text) = &entry.scheduler {
        let name = text.get_ref();
        if !spec.set_scheduler(name) {
            let message = unknown_name("there is no scheduler", name, schedulers());
            return Err(source.error(text.span(), message));
        }
    }
    if let Some(text) = &entry.without {
        let ablation = text.get_ref().parse::<Ablation>();
        spec.ablation = ablation.map_err(|error| source.error(text.span(), error.to_string()))?;
    }
    if let Some(text) = &entry.protection {
        let parsed = text.get_ref().parse::<ProtectionKind>();
        let wrong = |error: UnknownProtection| source.error(text.span(), error.to_string());
        spec.protection = parsed.map_err(wrong)?;
    }
    if let Some(text) = &entry.controller {
        spec.controller = controller(source, text.get_ref(), text.span())?;
    }
    if let Some(names) = &entry.links {
        spec.links = Some(own_links(source, file, names)?);
    }
    Ok(spec)
}

/// SCHEDULER[/CONTROLLER][@LINK[+LINK...]].
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
    let mut spec = default_system(name);
    if !spec.set_scheduler(first) {
        let alone = ControllerKind::ADAPTIVE.iter().filter(|_| second.is_none());
        let known = schedulers().chain(alone.map(|kind| kind.name()));
        let known = known.chain(file.system.names());
        let message = unknown_name("there is no system", first, known);
        return Err(source.error(span, message));
    }
    if let Some(text) = second {
        spec.controller = controller(source, text, span.clone())?;
    }
    if let Some(names) = links {
        let names = names.split('+');
        let names = names.map(|name| Spanned::new(span.clone(), name.to_owned()));
        let names = Spanned::new(span.clone(), names.collect());
        spec.links = Some(own_links(source, file, &names)?);
    }
    Ok(spec)
}

/// The system of a scenario that compares none.
pub fn default_system(name: &str) -> SystemSpec {
    SystemSpec {
        name: name.to_owned(),
        scheduler: SchedulerKind::default(),
        ablation: Ablation::None,
        protection: ProtectionKind::default(),
        controller: ControllerKind::Gcc,
        level: Level::Full,
        links: None,
    }
}

/// Every single link, then all together: what is compared unless the file
/// says otherwise. One behind the other no link is single. The places are
/// those of the links.
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

/// Whether there are links one behind the other.
fn is_chain(file: &File) -> bool {
    file.topology == Some(Topology::ParkingLot) && file.links.get_ref().0.len() > 1
}

impl SystemSpec {
    /// By its name, or that of a system that was published; `false` if there
    /// is none.
    fn set_scheduler(&mut self, name: &str) -> bool {
        if name == WEBRTC {
            self.scheduler = SchedulerKind::Single;
            self.protection = ProtectionKind::None;
            self.controller = ControllerKind::GccDeployed;
            self.level = Level::SenderSide;
            return true;
        }
        if let Some((_, scheduler, level)) = RIVALS.iter().find(|(rival, ..)| *rival == name) {
            self.scheduler = *scheduler;
            self.protection = ProtectionKind::WebrtcTable;
            self.controller = ControllerKind::GccDeployed;
            self.level = *level;
            return true;
        }
        let Ok(scheduler) = name.parse() else {
            return false;
        };
        self.scheduler = scheduler;
        true
    }
}

/// What [`SystemSpec::set_scheduler`] knows.
fn schedulers<'a>() -> impl Iterator<Item = &'a str> {
    let published = [WEBRTC].into_iter().chain(RIVALS.map(|(name, ..)| name));
    published.chain(SchedulerKind::ALL.iter().map(|kind| kind.name()))
}

fn controller(
    source: &Source,
    name: &str,
    span: Range<usize>,
) -> Result<ControllerKind, ScenarioError> {
    let parsed = name.parse::<ControllerKind>();
    parsed.map_err(|error| source.error(span, error.to_string()))
}

/// The links that a system may use, which are links beside each other.
fn own_links(
    source: &Source,
    file: &File,
    names: &Spanned<Vec<Text>>,
) -> Result<Vec<usize>, ScenarioError> {
    if names.get_ref().is_empty() {
        let remedy = "`links` is empty: name at least one, or leave it away";
        return Err(source.error(names.span(), remedy));
    }
    if is_chain(file) {
        let remedy = "in a parking lot a call crosses every link, or those in its `via`, whatever the system: \
                      name the system without links, or write topology = \"parallel\"";
        return Err(source.error(names.span(), remedy));
    }
    links(source, file, names.get_ref())
}

/// The positions of links, each named once.
pub fn links(source: &Source, file: &File, names: &[Text]) -> Result<Vec<usize>, ScenarioError> {
    let known = file.links.get_ref();
    let mut found = Vec::new();
    for name in names {
        let text = name.get_ref();
        let Some(at) = known.position(text) else {
            let message = unknown_name("there is no link", text, known.names());
            return Err(source.error(name.span(), message));
        };
        if found.contains(&at) {
            let message = format!("link `{text}` is named twice: keep one");
            return Err(source.error(name.span(), message));
        }
        found.push(at);
    }
    Ok(found)
}
