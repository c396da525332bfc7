use crate::{Direction, LinkSpec};

/// A medium to be made: its kind and what each station is like.
#[derive(Clone, PartialEq, Debug)]
pub struct MediumSpec(Kind);

/// Who sends on a medium and has a queue there, counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct StationId(pub u16);

/// What stations share on a medium, counted from zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ChannelId(pub u16);

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    Wired(Box<[LinkSpec; 2]>),
}

impl MediumSpec {
    /// Two stations that share nothing: [`Direction::Forward`] is what the
    /// first one sends, [`Direction::Backward`] what the second one does.
    #[must_use]
    pub fn wired(forward: LinkSpec, backward: LinkSpec) -> MediumSpec {
        MediumSpec(Kind::Wired(Box::new([forward, backward])))
    }

    /// How many stations there are.
    #[must_use]
    pub fn station_count(&self) -> u16 {
        match &self.0 {
            Kind::Wired(_) => 2,
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
            Kind::Wired(links) => Some(&links[direction.index()]),
        }
    }

    pub(super) fn kind(&self) -> &Kind {
        &self.0
    }
}
