//! Checks and their answers (RFC 8445 section 7).

use super::sent::Sent;
use super::{Agent, schedule};
use crate::counters::DropReason;
use crate::stun;
use crate::types::MAX_COST;
use crate::types::{IceRole, PathState, RemoteCandidate};
use std::net::SocketAddr;
use stun_types::message::IntegrityKey;
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
        let check = stun::Check {
            transaction: random,
            username: &peer.username,
            priority: priority(pair.link_cost),
            role: self.role,
            tie_breaker: self.local.current.tie_breaker,
            network: (u16::from(pair.path.link.0) + 1, cost),
            nomination,
        };
        self.out.transmit(pair.addresses(), check.write(&peer.key));
        self.out.counters.checks_sent += 1;
        let pair = &mut self.pairs[index];
        pair.sent.push(Sent {
            transaction: random,
            at: now,
            role,
            nomination,
        });
    }

    /// Handles a check of the peer, who knew the password of this key.
    pub(super) fn on_request(
        &mut self,
        now: Instant,
        (local, remote): (SocketAddr, SocketAddr),
        request: &stun::Request,
        key: &IntegrityKey,
    ) -> Result<(), DropReason> {
        let at = self.locals.iter().position(|l| l.addr == local);
        let at = at.ok_or(DropReason::UnknownLocal)?;
        if !self.locals[at].remotes.allows(remote) {
            return Err(DropReason::Filtered);
        }
        if let Some((role, tie_breaker)) = request.role.filter(|(role, _)| *role == self.role) {
            if self.keeps_role(role, tie_breaker) {
                let refusal = stun::role_conflict(request.transaction, key);
                self.out.transmit((local, remote), refusal);
                return Ok(());
            }
            self.switch_role(now, other(role));
        }
        if self.find(local, remote).is_none() {
            self.make_pair(now, at, remote);
            // Peer-reflexive address: our other addresses may reach it, too.
            let priority = request.priority;
            self.add_remote(
                now,
                RemoteCandidate {
                    addr: remote,
                    priority,
                },
            );
        }
        let index = self.find(local, remote).ok_or(DropReason::TooManyPairs)?;
        let answer = stun::success(request.transaction, remote, key);
        self.out.transmit((local, remote), answer);
        self.on_use_candidate(now, index, request);
        self.set_network(now, index, request.network);
        self.owe_checks(index);
        let pair = &mut self.pairs[index];
        let gap = |at: Instant| now.saturating_since(at) >= schedule::TRIGGERED_GAP;
        if !pair.is_valid() && pair.sent.last().is_none_or(gap) {
            pair.probing_since = now;
            self.send_check(now, index);
        }
        Ok(())
    }

    /// Whether we keep the role in a conflict, decided by the tie breaker (RFC
    /// 8445 section 7.3.1.1).
    fn keeps_role(&self, role: IceRole, theirs: u64) -> bool {
        let higher = self.local.current.tie_breaker >= theirs;
        match role {
            IceRole::Controlling => higher,
            IceRole::Controlled => !higher,
        }
    }

    pub(super) fn on_response(
        &mut self,
        now: Instant,
        (local, remote): (SocketAddr, SocketAddr),
        response: &stun::Response<'_>,
    ) -> Result<(), DropReason> {
        let (Some(index), Some(peer)) = (self.find(local, remote), &self.remote) else {
            return Err(DropReason::Unexpected);
        };
        let transaction = response.transaction;
        if self.pairs[index].sent.in_flight(transaction).is_none() {
            return Err(DropReason::Unexpected);
        }
        if !response.is_signed(&peer.key) {
            return Err(DropReason::Integrity);
        }
        let sent = self.pairs[index].sent.take(transaction);
        let sent = sent.ok_or(DropReason::Unexpected)?;
        match response.error {
            None => self.on_answer(now, index, sent),
            Some(stun::ROLE_CONFLICT) if sent.role == self.role => {
                self.switch_role(now, other(self.role));
                self.send_check(now, index);
            }
            // Refused for another reason: the schedule continues.
            Some(_) => {}
        }
        Ok(())
    }

    fn on_answer(&mut self, now: Instant, index: usize, sent: Sent) {
        self.out.counters.checks_answered += 1;
        if sent.nomination == Some(self.selection.nomination) {
            self.selection.confirmed = true;
        }
        self.number(index);
        let (phase, pair) = (self.phase, &mut self.pairs[index]);
        pair.on_answer(now, sent.at);
        let was_valid = pair.is_valid();
        if !was_valid {
            self.routes_revision += 1;
            pair.path.state = PathState::Spare;
            pair.next_check = now + schedule::interval(now, pair, phase, false);
        }
        self.clear(now, index, sent.at);
        if !was_valid {
            self.settle(now);
            self.question_the_other(now, index);
        }
    }
}

fn other(role: IceRole) -> IceRole {
    match role {
        IceRole::Controlling => IceRole::Controlled,
        IceRole::Controlled => IceRole::Controlling,
    }
}

/// Priority of the peer-reflexive candidate that a check may reveal, component
/// 1 (RFC 8445 sections 5.1.2 and 7.1.1); cheaper links are preferred.
fn priority(link_cost: u16) -> u32 {
    const PEER_REFLEXIVE: u32 = 110;
    PEER_REFLEXIVE << 24 | u32::from(u16::MAX - link_cost) << 8 | 255
}
