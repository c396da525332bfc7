//! Datagrams of DTLS, of which each may take a signature: so that media does not
//! wait for many of them, they wait for their turn.

use std::collections::VecDeque;
use std::net::SocketAddr;

use weft_units::Ecn;

/// So many between two looks at the clock. Chosen by us: two milliseconds' worth.
const TURN: usize = 8;
/// Most that wait; more are lost, and sent again by who sent them (RFC 9147
/// section 5.8). Chosen by us: a flight of as many connections as one address may
/// have before they are up.
const MOST: usize = 1_024;

/// A datagram that came.
pub(crate) struct Waiting {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) ecn: Ecn,
    pub(crate) datagram: Vec<u8>,
}

/// Those of handshakes that wait.
#[derive(Default)]
pub(crate) struct Handshakes {
    waiting: VecDeque<Waiting>,
    /// Of this turn.
    taken: usize,
}

impl Handshakes {
    /// Whether this one may be handled at once; else it is kept, or lost.
    pub(crate) fn admits(
        &mut self,
        (local, remote): (SocketAddr, SocketAddr),
        ecn: Ecn,
        datagram: &[u8],
    ) -> bool {
        // By the first byte (RFC 7983 section 7).
        if !matches!(datagram, [20..=63, ..]) {
            return true;
        }
        if self.taken < TURN && self.waiting.is_empty() {
            self.taken += 1;
            return true;
        }
        if self.waiting.len() < MOST {
            self.waiting.push_back(Waiting {
                local,
                remote,
                ecn,
                datagram: datagram.to_vec(),
            });
        }
        false
    }

    /// Media had its turn: those that are next.
    pub(crate) fn next_turn(&mut self) -> Vec<Waiting> {
        let next: Vec<Waiting> = self.waiting.drain(..self.waiting.len().min(TURN)).collect();
        self.taken = next.len();
        next
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handshakes_come_in_turns_and_media_at_once() {
        let mut handshakes = Handshakes::default();
        let way = (
            SocketAddr::from(([10, 0, 0, 1], 1)),
            SocketAddr::from(([10, 0, 0, 9], 1)),
        );
        let mut admits = |first: u8| handshakes.admits(way, Ecn::NotEct, &[first, 1]);
        let at_once = (0..2_000).filter(|_| admits(22)).count();
        assert_eq!(at_once, TURN);
        assert!(admits(0x80) && admits(0));
        let mut handled = 0;
        while !handshakes.is_empty() {
            let turn = handshakes.next_turn().len();
            assert!(turn <= TURN);
            assert!(!handshakes.admits(way, Ecn::NotEct, &[22]) || handshakes.is_empty());
            handled += turn;
        }
        assert!((MOST..MOST + 200).contains(&handled), "{handled} of 2,000");
    }
}
