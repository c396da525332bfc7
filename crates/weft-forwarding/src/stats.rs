//! Statistics for the operator.

use crate::plane::Plane;

/// Totals since the start, except for present numbers and values of the last second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Connections that publish at present.
    pub publications: u64,
    /// Connections that play at present.
    pub playbacks: u64,
    /// Media packets received.
    pub packets_received: u64,
    /// Media packets sent to players.
    pub packets_forwarded: u64,
    /// Packets dropped for players that cannot receive them.
    pub packets_thinned: u64,
    /// Datagrams dropped as unusable.
    pub datagrams_dropped: u64,
    /// Datagrams that the system did not send. The owner of the sockets counts them; a
    /// plane reports none.
    pub datagrams_unsent: u64,
    /// TCP connections that carry media at present. The thread of the plane counts them
    /// and the next value; a plane reports none.
    pub tcp_connections: u64,
    /// Datagrams dropped because TCP connections were too slow.
    pub tcp_dropped: u64,
    /// Keyframes requested from publishers.
    pub keyframe_requests: u64,
    /// Messages on data channels that were forwarded, one for each receiver.
    pub messages_passed: u64,
    /// Messages on data channels that were dropped: from senders above their rate, from
    /// viewers, and to receivers that do not accept them.
    pub messages_dropped: u64,
    /// Packets lost between planes because one was too slow. The owner of the planes
    /// counts them; a plane reports none.
    pub relayed_lost: u64,
    /// Processor time in the last second, in milliseconds. The thread of the plane
    /// measures it; a plane reports none.
    pub busy: u64,
    /// Longest turn of the plane's thread in the last second, in microseconds: packets
    /// may have waited this long. Measured like `busy`; with several planes, the longest.
    pub lag: u64,
}

impl Stats {
    /// Adds the statistics of two planes.
    #[must_use]
    pub fn and(self, other: Stats) -> Stats {
        Stats {
            publications: self.publications + other.publications,
            playbacks: self.playbacks + other.playbacks,
            packets_received: self.packets_received + other.packets_received,
            packets_forwarded: self.packets_forwarded + other.packets_forwarded,
            packets_thinned: self.packets_thinned + other.packets_thinned,
            datagrams_dropped: self.datagrams_dropped + other.datagrams_dropped,
            datagrams_unsent: self.datagrams_unsent + other.datagrams_unsent,
            tcp_connections: self.tcp_connections + other.tcp_connections,
            tcp_dropped: self.tcp_dropped + other.tcp_dropped,
            keyframe_requests: self.keyframe_requests + other.keyframe_requests,
            messages_passed: self.messages_passed + other.messages_passed,
            messages_dropped: self.messages_dropped + other.messages_dropped,
            relayed_lost: self.relayed_lost + other.relayed_lost,
            busy: self.busy + other.busy,
            lag: self.lag.max(other.lag),
        }
    }
}

impl Plane {
    /// Statistics for the operator, which are counted as they change.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let totals = self.traffic.totals();
        let peers = &self.peers;
        Stats {
            publications: self.connected.publications,
            playbacks: self.connected.playbacks,
            packets_received: totals.received,
            packets_forwarded: totals.forwarded,
            packets_thinned: self.traffic.total_thinned(),
            keyframe_requests: totals.keyframe_requests,
            datagrams_dropped: peers.unroutable() + peers.discarded(),
            datagrams_unsent: 0,
            tcp_connections: 0,
            tcp_dropped: 0,
            messages_passed: self.topics.passed,
            messages_dropped: self.topics.dropped,
            relayed_lost: 0,
            busy: 0,
            lag: 0,
        }
    }
}
