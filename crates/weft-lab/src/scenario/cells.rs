//! Cells that links are stations of: a medium that several share, or one of
//! their own.

use std::ops::Range;

use weft_experiment::LinkSetup;
use weft_links::{MediumSpec, StationId, WifiSpec, WifiStation};

use super::file::File;
use super::items::{Items, Written};
use super::place::{ScenarioError, Source};
use crate::names::unknown_name;

type Result<T> = std::result::Result<T, ScenarioError>;

/// The one kind of medium that there is beside the wired one, and the name of
/// a cell that a link has to itself.
const WIFI: &str = "wifi";
/// What a link says of the cell that it has to itself, and not of its station.
const OF_OWN_CELL: [&str; 4] = ["standard", "guard", "interference", "delay"];
/// What a link says of its station.
const OF_STATION: [&str; 5] = ["rate", "snr", "queue", "aqm", "ecn"];

/// The cells of a file: those of its media, then those of single links.
pub struct Cells<'a> {
    cells: Vec<Cell<'a>>,
    media: usize,
}

struct Cell<'a> {
    name: &'a str,
    place: Range<usize>,
    spec: WifiSpec,
    /// What the stations are called.
    stations: Vec<String>,
    /// Position of its link in the run, once it has a station.
    setup: Option<usize>,
}

/// Where a link leads from.
#[derive(Clone, Copy)]
pub struct Station {
    /// Of the file's, in the order in which they came up.
    pub cell: usize,
    pub id: StationId,
}

impl<'a> Cells<'a> {
    /// Those of the file's media, without stations.
    pub fn of(source: &Source, file: &'a File) -> Result<Cells<'a>> {
        let media = file.media.0.iter();
        let cells = media.map(|(name, written)| {
            let medium = written.get_ref();
            let name_of = name.get_ref().as_str();
            if name_of == WIFI {
                let message = "a link with medium = \"wifi\" has a cell to itself: call this medium otherwise";
                return Err(source.error(name.span(), message));
            }
            if medium.kind.get_ref() != WIFI {
                let message = unknown_name(
                    "there is no kind of medium",
                    medium.kind.get_ref(),
                    [WIFI].into_iter(),
                );
                return Err(source.error(medium.kind.span(), message));
            }
            let keys = medium.keys();
            let pairs = keys.iter().map(|(key, text)| (*key, text.get_ref().as_str()));
            let spec = WifiSpec::of_keys(pairs).map_err(|error| {
                let guilty = keys.iter().find(|(key, _)| error.key() == Some(key));
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
        let index = if medium == WIFI {
            self.own(link)?
        } else {
            let media = &self.cells[..self.media];
            let found = media.iter().position(|cell| cell.name == medium);
            found.ok_or_else(|| {
                let known = media.iter().map(|cell| cell.name).chain([WIFI]);
                let message = unknown_name("there is no medium", medium, known);
                link.source.error(span, message)
            })?
        };
        let cell = &mut self.cells[index];
        let own = medium == WIFI;
        let there = link.station(&link.there, own)?;
        let back = link.station(&link.back, own)?;
        let standard = cell.spec.standard;
        let read = |items: &Items| {
            let station = WifiStation::of_keys(standard, items.pairs());
            station.map_err(|error| items.blame(link.source, link.name, &error, link.whole.clone()))
        };
        let (up, down) = (read(&there)?, read(&back)?);
        if own {
            // What comes back waits at the access point.
            let differs = |key| there.find(key).map(|t| t.0) != back.find(key).map(|b| b.0);
            if there.find("queue").is_some() || differs("queue") {
                cell.spec.queue = down.queue;
            }
            cell.spec.aqm = down.aqm;
        } else if (up.queue, up.aqm) != (down.queue, down.aqm) {
            let message = format!(
                "link `{}`: what comes back waits in the queue of medium `{medium}`: give it in [media.{medium}]",
                link.name
            );
            return Err(link.source.error(link.whole.clone(), message));
        }
        let id = StationId(cell.spec.stations.len() as u16);
        cell.spec.stations.push(WifiStation {
            down: down.up,
            ..up
        });
        cell.stations.push(link.name.to_owned());
        if let Err(error) = cell.spec.check() {
            let message = format!("medium `{}`: {error}", cell.name);
            return Err(link.source.error(link.whole.clone(), message));
        }
        Ok(Station { cell: index, id })
    }

    /// The position of the cell's link in the run, `next` if it has none yet.
    pub fn setup(&mut self, cell: usize, next: usize) -> usize {
        *self.cells[cell].setup.get_or_insert(next)
    }

    /// Puts the cells in their places, and gives their access points.
    pub fn finish(
        self,
        source: &Source,
        setups: &mut [Vec<(String, LinkSetup)>],
    ) -> Result<Vec<StationId>> {
        let finish = |(index, cell): (usize, Cell<'_>)| {
            let Cell { name, place, .. } = cell;
            let Some(position) = cell.setup else {
                let message = format!(
                    "nobody is on medium `{name}`: let a link be its station with medium = \"{name}\", or remove it"
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
            let medium = MediumSpec::wifi(cell.spec);
            let medium = medium.map_err(|error| source.error(place, error.to_string()))?;
            let setup = LinkSetup {
                name: name.to_owned(),
                medium,
                stations,
            };
            setups[position] = vec![(String::new(), setup)];
            Ok(access_point)
        };
        self.cells.into_iter().enumerate().map(finish).collect()
    }

    /// A cell for this link alone.
    fn own(&mut self, link: &Written<'a>) -> Result<usize> {
        let (of_cell, _) = link.there.split(&OF_OWN_CELL);
        let spec = WifiSpec::of_keys(of_cell.pairs())
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
    /// What of this is said of the station; anything else must be of its own
    /// cell.
    fn station(&self, items: &Items, own: bool) -> Result<Items> {
        let (station, other) = items.split(&OF_STATION);
        let (_, other) = other.split(&["medium"]);
        let mut other = other.keys();
        let foreign = other.find(|(key, _)| !own || !OF_OWN_CELL.contains(key));
        let Some((key, span)) = foreign else {
            return Ok(station);
        };
        let name = self.name;
        let message = match OF_OWN_CELL.contains(&key) {
            true => format!(
                "link `{name}`: `{key}` is of the medium that it shares: give it in its [media.NAME]"
            ),
            false => format!(
                "link `{name}` is a station of a medium, and `{key}` makes it a wired link: keep one of the two"
            ),
        };
        Err(self.source.error(span, message))
    }
}

/// Why a link that names no medium seems to be a station of one, and where.
pub fn misses_its_medium(items: &Items) -> Option<(String, Range<usize>)> {
    let key = ["standard", "guard"].into_iter().find_map(|key| {
        let (_, span) = items.find(key)?;
        Some((format!("`{key}`"), span))
    });
    let rate = items
        .find("rate")
        .filter(|(rate, _)| rate.starts_with("mcs"));
    let rate = rate.map(|(rate, span)| (format!("rate {rate}"), span));
    let (what, span) = key.or(rate)?;
    let message = format!(
        "{what} is of a WiFi station, and it is on no medium: add medium = \"wifi\" for a cell of its own, or the name of a [media.NAME]"
    );
    Some((message, span))
}
