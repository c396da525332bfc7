use std::collections::BTreeMap;

use weft_units::{Instant, PathId, Ssrc, StreamId};

use super::{Numbering, Path, PathState};
use crate::small_map::SmallMap;

/// Most paths that are down but remembered in case they return. Chosen by us: more links
/// than a machine loses at a time.
const MOST_DOWN: usize = 4;

/// Paths of a session, in the order of their ids.
///
/// Every packet iterates over all of them, so paths that are gone must be removed.
#[derive(Default)]
pub(crate) struct Paths {
    known: SmallMap<PathId, Path>,
    /// Numbers with which later paths of the same ids start: at most 256.
    ended: BTreeMap<PathId, Numbering>,
    /// Packets that left on removed paths.
    sent_before: u64,
    /// Time of the last feedback on a removed path.
    heard_before: Option<Instant>,
}

impl Paths {
    pub fn get(&self, id: &PathId) -> Option<&Path> {
        self.known.get(id)
    }

    pub fn get_mut(&mut self, id: &PathId) -> Option<&mut Path> {
        self.known.get_mut(id)
    }

    /// Returns the path with this id; creates it if it does not exist.
    pub fn get_or_insert_with(
        &mut self,
        id: PathId,
        make: impl FnOnce(Numbering) -> Path,
    ) -> &mut Path {
        let ended = &mut self.ended;
        self.known
            .get_or_insert_with(id, || make(ended.remove(&id).unwrap_or_default()))
    }

    /// Removes a path and keeps the numbers that a later one continues. Returns false if
    /// the id is unknown.
    pub fn remove(&mut self, id: PathId) -> bool {
        let Some(path) = self.known.remove(&id) else {
            return false;
        };
        self.sent_before += path.counters.sent_packets;
        self.heard_before = self.heard_before.max(path.heard_at());
        self.ended.insert(id, path.into_numbering());
        for path in self.known.values_mut() {
            path.queue.remove_copies_on(id);
        }
        true
    }

    /// Forgets a stream's packets and numbers on all paths.
    pub fn remove_stream(&mut self, stream: StreamId, ssrcs: &[Ssrc]) {
        for path in self.known.values_mut() {
            path.queue.retain(|waiting| waiting.stream != stream);
            path.sending.numbering.remove_stream(ssrcs);
        }
        for numbering in self.ended.values_mut() {
            numbering.remove_stream(ssrcs);
        }
    }

    /// Returns the path that is down and loses the peer's consent first, if more paths
    /// are down than are remembered.
    pub fn surplus(&self) -> Option<PathId> {
        let down = || self.values().filter(|p| p.state == PathState::Down);
        let first = down().min_by_key(|p| (p.consent_until(), p.id));
        first.map(|p| p.id).filter(|_| down().count() > MOST_DOWN)
    }

    /// Returns when feedback last came on any path, including removed ones.
    pub fn heard_at(&self) -> Option<Instant> {
        let heard = self.values().filter_map(Path::heard_at);
        heard.chain(self.heard_before).max()
    }

    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Returns the path if the session has exactly one.
    pub fn only(&self) -> Option<&Path> {
        let mut paths = self.values();
        paths.next().filter(|_| paths.next().is_none())
    }

    /// Returns the id at this position in the order of ids.
    pub fn id_at(&self, place: usize) -> Option<PathId> {
        self.known.key_at(place)
    }

    pub fn values(&self) -> impl Iterator<Item = &Path> {
        self.known.values()
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Path> {
        self.known.values_mut()
    }

    /// Returns whether packets sent on any path may arrive.
    pub fn any_usable(&self) -> bool {
        self.values().any(Path::is_usable)
    }

    /// Returns the number of packets that have left so far, including those on removed
    /// paths.
    pub fn sent_packets(&self) -> u64 {
        let sent = self.values().map(|p| p.counters.sent_packets);
        self.sent_before + sent.sum::<u64>()
    }

    /// Returns the number of packets that feedback can still name.
    pub fn remembered(&self) -> usize {
        self.values().map(|p| p.history.len()).sum()
    }
}
