//! Flows of a scenario: kind, time and links. Each kind has a file with its fields and
//! their meaning.

mod app;
mod call;
mod conference;
mod interconnect;
mod tcp;
mod udp;

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeValue, ValueDeserializer};
use weft_experiment::{FlowKind, FlowSetup, Hop, Route};
use weft_links::TrafficClass;
use weft_session::Policy;
use weft_units::{Duration, Rate};

use super::fields::fields;
use super::links::{self, Link, Topology};
use super::named::Named;
use super::place::{ScenarioError, Source, Text};
use super::quantity::{Speed, Time};
use super::system_spec::SystemSpec;
use super::tree::{self, Tree, table_of};
use crate::names::unknown_name;

type Result<T> = std::result::Result<T, ScenarioError>;

/// Fields that every flow has.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Flow {
    kind: Spanned<Kind>,
    start: Option<Spanned<Time>>,
    stop: Option<Spanned<Time>>,
    via: Option<Spanned<Vec<Text>>>,
    direction: Option<Towards>,
    access_delay: Option<Spanned<Time>>,
    access_jitter: Option<Spanned<Time>>,
    demand: Option<Spanned<Speed>>,
    class: Option<Text>,
}

/// Kind of a flow, with the fields of that kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Call(Box<call::Call>),
    Conference(Box<conference::Conference>),
    Interconnect(interconnect::Interconnect),
    Tcp(Box<tcp::Tcp>),
    Udp(Box<udp::Udp>),
}

impl Kind {
    /// Returns every kind by its name in files, and the names of its fields.
    fn all() -> [(&'static str, &'static [&'static str]); 5] {
        [
            ("call", fields::<call::Call>()),
            ("conference", fields::<conference::Conference>()),
            ("interconnect", fields::<interconnect::Interconnect>()),
            ("tcp", fields::<tcp::Tcp>()),
            ("udp", fields::<udp::Udp>()),
        ]
    }

    fn fields(&self) -> &dyn Fields {
        match self {
            Kind::Call(call) => call.as_ref(),
            Kind::Conference(group) => group.as_ref(),
            Kind::Interconnect(interconnect) => interconnect,
            Kind::Tcp(tcp) => tcp.as_ref(),
            Kind::Udp(udp) => udp.as_ref(),
        }
    }
}

/// Fields of one kind of flow.
trait Fields {
    /// Returns the kind of flow for these fields; `whole` is the location of the flow.
    fn read(&self, conditions: &Conditions<'_>, whole: Range<usize>) -> Result<FlowKind>;

    /// Returns the parallel links that it uses without a `via`.
    fn ways(&self) -> Ways<'_> {
        Ways::One
    }
}

/// Number of parallel links that a flow uses, and what selects them.
pub enum Ways<'a> {
    /// One, named by its `via`.
    One,
    /// One path over each link named by its `via`.
    Named,
    /// A path over each link of the compared system.
    Compared,
    /// A path over each link of this system.
    Own(&'a Text),
    /// A path of each person over each link, with this system or else the compared one.
    Each(Option<&'a Text>),
}

/// Conditions for reading a flow.
pub struct Conditions<'a> {
    pub source: &'a Source,
    /// Length of the run.
    pub duration: Duration,
    pub links: &'a Named<Spanned<Link>>,
    /// Forward hop over each link, with the policy of a call.
    pub hops: &'a [(Hop, Policy)],
    pub topology: Topology,
    /// Its own system, or the compared one.
    pub system: &'a SystemSpec,
}

/// Direction of a flow's data over its links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Towards {
    #[default]
    Forward,
    Backward,
}

/// Moves the fields of a flow's kind into a table of that kind, so that they are read as
/// its fields. A field that the kind does not have is an error..
pub fn sort_by_kind(source: &Source, tree: &mut Tree<'_>) -> Result<()> {
    let Some(flows) = tree.get_mut("flows").and_then(table_of) else {
        return Ok(());
    };
    for (_, flow) in flows.iter_mut() {
        let whole = flow.span();
        let Some(table) = table_of(flow) else {
            continue;
        };
        let Some(kind) = table.get("kind").cloned() else {
            return Err(source.error(whole, "missing field `kind`"));
        };
        let name = Text::deserialize(ValueDeserializer::from(kind));
        let name = name.map_err(|error| tree::told(source, &error))?;
        let own = take_own(source, table, &name)?;
        let own = Spanned::new(whole, DeValue::Table(own));
        let (span, name) = (name.span(), name.into_inner());
        let mut of_kind = Tree::new();
        of_kind.insert(Spanned::new(span.clone(), Cow::Owned(name)), own);
        if let Some(kind) = table.get_mut("kind") {
            *kind = Spanned::new(span, DeValue::Table(of_kind));
        }
    }
    Ok(())
}

/// Removes from this table the fields that only flows of this kind have.
fn take_own<'a>(source: &Source, table: &mut Tree<'a>, kind: &Text) -> Result<Tree<'a>> {
    let kinds = Kind::all();
    let Some((_, own)) = kinds.iter().find(|(name, _)| name == kind.get_ref()) else {
        let known = kinds.iter().map(|(name, _)| *name);
        let message = unknown_name("there is no", kind.get_ref(), known);
        return Err(source.error(kind.span(), message));
    };
    let of_all = fields::<Flow>();
    let (mut taken, mut rest) = (Tree::new(), Tree::new());
    for (field, value) in std::mem::take(table) {
        let name = field.get_ref().as_ref();
        if of_all.contains(&name) {
            rest.insert(field, value);
        } else if own.contains(&name) {
            taken.insert(field, value);
        } else if let Some((other, _)) = kinds.iter().find(|(_, fields)| fields.contains(&name)) {
            let message = format!(
                "`{name}` belongs to a flow of kind \"{other}\", this one is \"{}\": remove it",
                kind.get_ref()
            );
            return Err(source.error(value.span(), message));
        } else {
            let known = of_all.iter().chain(*own).copied();
            let message = unknown_name("there is no field", name, known);
            return Err(source.error(field.span(), message));
        }
    }
    *table = rest;
    Ok(taken)
}

