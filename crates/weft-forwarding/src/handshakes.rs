//! Queue of DTLS datagrams, each of which may cost a signature. Media does not wait for
//! them, and connections take turns.

use crate::early::EarlyChecks;
use crate::waiting::Waiting;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use weft_peer::{MAX_DATAGRAM, PeerKey};
use weft_units::{Ecn, FiveTuple};

/// Maximum number of datagrams between two checks of the clock. Chosen by us: two
/// milliseconds of work.
const TURN: usize = 8;
/// Maximum number of waiting datagrams of one connection. Further ones are dropped, and
/// their senders repeat them (RFC 9147 section 5.8). Chosen by us: two flights with a
/// certificate chain.
const MOST: usize = 16;

/// Waiting datagrams of handshakes.
#[derive(Default)]
pub(crate) struct Handshakes {
    waiting: BTreeMap<PeerKey, VecDeque<Waiting>>,
    /// Peer that had the last turn.
    last: Option<PeerKey>,
    /// Datagrams handled in this turn.
    taken: usize,
    /// Checks that arrived before an answer.
    pub(crate) early: EarlyChecks,
}

impl Handshakes {
    /// Whether a datagram belongs to a handshake, by its first byte (RFC 7983 section 7).
    /// A datagram that is too long for any peer does not.
    pub(crate) fn concern(datagram: &[u8]) -> bool {
        matches!(datagram, [20..=63, ..]) && datagram.len() <= MAX_DATAGRAM
    }

    /// Whether this datagram of a connection may be handled at once. Otherwise it is
    /// queued or dropped.
    pub(crate) fn admits(
        &mut self,
        owner: PeerKey,
        tuple: FiveTuple,
        ecn: Ecn,
        datagram: &[u8],
    ) -> bool {
        if self.taken < TURN && self.waiting.is_empty() {
            self.taken += 1;
            return true;
        }
        let row = self.waiting.entry(owner).or_default();
        if row.len() < MOST {
            row.push_back(Waiting {
                tuple,
                ecn,
                datagram: datagram.to_vec(),
            });
        }
        false
    }

    /// Returns the next datagrams after media had its turn, one of each connection in turn.
    pub(crate) fn next_turn(&mut self) -> Vec<Waiting> {
        let mut next = Vec::new();
        while next.len() < TURN
            && let Some(owner) = self.next_owner()
        {
            self.last = Some(owner);
            let row = self.waiting.entry(owner).or_default();
            next.extend(row.pop_front());
            if row.is_empty() {
                self.waiting.remove(&owner);
            }
        }
        self.taken = next.len();
        next
    }

    fn next_owner(&self) -> Option<PeerKey> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut later = self.waiting.range((after, Bound::Unbounded));
        let next = later.next().or_else(|| self.waiting.first_key_value());
        next.map(|(owner, _)| *owner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    const FLOODS: PeerKey = PeerKey(7);
    const JOINS: PeerKey = PeerKey(9);

    fn admits(handshakes: &mut Handshakes, owner: PeerKey) -> bool {
        let tuple = FiveTuple::udp(
            SocketAddr::from(([10, 0, 0, 1], 1)),
            SocketAddr::from(([10, 0, 0, 9], owner.0 as u16)),
        );
        handshakes.admits(owner, tuple, Ecn::NotEct, &[22, 1])
    }

    #[test]
    fn handshakes_come_in_turns() {
        let mut handshakes = Handshakes::default();
        let at_once = (0..2_000).filter(|_| admits(&mut handshakes, FLOODS));
        assert_eq!(at_once.count(), TURN);
        let mut handled = 0;
        while !handshakes.is_empty() {
            let turn = handshakes.next_turn().len();
            assert!(turn <= TURN);
            handled += turn;
        }
        assert_eq!(handled, MOST);
    }

    #[test]
    fn a_flood_of_one_connection_takes_no_turn_from_another() {
        let mut handshakes = Handshakes::default();
        for _ in 0..2_000 {
            admits(&mut handshakes, FLOODS);
        }
        for _ in 0..4 {
            assert!(!admits(&mut handshakes, JOINS));
        }
        let turn = handshakes.next_turn();
        let joins = turn
            .iter()
            .filter(|waiting| waiting.tuple.remote.port() == 9);
        assert_eq!((turn.len(), joins.count()), (TURN, 4));
    }
}
