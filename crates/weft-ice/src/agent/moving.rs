//! Moves of the selection, for a peer that stays with the pair nominated first.
//!
//! libnice (Janus, GStreamer) switches to a nominated pair only if that has a higher
//! priority than the selected one (agent/conncheck.c, `conn_check_update_selected_pair`),
//! and keeps the priority that a candidate had when it became known. So the move
//! needs a new address, whose first check carries a priority above all others.

use std::net::SocketAddr;
use weft_units::FiveTuple;

/// Priority above those of our other candidates, which have a type preference of 110
/// (RFC 8445 section 5.1.2.1), and below those of libnice's own (120): the lower
/// priority of a pair's two counts first.
const RAISED: u32 = 111 << 24;

/// Moves so far.
#[derive(Default)]
pub(super) struct Moving {
    /// Number of moves; each has a higher priority than the previous ones.
    count: u32,
    /// Priorities of the local addresses that the selection moved to.
    raised: Vec<(SocketAddr, u32)>,
    /// Pair to select once it is valid.
    successor: Option<FiveTuple>,
}

impl Moving {
    /// Begins a move to this pair.
    pub fn begin(&mut self, pair: FiveTuple) {
        self.count += 1;
        self.raised.push((pair.local, RAISED + self.count));
        self.successor = Some(pair);
    }

    /// Priority of checks from a local address that the selection moved to.
    pub fn priority(&self, local: SocketAddr) -> Option<u32> {
        let raised = self.raised.iter().find(|(addr, _)| *addr == local);
        raised.map(|(_, priority)| *priority)
    }

    /// Ends the move if this pair is its target; returns whether it is.
    pub fn end(&mut self, pair: FiveTuple) -> bool {
        let is_aim = self.successor == Some(pair);
        if is_aim {
            self.successor = None;
        }
        is_aim
    }

    /// Forgets a local address.
    pub fn remove(&mut self, local: SocketAddr) {
        self.raised.retain(|(addr, _)| *addr != local);
    }
}
