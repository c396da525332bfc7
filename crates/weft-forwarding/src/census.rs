//! Counts of everything that a plane holds.

use crate::connection::ResourceId;
use crate::plane::Plane;

/// How much a plane holds of each thing that belongs to a connection. What is
/// held in several places is counted in each: the counts of one thing agree
/// whenever the plane has been drained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Connections that wait for an answer to our offer.
    pub offered: usize,
    /// Connections with a peer: as connections, as peers, and as what a peer's
    /// key leads to.
    pub agreed: [usize; 3],
    /// Pairs of addresses: as datagrams find their peer by, and as the peers'
    /// agents have them.
    pub routes: [usize; 2],
    /// Publications of participants.
    pub publications: usize,
    /// Players that are connected: as publications and receptions have them, as rates
    /// are fitted to, and as the operator's figures say.
    pub players: [usize; 3],
    /// Tracks: of publications, and in the router.
    pub tracks: [usize; 2],
    /// Tracks that are played: in the router, of players, and both ways between
    /// a subscription and its stream.
    pub subscriptions: [usize; 4],
    /// Streams that packets come by, and where keyframes are asked for.
    pub sources: [usize; 2],
    /// Tracks of other planes: by their names here and there.
    pub imports: [usize; 2],
    /// Open data channels: by their connection, and by the label that they distribute.
    pub channels: [usize; 2],
    /// Participants whose sound is not forwarded.
    pub muted: usize,
}

impl Census {
    /// Whether everything that is held in several places is held in all of them.
    #[must_use]
    pub fn agrees(&self) -> bool {
        fn same<const N: usize>(counts: [usize; N]) -> bool {
            counts.iter().all(|count| *count == counts[0])
        }
        same(self.agreed)
            && same(self.routes)
            && same(self.players)
            && same(self.tracks)
            && same(self.subscriptions)
            && same(self.sources)
            && same(self.imports)
            && same(self.channels)
    }
}

impl Plane {
    /// Counts what is held.
    #[must_use]
    pub fn census(&self) -> Census {
        let agreed = self.connections.values().filter(|c| c.peer().is_some());
        let agreed = agreed.count();
        let publications = self.publications.values();
        let receptions = self.connections.values().filter_map(|c| c.reception());
        let receptions = receptions.count();
        let pairs = self
            .peers
            .iter()
            .map(|(_, peer)| peer.association().routes());
        Census {
            offered: self.connections.len() - agreed,
            agreed: [agreed, self.peers.iter().count(), self.resources.len()],
            routes: [self.peers.routes(), pairs.map(Iterator::count).sum()],
            publications: self.publications.len(),
            players: [
                publications
                    .clone()
                    .map(|p| p.players().count())
                    .sum::<usize>()
                    + receptions,
                self.traffic.players(),
                self.stats().playbacks as usize,
            ],
            tracks: [
                publications.map(|p| p.tracks()).sum(),
                self.traffic.tracks(),
            ],
            subscriptions: self.traffic.subscriptions(),
            sources: self.traffic.sources(),
            imports: self.traffic.relays.count(),
            channels: self.topics.count(),
            muted: self.muted.len(),
        }
    }

    /// All connections, in the order of their names.
    pub fn connections(&self) -> impl Iterator<Item = &ResourceId> {
        self.connections.keys()
    }
}
