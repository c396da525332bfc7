//! Checks that leave.

use super::sent::Sent;
use super::{Agent, schedule};
use crate::stun;
use crate::types::{IceRole, MAX_COST};
use weft_units::Instant;

impl Agent {
    pub(super) fn send_check(&mut self, now: Instant, index: usize) {
        let unconfirmed = self.nomination(index).is_some() && !self.selection.confirmed;
        let (phase, role) = (self.phase, self.role);
        let may = self.may_check(now, index);
        let pair = &mut self.pairs[index];
        pair.next_check = now + schedule::interval(now, pair, phase, unconfirmed);
        let Some(peer) = self.remote.as_ref().filter(|_| may) else {
            return;
        };
        let random = u128::from(self.rng.next_u64()) << 32 | u128::from(self.rng.next_u32());
        let nomination = self.nomination(index);
        let pair = &self.pairs[index];
        let cost = match self.role {
            IceRole::Controlling => pair.wire_cost,
            IceRole::Controlled => pair.link_cost.min(MAX_COST),
        };
        let raised = self.selection.moving.priority(pair.path.tuple.local);
        let check = stun::Check {
            transaction: random,
            username: &peer.username,
            priority: raised.unwrap_or_else(|| priority(pair.link_cost)),
            role: self.role,
            tie_breaker: self.local.current.tie_breaker,
            network: (u16::from(pair.path.link.0) + 1, cost),
            nomination,
        };
        self.out.transmit(pair.path.tuple, check.write(&peer.key));
        self.out.counters.checks_sent += 1;
        let pair = &mut self.pairs[index];
        pair.sent.push(Sent {
            transaction: random,
            at: now,
            role,
            nomination,
        });
    }
}

/// Priority of the peer-reflexive candidate that a check may reveal, component
/// 1 (RFC 8445 sections 5.1.2 and 7.1.1); cheaper links are preferred.
fn priority(link_cost: u16) -> u32 {
    const PEER_REFLEXIVE: u32 = 110;
    PEER_REFLEXIVE << 24 | u32::from(u16::MAX - link_cost) << 8 | 255
}
