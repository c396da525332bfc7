use super::ids::StationId;
use super::lte::{LteError, LteSpec};
#[cfg(any(test, feature = "testing"))]
use super::token_ring::TokenRingSpec;
use super::wifi::{WifiError, WifiSpec};
use super::wired;
use crate::spec::values;
use crate::{LinkSpec, SpecError};
#[cfg(any(test, feature = "testing"))]
use weft_units::Duration;
use weft_units::Rng;

/// Specification of a medium: its kind and its stations.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumSpec(KindSpec);

#[derive(Clone, PartialEq, Debug)]
pub(super) enum KindSpec {
    Wired(Box<[LinkSpec; 2]>),
    Wifi(Box<WifiSpec>),
    Lte(Box<LteSpec>),
    #[cfg(any(test, feature = "testing"))]
    TokenRing(Box<TokenRingSpec>),
}

impl MediumSpec {
    /// Creates two stations that share nothing:
    /// [`WiredDirection::Forward`](crate::WiredDirection) carries the packets of the
    /// first one, `Backward` those of the second.
    #[must_use]
    pub fn wired(forward: LinkSpec, backward: LinkSpec) -> MediumSpec {
        MediumSpec(KindSpec::Wired(Box::new([forward, backward])))
    }

    /// Creates a WiFi cell: its stations in the order of the specification, followed by
    /// the access point.
    ///
    /// # Errors
    /// If the cell is impossible.
    pub fn wifi(spec: WifiSpec) -> Result<MediumSpec, WifiError> {
        spec.check()?;
        Ok(MediumSpec(KindSpec::Wifi(Box::new(spec))))
    }

    /// Creates an LTE cell: its terminals in the order of the specification, followed by
    /// the base station.
    ///
    /// # Errors
    /// If the cell is impossible.
    pub fn lte(spec: LteSpec) -> Result<MediumSpec, LteError> {
        spec.check()?;
        Ok(MediumSpec(KindSpec::Lte(Box::new(spec))))
    }

    /// Reads a cell of one station, if the text has `medium=wifi`
    /// ([`WifiSpec`]) or `medium=lte` ([`LteSpec`]).
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
    pub fn cell(text: &str) -> Result<Option<MediumSpec>, SpecError> {
        MediumSpec::cell_with_way_back(text, "")
    }

    /// Reads a cell of one station like [`MediumSpec::cell`]; `back` has the
    /// keys of the station that differ in the reverse direction.
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
    pub fn cell_with_way_back(text: &str, back: &str) -> Result<Option<MediumSpec>, SpecError> {
        let mut items = text.split(',').filter_map(|item| item.split_once('='));
        let medium = items.find(|(key, _)| key.trim() == "medium");
        let Some((_, kind)) = medium else {
            return Ok(None);
        };
        let kind = match kind.trim() {
            "wifi" => KindSpec::Wifi(Box::new(WifiSpec::of_one(text, back)?)),
            "lte" => KindSpec::Lte(Box::new(LteSpec::of_one(text, back)?)),
            other => return Err(values::bad("medium", other, "the media are wifi and lte")),
        };
        Ok(Some(MediumSpec(kind)))
    }

    /// Creates two stations that take turns on one channel, for tests: one sends a packet
    /// at the capacity of `station`, then the other one can send after `pass`.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn token_ring(station: LinkSpec, pass: Duration) -> MediumSpec {
        MediumSpec(KindSpec::TokenRing(Box::new(TokenRingSpec {
            station,
            pass,
        })))
    }

    /// Returns the WiFi cell, if the medium is one.
    #[must_use]
    pub fn wifi_spec(&self) -> Option<&WifiSpec> {
        match &self.0 {
            KindSpec::Wifi(cell) => Some(cell),
            _ => None,
        }
    }

    /// Returns the LTE cell, if the medium is one.
    #[must_use]
    pub fn lte_spec(&self) -> Option<&LteSpec> {
        match &self.0 {
            KindSpec::Lte(cell) => Some(cell),
            _ => None,
        }
    }

    /// Returns the number of stations.
    #[must_use]
    pub fn station_count(&self) -> u16 {
        match &self.0 {
            KindSpec::Wired(_) => 2,
            KindSpec::Wifi(cell) => cell.stations.len() as u16 + 1,
            KindSpec::Lte(cell) => cell.terminals.len() as u16 + 1,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => 2,
        }
    }

    /// Returns the stations in order; the last one of a cell is its access point or base
    /// station.
    pub fn stations(&self) -> impl Iterator<Item = StationId> + use<> {
        (0..self.station_count()).map(StationId)
    }

    /// Returns whether the medium carries packets between these stations: in a cell, only
    /// to and from the last one, its access point or base station.
    #[must_use]
    pub fn carries(&self, from: StationId, to: StationId) -> bool {
        let middle = StationId(self.station_count() - 1);
        from != to && (from == middle || to == middle)
    }

    /// Returns the link on which only this station sends, with a known capacity. `None`
    /// if stations share the medium.
    #[must_use]
    pub fn link(&self, station: StationId) -> Option<&LinkSpec> {
        match &self.0 {
            KindSpec::Wired(links) => links.get(usize::from(station.0)),
            KindSpec::Wifi(_) | KindSpec::Lte(_) => None,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    /// Returns the link like [`MediumSpec::link`], but mutable.
    #[must_use]
    pub fn link_mut(&mut self, station: StationId) -> Option<&mut LinkSpec> {
        match &mut self.0 {
            KindSpec::Wired(links) => links.get_mut(usize::from(station.0)),
            KindSpec::Wifi(_) | KindSpec::Lte(_) => None,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    /// Gives seeds to generated traces that have none: this generator draws the part of
    /// each direction alone, `place` the part that both directions share. Pass the same
    /// `place` for all media with a common shared part, or otherwise this generator
    /// again.
    pub fn seed_traces(&mut self, rng: &Rng, place: &Rng) {
        match &mut self.0 {
            KindSpec::Wired(links) => wired::seed_traces(links, rng, place),
            KindSpec::Wifi(_) | KindSpec::Lte(_) => {}
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => {}
        }
    }

    pub(super) fn kind(&self) -> &KindSpec {
        &self.0
    }
}
