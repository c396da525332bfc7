use super::ids::StationId;
#[cfg(any(test, feature = "testing"))]
use super::token_ring::TokenRingSpec;
use super::wifi::{WifiError, WifiSpec};
use super::wired;
use crate::LinkSpec;
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

    /// A cell: its stations in the order of the specification, and behind them
    /// the access point.
    ///
    /// # Errors
    /// When there can be no such cell.
    pub fn wifi(spec: WifiSpec) -> Result<MediumSpec, WifiError> {
        spec.check()?;
        Ok(MediumSpec(KindSpec::Wifi(Box::new(spec))))
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

    /// The cell, if it is one.
    #[must_use]
    pub fn wifi_spec(&self) -> Option<&WifiSpec> {
        match &self.0 {
            KindSpec::Wifi(cell) => Some(cell),
            KindSpec::Wired(_) => None,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    /// How many stations there are.
    #[must_use]
    pub fn station_count(&self) -> u16 {
        match &self.0 {
            KindSpec::Wired(_) => 2,
            KindSpec::Wifi(cell) => cell.stations.len() as u16 + 1,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => 2,
        }
    }

    /// The stations.
    pub fn stations(&self) -> impl Iterator<Item = StationId> + use<> {
        (0..self.station_count()).map(StationId)
    }

    /// The link that only this station sends on, if there is one: then its
    /// capacity is known beforehand. `None` where stations share.
    #[must_use]
    pub fn link(&self, station: StationId) -> Option<&LinkSpec> {
        match &self.0 {
            KindSpec::Wired(links) => links.get(usize::from(station.0)),
            KindSpec::Wifi(_) => None,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    /// The same, to change it.
    #[must_use]
    pub fn link_mut(&mut self, station: StationId) -> Option<&mut LinkSpec> {
        match &mut self.0 {
            KindSpec::Wired(links) => links.get_mut(usize::from(station.0)),
            KindSpec::Wifi(_) => None,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    /// Gives the generated traces that have no seeds those that this generator
    /// draws: each direction what it has in common with the other, and its own.
    pub fn seed_traces(&mut self, rng: &Rng) {
        match &mut self.0 {
            KindSpec::Wired(links) => wired::seed_traces(links, rng),
            KindSpec::Wifi(_) => {}
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => {}
        }
    }

    pub(super) fn kind(&self) -> &KindSpec {
        &self.0
    }
}
