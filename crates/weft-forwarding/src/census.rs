//! Counts of all objects in a plane.

use crate::connection::ResourceId;
use crate::plane::Plane;

/// Numbers of all objects in a plane that belong to connections. An object that is stored
/// in several places is counted in each of them; the counts of one kind agree whenever
/// the plane's outputs have been drained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Connections that wait for an answer to our offer.
    pub offered: usize,
    /// Connections with a peer: counted as connections, as peers, and as lookups by peer key.
    pub agreed: [usize; 3],
    /// Pairs of addresses: in the routing table of datagrams, and in the peers' agents.
    pub routes: [usize; 2],
    /// Publications of participants.
    pub publications: usize,
    /// Connected players: in publications and receptions, in the rate control, and in the
    /// operator's statistics.
    pub players: [usize; 3],
    /// Tracks: in publications, and in the router.
    pub tracks: [usize; 2],
    /// Subscriptions: in the router, of players, and the lookups in both directions
    /// between subscriptions and streams.
    pub subscriptions: [usize; 4],
    /// Streams of arriving packets, and streams on which keyframes are requested.
    pub sources: [usize; 2],
    /// Tracks of other planes: by local and by remote name.
    pub imports: [usize; 2],
    /// Open data channels: by connection, and by the label under which they distribute messages.
    pub channels: [usize; 2],
    /// Participants whose sound is not forwarded.
    pub muted: usize,
}

impl Census {
    /// Whether the counts of all objects that are stored in several places agree.
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
    /// Counts all objects.
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
