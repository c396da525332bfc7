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

/// A medium to be made: its kind and what each station is like.
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
    /// Two stations that share nothing: [`WiredDirection::Forward`](crate::WiredDirection)
    /// is what the first one sends, `Backward` what the second one does.
    #[must_use]
    pub fn wired(forward: LinkSpec, backward: LinkSpec) -> MediumSpec {
        MediumSpec(KindSpec::Wired(Box::new([forward, backward])))
    }

    /// A WiFi cell: its stations in the order of the specification, and behind
    /// them the access point.
    ///
    /// # Errors
    /// When there can be no such cell.
    pub fn wifi(spec: WifiSpec) -> Result<MediumSpec, WifiError> {
        spec.check()?;
        Ok(MediumSpec(KindSpec::Wifi(Box::new(spec))))
    }

    /// A cell of LTE: its terminals in the order of the specification, and
    /// behind them the base station.
    ///
    /// # Errors
    /// When there can be no such cell.
    pub fn lte(spec: LteSpec) -> Result<MediumSpec, LteError> {
        spec.check()?;
        Ok(MediumSpec(KindSpec::Lte(Box::new(spec))))
    }

    /// A cell of one station, if this is one: a specification with
    /// `medium=wifi` ([`WifiSpec`]) or `medium=lte` ([`LteSpec`]).
    ///
    /// # Errors
    /// With the key, the value and the remedy.
    pub fn cell(text: &str) -> Result<Option<MediumSpec>, SpecError> {
        MediumSpec::cell_with_way_back(text, "")
    }

    /// The same, in which `back` has the keys of the station that differ on the
    /// way back.
    ///
    /// # Errors
    /// With the key, the value and the remedy.
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

    /// Two stations that take turns on one channel, for tests: one sends a
    /// packet at the capacity of `station`, and then `pass` goes by until the
    /// other one can.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn token_ring(station: LinkSpec, pass: Duration) -> MediumSpec {
        MediumSpec(KindSpec::TokenRing(Box::new(TokenRingSpec {
            station,
            pass,
        })))
    }

    /// The WiFi cell, if it is one.
    #[must_use]
    pub fn wifi_spec(&self) -> Option<&WifiSpec> {
        match &self.0 {
            KindSpec::Wifi(cell) => Some(cell),
            _ => None,
        }
    }

    /// The cell of LTE, if it is one.
    #[must_use]
    pub fn lte_spec(&self) -> Option<&LteSpec> {
        match &self.0 {
            KindSpec::Lte(cell) => Some(cell),
            _ => None,
        }
    }

    /// How many stations there are.
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

    /// In order; of a cell the last one is what stands in its middle.
    pub fn stations(&self) -> impl Iterator<Item = StationId> + use<> {
        (0..self.station_count()).map(StationId)
    }

    /// Whether it carries packets from one of these stations to the other: in a
    /// cell, those to and from the one in the middle, which is the last.
    #[must_use]
    pub fn carries(&self, from: StationId, to: StationId) -> bool {
        let middle = StationId(self.station_count() - 1);
        from != to && (from == middle || to == middle)
    }

    /// The link that only this station sends on, if there is one: then its
    /// capacity is known beforehand. `None` where stations share.
    #[must_use]
    pub fn link(&self, station: StationId) -> Option<&LinkSpec> {
        match &self.0 {
            KindSpec::Wired(links) => links.get(usize::from(station.0)),
            KindSpec::Wifi(_) | KindSpec::Lte(_) => None,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    /// The same, to change it.
    #[must_use]
    pub fn link_mut(&mut self, station: StationId) -> Option<&mut LinkSpec> {
        match &mut self.0 {
            KindSpec::Wired(links) => links.get_mut(usize::from(station.0)),
            KindSpec::Wifi(_) | KindSpec::Lte(_) => None,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    /// Gives the generated traces that have no seeds those that this generator
    /// draws: each direction what is its own. What it has in common with the
    /// other one, `place` draws: that of all media which have the same there, or
    /// this generator again.
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
