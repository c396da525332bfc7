//! Effects of the messages of other servers.

use super::fetch::{Fetch, Fetched, Outcome};
use super::message::{Content, Envelope, Page, Place};
use super::roster::{Mismatch, Roster, Step};
use crate::auth::{Gate, TokenId};
use crate::hub::{ActionWanted, ClusterEvent, Hub};
use crate::log::{ClusterChange, ServerEvent};
use std::sync::Arc;
use std::time::SystemTime;

/// Maximum number of tokens on a page, 200 kB.
const PAGE_TOKENS: usize = 2000;
/// Number of bytes after which a page ends with its present room. NATS accepts a megabyte
/// by default.
const PAGE_ROOMS: usize = 256 * 1024;

/// This server in the cluster.
pub(super) struct Member {
    pub(super) roster: Roster,
    /// Whether the others could be heard at the last check.
    pub(super) is_reachable: bool,
    pub(super) fetch: Fetch,
    pub(super) hub: Arc<Hub>,
    pub(super) gate: Gate,
}

impl Member {
    /// Handles a message to all servers; returns whether this one stays in the cluster.
    pub(super) fn handle(&mut self, age: u64, message: Envelope) -> bool {
        let told = match &message.content {
            Content::Beat(beat) => Some((message.node.clone(), beat.vacancy.clone())),
            Content::Event(_) | Content::Bye => None,
        };
        let steps = self.roster.handle(self.hub.now(), age, message);
        let stays = steps.into_iter().all(|step| self.carry_out(step));
        if let Some((node, vacancy)) = told
            && self.roster.has(&node)
        {
            self.hub.set_vacancy(&node, vacancy);
        }
        if let Some(counts) = self.hub.cluster_counts() {
            let servers = if stays {
                self.roster.nodes().count()
            } else {
                0
            };
            counts.servers.set(servers);
        }
        stays
    }

    fn carry_out(&mut self, step: Step) -> bool {
        match step {
            Step::Ask { node, run } => self.fetch.start(node, run),
            Step::Take { node, event } => self.hear(&node, event),
            Step::Found { node, version } => self.log(ClusterChange::Found { node, version }),
            Step::Forget { node } => {
                self.hub.forget_elsewhere(&node, &[]);
                self.hub.set_vacancy(&node, None);
                self.hub.replace_recorders();
                self.log(ClusterChange::Lost { node });
            }
            Step::Refuse { node, reason } => self.log(match reason {
                Mismatch::Keys => ClusterChange::OtherKeys { node },
                Mismatch::Protocol { version } => ClusterChange::OtherVersion { node, version },
            }),
            Step::GiveWay => {
                for node in self.roster.nodes().collect::<Vec<_>>() {
                    self.hub.forget_elsewhere(&node, &[]);
                }
                self.hub.set_reachable(false);
                self.log(ClusterChange::NameTaken);
                return false;
            }
        }
        true
    }

    fn log(&self, change: ClusterChange) {
        self.hub.log().emit(|| ServerEvent::Cluster { change });
    }

    pub(super) fn check_reachable(&mut self) {
        let is_reachable = self.roster.is_reachable(self.hub.now());
        if std::mem::replace(&mut self.is_reachable, is_reachable) != is_reachable {
            self.hub.set_reachable(is_reachable);
            self.log(match is_reachable {
                true => ClusterChange::Reachable,
                false => ClusterChange::Unreachable,
            });
        }
    }

    fn hear(&self, node: &str, event: ClusterEvent) {
        if let ClusterEvent::Revoked { token, until } = event {
            return self.revoke(vec![(token, until)]);
        }
        self.hub.hear(node, event);
    }

    /// Acts for a moderator of another server.
    pub(super) fn act(&self, wanted: ActionWanted) {
        let Some(removed) = self.hub.act(wanted) else {
            return;
        };
        if let Some(token) = removed.token {
            // The other servers get it with the list of revoked tokens.
            if let Ok(id) = self.gate.revoke_id(token, SystemTime::now()) {
                self.hub.end_token(&id);
            }
        }
    }

    /// Adds tokens that another server has revoked.
    fn revoke(&self, tokens: Vec<(TokenId, u64)>) {
        let (new, stored) = self.gate.revoked.take(tokens, SystemTime::now());
        for token in new {
            self.hub.end_token(&token);
        }
        if let Err(error) = stored {
            let error = error.to_string();
            self.log(ClusterChange::NotStored { error });
        }
    }

    /// Applies a part of another server's state.
    pub(super) fn take(&mut self, fetched: Fetched) {
        let Fetched {
            node,
            run,
            page,
            rooms,
            outcome,
        } = fetched;
        if !self.roster.is_asked(&node, &run) {
            return;
        }
        self.revoke(page.tokens);
        self.hub.take_bars(page.bars);
        self.hub.hear_rooms(&node, page.rooms);
        let sent = match outcome {
            Outcome::More => return,
            Outcome::Complete { sent } => {
                self.hub.forget_elsewhere(&node, &rooms);
                Some(sent)
            }
            Outcome::Failed => None,
        };
        for step in self.roster.finish(&node, &run, sent) {
            self.carry_out(step);
        }
    }

    /// Returns a page of our state; `sent` is the number of our events so far.
    pub(super) fn page(&self, sent: u64, after: Place) -> Page {
        let bars = match &after {
            Place::Start => self.hub.bars(),
            Place::Token(_) | Place::Room(_) => Vec::new(),
        };
        let after_token = match &after {
            Place::Start => Some(None),
            Place::Token(id) => Some(Some(id)),
            Place::Room(_) => None,
        };
        let tokens = after_token.map(|id| self.gate.revoked.after(id, PAGE_TOKENS));
        let tokens = tokens.unwrap_or_default();
        if tokens.len() == PAGE_TOKENS {
            let last = tokens.last().map(|(id, _)| Place::Token(id.clone()));
            return Page {
                sent,
                bars,
                tokens,
                next: last,
                ..Page::default()
            };
        }
        let after = match &after {
            Place::Room(name) => name,
            _ => "",
        };
        let (rooms, last) = self.hub.rooms_after(after, PAGE_ROOMS);
        Page {
            sent,
            bars,
            tokens,
            rooms,
            next: last.map(Place::Room),
        }
    }
}
