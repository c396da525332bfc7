//! Cells with links as stations: a medium shared by several links, or a separate one.

use std::ops::Range;

use weft_experiment::LinkSetup;
use weft_links::{LinkSpec, StationId};

use super::file::File;
use super::items::{Items, Written};
use super::media::{CellKind, CellSpec, LinkDirection};
use super::place::{ScenarioError, Source};
use crate::names::unknown_name;

type Result<T> = std::result::Result<T, ScenarioError>;

/// Cells of a file: those of its media, then those of single links.
pub struct Cells<'a> {
    cells: Vec<Cell<'a>>,
    media: usize,
}

struct Cell<'a> {
    name: &'a str,
    place: Range<usize>,
    spec: CellSpec,
    /// Names of the stations.
    stations: Vec<String>,
    /// Position of its link in the run, once it has a station.
    setup: Option<usize>,
}

/// Start of a link in a cell.
#[derive(Clone, Copy)]
pub struct Station {
    /// Position among the file's cells, in the order of their appearance.
    pub cell: usize,
    pub id: StationId,
}

impl<'a> Cells<'a> {
    /// Creates the cells of the file's media, without stations.
    pub fn of(source: &Source, file: &'a File) -> Result<Cells<'a>> {
        let media = file.media.0.iter();
        let cells = media.map(|(name, written)| {
            let medium = written.get_ref();
            let name_of = name.get_ref().as_str();
            let kinds = CellKind::ALL.map(CellKind::as_str);
            if kinds.contains(&name_of) {
                let message = format!("a link with medium = \"{name_of}\" has a cell to itself: call this medium otherwise");
                return Err(source.error(name.span(), message));
            }
            let Some(kind) = medium.kind() else {
                let remedy = kinds.map(|kind| format!("kind = \"{kind}\"")).join(" or ");
                let message = format!("medium `{name_of}` has no kind: add {remedy}");
                return Err(source.error(name.span(), message));
            };
            let Some(known) = CellKind::named(kind.get_ref()) else {
                let what = "there is no kind of medium";
                let message = unknown_name(what, kind.get_ref(), kinds.into_iter());
                return Err(source.error(kind.span(), message));
            };
            let pairs: Vec<_> = medium.keys().map(|(key, text)| (key, text.get_ref().as_str())).collect();
            let spec = known.cell(&pairs).map_err(|error| {
                let guilty = medium.keys().find(|(key, _)| error.key() == Some(key));
                let span = guilty.map_or(written.span(), |(_, text)| text.span());
                source.error(span, format!("medium `{name_of}`: {error}"))
            })?;
            Ok(Cell {
                name: name_of,
                place: name.span(),
                spec,
                stations: Vec::new(),
                setup: None,
            })
        });
        let cells: Vec<Cell<'_>> = cells.collect::<Result<_>>()?;
        Ok(Cells {
            media: cells.len(),
            cells,
        })
    }

    /// Makes the link a station of the medium that it names.
    pub fn join(&mut self, link: &Written<'a>) -> Result<Station> {
        let (medium, span) = link
            .there
            .find("medium")
            .unwrap_or(("", link.whole.clone()));
        if let Some((other, span)) = link.back.find("medium").filter(|(back, _)| *back != medium) {
            let message = format!(
                "link `{}` goes there on medium `{medium}` and back on `{other}`: keep one",
                link.name
            );
            return Err(link.source.error(span, message));
        }
        let own = CellKind::named(medium);
        let index = if let Some(kind) = own {
            self.own(link, kind)?
        } else {
            let media = &self.cells[..self.media];
            let found = media.iter().position(|cell| cell.name == medium);
            found.ok_or_else(|| {
                let kinds = CellKind::ALL.map(CellKind::as_str);
                let known = media.iter().map(|cell| cell.name).chain(kinds);
                let message = unknown_name("there is no medium", medium, known);
                link.source.error(span, message)
            })?
        };
        let cell = &mut self.cells[index];
        let kind = cell.spec.kind();
        let there = link.station(&link.there, kind, own.is_some())?;
        let back = link.station(&link.back, kind, own.is_some())?;
        let (up, down): (Vec<_>, Vec<_>) = (there.pairs().collect(), back.pairs().collect());
        let id = StationId(cell.spec.len() as u16);
        let differs = cell.spec.add(&up, &down).map_err(|(way, error)| {
            let guilty = match way {
                LinkDirection::There => &there,
                LinkDirection::Back => &back,
            };
            guilty.blame(link.source, link.name, &error, link.whole.clone())
        })?;
        if own.is_some() {
            // Packets in the backward direction wait at the access point.
            let differs = |key| there.find(key).map(|t| t.0) != back.find(key).map(|b| b.0);
            let limits = there.find("queue").is_some() || differs("queue");
            let read = cell.spec.queue_back(&down, limits);
            read.map_err(|error| back.blame(link.source, link.name, &error, link.whole.clone()))?;
        } else if differs {
            let message = format!(
                "link `{}`: packets back wait in the queue of medium `{medium}`: give it in [media.{medium}]",
                link.name
            );
            return Err(link.source.error(link.whole.clone(), message));
        }
        cell.stations.push(link.name.to_owned());
        if let Err(error) = cell.spec.check() {
            let message = format!("medium `{}`: {error}", cell.name);
            return Err(link.source.error(link.whole.clone(), message));
        }
        Ok(Station { cell: index, id })
    }

    /// Returns the position of the cell's link in the run, `next` if it has none yet.
    pub fn setup(&mut self, cell: usize, next: usize) -> usize {
        *self.cells[cell].setup.get_or_insert(next)
    }

    /// Stores the cells in their positions, and names their access points.
    pub fn finish(
        self,
        source: &Source,
        setups: &mut [Vec<(String, LinkSetup)>],
    ) -> Result<Vec<StationId>> {
        let finish = |(index, cell): (usize, Cell<'_>)| {
            let Cell { name, place, .. } = cell;
            let Some(position) = cell.setup else {
                let message = format!(
                    "medium `{name}` has no stations: add medium = \"{name}\" to a link, or remove the medium"
                );
                return Err(source.error(place, message));
            };
            let access_point = StationId(cell.stations.len() as u16);
            let stations = match index < self.media {
                true => {
                    let own = format!("{name}-ap");
                    cell.stations.into_iter().chain([own]).collect()
                }
                false => LinkSetup::there_and_back(name),
            };
            let medium = cell.spec.medium();
            let medium = medium.map_err(|message| source.error(place, message))?;
            let setup = LinkSetup {
                name: name.to_owned(),
                medium,
                stations,
                place: None,
            };
            setups[position] = vec![(String::new(), setup)];
            Ok(access_point)
        };
        self.cells.into_iter().enumerate().map(finish).collect()
    }

    /// Creates a cell for this link alone.
    fn own(&mut self, link: &Written<'a>, kind: CellKind) -> Result<usize> {
        let (of_cell, _) = link.there.split(kind.of_own_cell());
        let pairs: Vec<_> = of_cell.pairs().collect();
        let spec = kind
            .cell(&pairs)
            .map_err(|error| of_cell.blame(link.source, link.name, &error, link.whole.clone()))?;
        self.cells.push(Cell {
            name: link.name,
            place: link.whole.clone(),
            spec,
            stations: Vec::new(),
            setup: None,
        });
        Ok(self.cells.len() - 1)
    }
}

impl Written<'_> {
    /// Returns the keys of the station; all other keys must belong to its own cell.
    fn station(&self, items: &Items, kind: CellKind, own: bool) -> Result<Items> {
        let of_own_cell = kind.of_own_cell();
        let (station, other) = items.split(kind.of_station());
        let (_, other) = other.split(&["medium"]);
        let mut other = other.keys();
        let foreign = other.find(|(key, _)| !own || !of_own_cell.contains(key));
        let Some((key, span)) = foreign else {
            return Ok(station);
        };
        let name = self.name;
        let message = match of_own_cell.contains(&key) {
            true => format!(
                "link `{name}`: `{key}` is of the medium that it shares: give it in its [media.NAME]"
            ),
            false => match CellKind::ALL
                .into_iter()
                .find(|other| other.of_station().contains(&key))
            {
                Some(other) => format!(
                    "link `{name}` is {}, and `{key}` is of {}: keep one of the two",
                    kind.station(),
                    other.station()
                ),
                None if LinkSpec::KEYS.contains(&key) => format!(
                    "link `{name}` is a station of a medium, and `{key}` makes it a wired link: keep one of the two"
                ),
                None => {
                    let own = if own { of_own_cell } else { &[] };
                    let known = kind.of_station().iter().chain(own).copied();
                    let what = format!("link `{name}`: {} has no key", kind.station());
                    unknown_name(&what, key, known)
                }
            },
        };
        Err(self.source.error(span, message))
    }
}

/// Explains why, and where, a link without a medium looks like a station.
pub fn misses_its_medium(items: &Items) -> Option<(String, Range<usize>)> {
    let of = |kind: CellKind, keys: &[&'static str]| {
        let found = keys.iter().find_map(|key| Some((key, items.find(key)?.1)));
        found.map(|(key, span)| (format!("`{key}`"), span, kind))
    };
    let rate = items
        .find("rate")
        .filter(|(rate, _)| rate.starts_with("mcs") || ["ideal", "minstrel"].contains(rate));
    let rate = rate.map(|(rate, span)| (format!("rate {rate}"), span, CellKind::Wifi));
    let found = of(CellKind::Wifi, &["standard", "guard"]).or(rate);
    let found = found.or_else(|| of(CellKind::Lte, &["cqi", "rank", "motion", "handovers"]));
    let (what, span, kind) = found?;
    let message = format!(
        "{what} is of {}, and it is on no medium: add medium = \"{}\" for a cell of its own, or the name of a [media.NAME]",
        kind.station(),
        kind.as_str()
    );
    Some((message, span))
}