impl Flow {
    /// Returns the parallel links that it uses without a `via`.
    pub fn ways(&self) -> Ways<'_> {
        self.kind.get_ref().fields().ways()
    }

    /// Whether it uses its links as the compared system does.
    pub fn is_compared(&self) -> bool {
        matches!(self.ways(), Ways::Compared)
    }

    /// Whether it is a group of people in a conference.
    pub fn is_conference(&self) -> bool {
        matches!(self.ways(), Ways::Each(_))
    }

    /// Iterates over the access delay and its jitter, if they are given.
    pub fn access_times(&self) -> impl Iterator<Item = &Spanned<Time>> {
        self.access_delay.iter().chain(&self.access_jitter)
    }

    /// Reads the flow of this name; `whole` is its location.
    pub fn read(
        &self,
        name: &Text,
        whole: Range<usize>,
        conditions: &Conditions<'_>,
    ) -> Result<FlowSetup> {
        let (start, stop) = self.times(name.get_ref(), conditions)?;
        let times = [("start", &self.start), ("stop", &self.stop)].into_iter();
        let mut times = times.filter_map(|(field, time)| Some((field, time.as_ref()?)));
        if let (Ways::Named, Some((field, time))) = (self.ways(), times.next()) {
            let message = format!(
                "the servers of a conference are joined for the whole run: remove `{field}`; the steps of a link cut it"
            );
            return Err(conditions.source.error(time.span(), message));
        }
        let kind = self.kind.get_ref().fields().read(conditions, whole)?;
        let routes = self.routes(name, conditions)?;
        Ok(FlowSetup {
            name: name.get_ref().clone(),
            start,
            stop,
            demand: self.demand(conditions.source)?,
            routes,
            class: self.class(conditions.source)?,
            kind,
        })
    }

    fn demand(&self, source: &Source) -> Result<Option<Rate>> {
        let Some(demand) = &self.demand else {
            return Ok(None);
        };
        let rate = demand.get_ref().0;
        if rate == Rate::ZERO {
            let message = "`demand` must be above zero: write for example demand = \"1900kbit\", or remove it to measure the flow alone";
            return Err(source.error(demand.span(), message));
        }
        Ok(Some(rate))
    }

    fn class(&self, source: &Source) -> Result<TrafficClass> {
        let Some(name) = &self.class else {
            return Ok(TrafficClass::default());
        };
        let mut all = TrafficClass::ALL.into_iter();
        let found = all.find(|class| class.name() == name.get_ref());
        found.ok_or_else(|| {
            let known = TrafficClass::ALL.iter().map(|class| class.name());
            let message = unknown_name("there is no class", name.get_ref(), known);
            source.error(name.span(), message)
        })
    }

    fn times(
        &self,
        name: &str,
        conditions: &Conditions<'_>,
    ) -> Result<(Duration, Option<Duration>)> {
        let (source, end) = (conditions.source, conditions.duration);
        let start = self.start.as_ref();
        let start = start.map_or(Duration::ZERO, |at| at.get_ref().0);
        if let Some(at) = self.start.as_ref().filter(|_| start >= end) {
            let message = format!(
                "flow `{name}` starts at {}, after the end of the run at {}: start it earlier, or make `duration` longer",
                seconds(start),
                seconds(end)
            );
            return Err(source.error(at.span(), message));
        }
        let stop = self.stop.as_ref().map(|at| at.get_ref().0);
        if let Some(at) = self.stop.as_ref().filter(|at| at.get_ref().0 <= start) {
            let message = format!(
                "flow `{name}` stops at {}, and starts at {}: let it stop later",
                seconds(at.get_ref().0),
                seconds(start)
            );
            return Err(source.error(at.span(), message));
        }
        Ok((start, stop))
    }

    /// Returns a route for each path of a flow with paths, and one for any other flow.
    fn routes(&self, name: &Text, conditions: &Conditions<'_>) -> Result<Vec<Route>> {
        let (source, links) = (conditions.source, conditions.links);
        if self.is_conference() && self.direction.is_some() {
            let message = format!(
                "the people of group `{}` send and receive over their links: remove `direction`",
                name.get_ref()
            );
            return Err(source.error(name.span(), message));
        }
        let all: Vec<usize> = (0..links.0.len()).collect();
        if let Some(via) = self.via.as_ref().filter(|via| via.get_ref().is_empty()) {
            let message = "`via` is empty: name at least one link, or remove it";
            return Err(source.error(via.span(), message));
        }
        let named = self.via.as_ref();
        let named = named.map(|via| links::positions(source, links, via.get_ref()));
        let named = named.transpose()?;
        let beside = conditions.topology == Topology::Parallel;
        let lists = match self.ways() {
            Ways::Each(_) if beside && named.is_none() && all.len() > 1 => {
                let first = links.names().next().unwrap_or_default();
                let message = format!(
                    "the links are parallel, and group `{}` does not say which its people have: add via = [\"{first}\"]",
                    name.get_ref()
                );
                return Err(source.error(name.span(), message));
            }
            Ways::Compared | Ways::Own(_) | Ways::Each(_) if beside => {
                let chosen = named.or_else(|| conditions.system.links.clone());
                let chosen = chosen.unwrap_or(all);
                chosen.into_iter().map(|link| vec![link]).collect()
            }
            Ways::Named if beside && named.is_some() => {
                let named = named.into_iter().flatten();
                named.map(|link| vec![link]).collect()
            }
            _ if beside && named.is_none() && all.len() > 1 => {
                let first = links.names().next().unwrap_or_default();
                let message = format!(
                    "the links are parallel, and flow `{}` does not say which it takes: add via = [\"{first}\"]",
                    name.get_ref()
                );
                return Err(source.error(name.span(), message));
            }
            _ => vec![named.unwrap_or(all)],
        };
        let routes = lists
            .iter()
            .map(|links| self.route(name, links, conditions));
        routes.collect()
    }

    fn route(&self, name: &Text, links: &[usize], conditions: &Conditions<'_>) -> Result<Route> {
        let policy = self.policy(name, links, conditions)?;
        let hops = links.iter().map(|&link| conditions.hops[link].0);
        let mut hops: Vec<Hop> = hops.collect();
        let twice = |(index, hop): (usize, &Hop)| hops[..index].iter().any(|h| h.link == hop.link);
        if hops.iter().enumerate().any(twice) {
            let message = format!(
                "flow `{}` would cross two stations of one medium, one behind the other: name one of them in its `via`",
                name.get_ref()
            );
            return Err(conditions.source.error(name.span(), message));
        }
        if self.direction == Some(Towards::Backward) {
            hops = hops.iter().rev().map(|hop| hop.reversed()).collect();
        }
        let time =
            |time: &Option<Spanned<Time>>| time.as_ref().map_or(Duration::ZERO, |t| t.get_ref().0);
        Ok(Route {
            hops,
            access_delay: time(&self.access_delay),
            access_jitter: time(&self.access_jitter),
            policy,
        })
    }

    /// Returns the policy of a call for a route. Other flows have no policy.
    fn policy(&self, name: &Text, links: &[usize], conditions: &Conditions<'_>) -> Result<Policy> {
        let policies = links.iter().map(|&link| conditions.hops[link].1);
        let mut told = policies.filter(|policy| *policy != Policy::default());
        let is_call = !matches!(self.ways(), Ways::One | Ways::Named);
        let Some(policy) = told.next().filter(|_| is_call) else {
            return Ok(Policy::default());
        };
        let why = if links.len() > 1 {
            "crosses several links in series, which leave no choice: write topology = \"parallel\""
        } else if self.direction == Some(Towards::Backward) {
            "is sent by the far end, but conditions apply to the near end: make it a forward flow"
        } else {
            return Ok(policy);
        };
        let message = format!(
            "a link has conditions (weight, metered, backup), and flow `{}` {why}, or remove them",
            name.get_ref()
        );
        Err(conditions.source.error(name.span(), message))
    }
}

fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}

/// Returns the names of the kinds, and every field of every kind.
#[cfg(test)]
pub fn words() -> (Vec<&'static str>, Vec<&'static str>) {
    let (kinds, own): (Vec<_>, Vec<_>) = Kind::all().into_iter().unzip();
    let of_all = fields::<Flow>().iter();
    let own = own.into_iter().flatten();
    (kinds, of_all.chain(own).copied().collect())
}
