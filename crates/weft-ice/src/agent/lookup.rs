//! Questions about pairs that several parts of the agent ask.

use super::Agent;
use super::pair::Pair;
use crate::types::IceRole;
use weft_units::{FiveTuple, PathId};

impl Agent {
    pub(super) fn indices(&self, which: impl Fn(&Pair) -> bool) -> impl Iterator<Item = usize> {
        let pairs = self.pairs.iter().enumerate();
        pairs.filter(move |(_, p)| which(p)).map(|(i, _)| i)
    }

    pub(super) fn find(&self, tuple: FiveTuple) -> Option<usize> {
        self.pairs.iter().position(|p| p.path.tuple == tuple)
    }

    pub(super) fn by_id(&self, id: PathId) -> Option<usize> {
        self.pairs.iter().position(|p| p.has_id(id))
    }

    pub(super) fn is_selected(&self, pair: &Pair) -> bool {
        self.selection.path.is_some_and(|id| pair.has_id(id))
    }

    /// Whether paths are being checked because one looks dead: then call
    /// [`Agent::set_media`] before each input.
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        self.suspicion.is_some()
    }

    /// Nomination value in this pair's checks.
    pub(super) fn nomination(&self, index: usize) -> Option<u32> {
        let pair = &self.pairs[index];
        let selected = pair.is_valid() && self.selection.path.is_some_and(|id| pair.has_id(id));
        (selected && self.role == IceRole::Controlling).then_some(self.selection.nomination)
    }
}
