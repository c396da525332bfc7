//! Checks and their answers (RFC 8445 section 7).

use super::nominate::MUCH_DEARER;
use super::pair::Pair;
use super::sent::Sent;
use super::{Agent, Identity, Phase, schedule};
use crate::counters::DropReason;
use crate::stun;
use crate::types::{IceRole, PathState, RemoteCandidate};
use stun_types::message::IntegrityKey;
use weft_units::{Deadline, FiveTuple, Instant, Transport};

impl Agent {
    /// Handles a check of the peer, who knew the password of this key.
    pub(super) fn on_request(
        &mut self,
        now: Instant,
        tuple: FiveTuple,
        request: &stun::Request,
        key: &IntegrityKey,
    ) -> Result<(), DropReason> {
        let at = self.locals.iter().position(|l| l.has(tuple));
        let at = at.ok_or(DropReason::UnknownLocal)?;
        if !self.locals[at].remotes.allows(tuple.remote) {
            return Err(DropReason::Filtered);
        }
        if let Some((role, tie_breaker)) = request.role.filter(|(role, _)| *role == self.role) {
            if self.keeps_role(role, tie_breaker) {
                let refusal = stun::role_conflict(request.transaction, key);
                self.out.transmit(tuple, refusal);
                return Ok(());
            }
            self.switch_role(now, other(role));
        }
        if self.find(tuple).is_none() {
            self.make_pair(now, at, tuple);
            // Peer-reflexive address: our other addresses may reach it, too, unless it
            // is the end of one TCP connection.
            let (addr, priority) = (tuple.remote, request.priority);
            if tuple.transport != Transport::Tcp {
                self.add_remote(now, RemoteCandidate { addr, priority });
            }
        }
        let index = self.find(tuple).ok_or(DropReason::TooManyPairs)?;
        if self.must_wait(now, index) {
            self.waiting.keep(tuple, *request)?;
        } else {
            let answer = stun::success(request.transaction, tuple.remote, key);
            self.out.transmit(tuple, answer);
        }
        self.on_use_candidate(now, index, request);
        self.set_network(now, index, request.network);
        self.owe_checks(index);
        let pair = &mut self.pairs[index];
        let gap = |at: Instant| now.saturating_since(at) >= schedule::TRIGGERED_GAP;
        if !pair.is_valid() && pair.sent.last().is_none_or(gap) {
            pair.since = now;
            self.send_check(now, index);
        }
        Ok(())
    }

    /// Whether the answer to a check on this pair waits. Chromium sends on the first pair of
    /// each of its networks whose check is answered, and checks no others from then on; this
    /// must not be a metered one while a free one may work.
    fn must_wait(&mut self, now: Instant, index: usize) -> bool {
        let is_early = self.waiting.is_first_moment(now) && self.phase == Phase::Handshake;
        let cost = self.pairs[index].link_cost;
        let is_cheaper = |p: &Pair| p.link_cost.saturating_add(MUCH_DEARER) < cost;
        is_early && self.role == IceRole::Controlling && self.pairs.iter().any(is_cheaper)
    }

    /// Answers the checks that wait; some may have to wait longer.
    pub(super) fn answer_waiting(&mut self, now: Instant) {
        for (tuple, request) in self.waiting.take() {
            let key = self.local.current.key.clone();
            if let Err(reason) = self.on_request(now, tuple, &request, &key) {
                self.out.counters.count_drop(reason);
            }
        }
    }

    /// Deadline of [`Agent::answer_waiting`].
    pub(super) fn answers_due(&self) -> Option<Deadline> {
        let at = self.waiting.due().filter(|_| self.remote.is_some());
        at.map(|at| Deadline {
            at,
            reason: "late answers",
        })
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
        tuple: FiveTuple,
        response: &stun::Response<'_>,
    ) -> Result<(), DropReason> {
        let (Some(index), Some(peer)) = (self.find(tuple), &self.remote) else {
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
            // Refused for another reason: the schedule does not change.
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
            pair.since = now;
            pair.next_check = now + schedule::interval(now, pair, phase, false);
        }
        self.clear(now, index, sent.at);
        if !was_valid {
            self.nominate_successor(now, index);
            self.settle(now);
            self.question_the_other(now, index);
        }
        if self.nominate_better(now, index) {
            self.fill_network_pairs();
        }
    }

    /// Handles the peer's request to select this pair, or its absence.
    pub(super) fn on_use_candidate(&mut self, now: Instant, index: usize, request: &stun::Request) {
        let asked = request.use_candidate || request.nomination.is_some();
        let before = self.pairs[index].use_candidate.replace(asked);
        let newly = asked && before != Some(true);
        if before.is_none() && self.nominate_better(now, index) {
            self.fill_network_pairs();
        }
        if !asked || self.role == IceRole::Controlling {
            return;
        }
        // Without values, the latest requested pair counts. A peer that requests several at once
        // (aggressive nomination of RFC 5245) must not make us flip with each of its checks.
        let value = request.nomination.unwrap_or(0);
        let follow = match self.selection.wanted {
            None => true,
            Some((_, last)) => value > last || value == last && newly,
        };
        if follow {
            self.selection.wanted = Some((self.pairs[index].path.tuple, value));
            self.follow();
            self.settle(now);
        }
    }

    /// Suspects the active pair when another one of the same networks becomes
    /// valid: a moving peer has a new address in an old network, and the old
    /// pair may be dead.
    pub(super) fn question_the_other(&mut self, now: Instant, index: usize) {
        if self.pairs[index].path.state == PathState::Spare {
            self.raise_suspicion(now);
        }
    }

    /// Parses a check of the peer. After a restart, the peer checks existing
    /// pairs with the old credentials until it knows the new ones.
    pub(super) fn read_request(
        &mut self,
        message: &stun_types::message::Message<'_>,
    ) -> Result<(stun::Request, stun_types::message::IntegrityKey), crate::DropReason> {
        let read = |identity: &Identity| {
            let request = stun::Request::read(message, &identity.credentials.ufrag, &identity.key)?;
            Ok((request, identity.key.clone()))
        };
        let current = read(&self.local.current);
        match (&current, &self.local.previous) {
            (Ok(_), _) => {
                self.local.previous = None;
                current
            }
            (Err(crate::DropReason::Username), Some(previous)) => read(previous),
            _ => current,
        }
    }
}

fn other(role: IceRole) -> IceRole {
    match role {
        IceRole::Controlling => IceRole::Controlled,
        IceRole::Controlled => IceRole::Controlling,
    }
}
