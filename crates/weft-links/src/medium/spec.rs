#[cfg(any(test, feature = "testing"))]
use super::token_ring::TokenRingSpec;
use crate::{Direction, LinkSpec};
#[cfg(any(test, feature = "testing"))]
use weft_units::Duration;

/// A medium to be made: its kind and what each station is like.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumSpec(KindSpec);

/// Who sends on a medium and has a queue there, counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StationId(pub u16);

/// What stations share on a medium, counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChannelId(pub u16);

#[derive(Clone, PartialEq, Debug)]
pub(super) enum KindSpec {
    Wired(Box<[LinkSpec; 2]>),
    #[cfg(any(test, feature = "testing"))]
    TokenRing(Box<TokenRingSpec>),
}

impl MediumSpec {
    /// Two stations that share nothing: [`Direction::Forward`] is what the
    /// first one sends, [`Direction::Backward`] what the second one does.
    #[must_use]
    pub fn wired(forward: LinkSpec, backward: LinkSpec) -> MediumSpec {
        MediumSpec(KindSpec::Wired(Box::new([forward, backward])))
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

    /// How many stations there are.
    #[must_use]
    pub fn station_count(&self) -> u16 {
        match &self.0 {
            KindSpec::Wired(_) => 2,
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => 2,
        }
    }

    /// The stations.
    pub fn stations(&self) -> impl Iterator<Item = StationId> + use<> {
        (0..self.station_count()).map(StationId)
    }

    /// A direction of a wired medium, and what is known of it beforehand;
    /// `None` for any other kind.
    #[must_use]
    pub fn link(&self, direction: Direction) -> Option<&LinkSpec> {
        match &self.0 {
            KindSpec::Wired(links) => Some(&links[direction.index()]),
            #[cfg(any(test, feature = "testing"))]
            KindSpec::TokenRing(_) => None,
        }
    }

    pub(super) fn kind(&self) -> &KindSpec {
        &self.0
    }
}
