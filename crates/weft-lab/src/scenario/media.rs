//! Media that links share, in scenario files, and the properties of their kinds.

use serde::Deserialize;
use toml::Spanned;
use weft_links::{LteSpec, LteTerminal, MediumSpec, SpecError, WifiSpec, WifiStation};

use super::named::Named;
use super::place::Text;
use super::scalar::{Scalar, text_of};

/// A medium that links share: its kind, and the keys of such a cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Named<Spanned<Scalar>>")]
pub struct Medium(Named<Text>);

impl From<Named<Spanned<Scalar>>> for Medium {
    fn from(written: Named<Spanned<Scalar>>) -> Medium {
        let entries = written.0.into_iter();
        Medium(Named(
            entries.map(|(key, value)| (key, text_of(&value))).collect(),
        ))
    }
}

impl Medium {
    /// Returns the kind.
    pub fn kind(&self) -> Option<&Text> {
        self.0.find("kind")
    }

    /// Iterates over all other keys.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &Text)> {
        let all = self.0.0.iter();
        let keys = all.map(|(key, text)| (key.get_ref().as_str(), text));
        keys.filter(|(key, _)| *key != "kind")
    }
}

/// Kinds of cells by name, including those with a single link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellKind {
    Wifi,
    Lte,
}

/// A cell that stations join.
pub enum CellSpec {
    Wifi(WifiSpec),
    Lte(LteSpec),
}

/// Keys and values of one direction of a link.
pub type Pairs<'p> = &'p [(&'p str, &'p str)];

/// Direction of a link that contains an error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum LinkDirection {
    There,
    Back,
}

impl CellKind {
    pub const ALL: [CellKind; 2] = [CellKind::Wifi, CellKind::Lte];

    pub fn named(name: &str) -> Option<CellKind> {
        CellKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            CellKind::Wifi => "wifi",
            CellKind::Lte => "lte",
        }
    }

    /// Returns the name of one of its stations.
    pub const fn station(self) -> &'static str {
        match self {
            CellKind::Wifi => "a WiFi station",
            CellKind::Lte => "an LTE terminal",
        }
    }

    /// Returns the keys of a link that describe its own cell, not its station.
    pub const fn of_own_cell(self) -> &'static [&'static str] {
        match self {
            CellKind::Wifi => WifiSpec::OF_OWN_CELL,
            CellKind::Lte => LteSpec::OF_OWN_CELL,
        }
    }

    /// Returns the keys of a link that describe its station.
    pub const fn of_station(self) -> &'static [&'static str] {
        match self {
            CellKind::Wifi => WifiStation::KEYS,
            CellKind::Lte => LteSpec::OF_TERMINAL,
        }
    }

    /// Creates a cell without stations.
    pub fn cell(self, keys: Pairs<'_>) -> Result<CellSpec, SpecError> {
        let keys = keys.iter().copied();
        Ok(match self {
            CellKind::Wifi => CellSpec::Wifi(WifiSpec::of_keys(keys)?),
            CellKind::Lte => CellSpec::Lte(LteSpec::of_keys(keys)?),
        })
    }
}

impl CellSpec {
    pub const fn kind(&self) -> CellKind {
        match self {
            CellSpec::Wifi(_) => CellKind::Wifi,
            CellSpec::Lte(_) => CellKind::Lte,
        }
    }

    /// Returns the number of stations, without the central one.
    pub fn len(&self) -> usize {
        match self {
            CellSpec::Wifi(cell) => cell.stations.len(),
            CellSpec::Lte(cell) => cell.terminals.len(),
        }
    }

    /// Adds a station with the settings of both directions. Returns whether the backward
    /// direction requests its own queue, which is impossible on a shared medium.
    pub fn add(
        &mut self,
        there: Pairs<'_>,
        back: Pairs<'_>,
    ) -> Result<bool, (LinkDirection, SpecError)> {
        let in_way = |way| move |error| (way, error);
        match self {
            CellSpec::Wifi(cell) => {
                let read =
                    |keys: Pairs<'_>| WifiStation::of_keys(cell.standard, keys.iter().copied());
                let up = read(there).map_err(in_way(LinkDirection::There))?;
                let down = read(back).map_err(in_way(LinkDirection::Back))?;
                let differs = (up.queue, up.aqm) != (down.queue, down.aqm);
                let station = up.with_way_back(&down);
                cell.stations
                    .push(station.map_err(in_way(LinkDirection::Back))?);
                Ok(differs)
            }
            CellSpec::Lte(cell) => {
                let read = |keys: Pairs<'_>| LteTerminal::of_keys(keys.iter().copied());
                let up = read(there).map_err(in_way(LinkDirection::There))?;
                let down = read(back).map_err(in_way(LinkDirection::Back))?;
                let differs = (up.queue, up.aqm) != (down.queue, down.aqm);
                let terminal = up.with_way_back(&down);
                cell.terminals
                    .push(terminal.map_err(in_way(LinkDirection::Back))?);
                Ok(differs)
            }
        }
    }

    /// Sets the backward queue of a cell with one station to these keys.
    pub fn queue_back(&mut self, back: Pairs<'_>, limits: bool) -> Result<(), SpecError> {
        let back = back.iter().copied();
        match self {
            CellSpec::Wifi(cell) => {
                let down = WifiStation::of_keys(cell.standard, back)?;
                cell.queue_back(&down, limits);
            }
            CellSpec::Lte(cell) => {
                let down = LteTerminal::of_keys(back)?;
                cell.queue_back(&down, limits);
            }
        }
        Ok(())
    }

    /// Returns the reason why such a cell is impossible.
    pub fn check(&self) -> Result<(), String> {
        match self {
            CellSpec::Wifi(cell) => cell.check().map_err(|error| error.to_string()),
            CellSpec::Lte(cell) => cell.check().map_err(|error| error.to_string()),
        }
    }

    /// Returns the medium.
    pub fn medium(self) -> Result<MediumSpec, String> {
        match self {
            CellSpec::Wifi(cell) => MediumSpec::wifi(cell).map_err(|error| error.to_string()),
            CellSpec::Lte(cell) => MediumSpec::lte(cell).map_err(|error| error.to_string()),
        }
    }
}
