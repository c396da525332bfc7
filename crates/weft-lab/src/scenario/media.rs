//! Media that links share, as a scenario writes them, and what is known here
//! of their kinds.

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
    /// What it is.
    pub fn kind(&self) -> Option<&Text> {
        self.0.find("kind")
    }

    /// All else that is said of it.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &Text)> {
        let all = self.0.0.iter();
        let keys = all.map(|(key, text)| (key.get_ref().as_str(), text));
        keys.filter(|(key, _)| *key != "kind")
    }
}

/// Kinds of cells, by name: also that of a cell which a link has to itself.
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

/// Keys and values of one way of a link.
pub type Pairs<'p> = &'p [(&'p str, &'p str)];

/// Which way of a link a mistake is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WayOf {
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

    /// Of one of its stations, as people say it.
    pub const fn station(self) -> &'static str {
        match self {
            CellKind::Wifi => "a WiFi station",
            CellKind::Lte => "an LTE terminal",
        }
    }

    /// What a link says of the cell that it has to itself, and not of its
    /// station.
    pub const fn of_own_cell(self) -> &'static [&'static str] {
        match self {
            CellKind::Wifi => WifiSpec::OF_OWN_CELL,
            CellKind::Lte => LteSpec::OF_OWN_CELL,
        }
    }

    /// What a link says of its station.
    pub const fn of_station(self) -> &'static [&'static str] {
        match self {
            CellKind::Wifi => WifiStation::KEYS,
            CellKind::Lte => LteSpec::OF_TERMINAL,
        }
    }

    /// A cell without stations.
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

    /// How many stations there are, without the one in the middle.
    pub fn len(&self) -> usize {
        match self {
            CellSpec::Wifi(cell) => cell.stations.len(),
            CellSpec::Lte(cell) => cell.terminals.len(),
        }
    }

    /// Adds a station with what is said of it there and back. Says whether the
    /// way back has a queue of its own, as it cannot have on a medium that is
    /// shared.
    pub fn add(&mut self, there: Pairs<'_>, back: Pairs<'_>) -> Result<bool, (WayOf, SpecError)> {
        let in_way = |way| move |error| (way, error);
        match self {
            CellSpec::Wifi(cell) => {
                let read =
                    |keys: Pairs<'_>| WifiStation::of_keys(cell.standard, keys.iter().copied());
                let up = read(there).map_err(in_way(WayOf::There))?;
                let down = read(back).map_err(in_way(WayOf::Back))?;
                let differs = (up.queue, up.aqm) != (down.queue, down.aqm);
                let station = up.with_way_back(&down);
                cell.stations.push(station.map_err(in_way(WayOf::Back))?);
                Ok(differs)
            }
            CellSpec::Lte(cell) => {
                let read = |keys: Pairs<'_>| LteTerminal::of_keys(keys.iter().copied());
                let up = read(there).map_err(in_way(WayOf::There))?;
                let down = read(back).map_err(in_way(WayOf::Back))?;
                let differs = (up.queue, up.aqm) != (down.queue, down.aqm);
                let terminal = up.with_way_back(&down);
                cell.terminals.push(terminal.map_err(in_way(WayOf::Back))?);
                Ok(differs)
            }
        }
    }

    /// Of a cell with one station: what comes back waits as these keys say.
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

    /// Why there can be no such cell.
    pub fn check(&self) -> Result<(), String> {
        match self {
            CellSpec::Wifi(cell) => cell.check().map_err(|error| error.to_string()),
            CellSpec::Lte(cell) => cell.check().map_err(|error| error.to_string()),
        }
    }

    /// The medium.
    pub fn medium(self) -> Result<MediumSpec, String> {
        match self {
            CellSpec::Wifi(cell) => MediumSpec::wifi(cell).map_err(|error| error.to_string()),
            CellSpec::Lte(cell) => MediumSpec::lte(cell).map_err(|error| error.to_string()),
        }
    }
}
