//! Other servers of the cluster: the live ones, and whether this server has all their
//! events. Without clock and network: messages go in, steps come out.
//!
//! Events of a server are numbered. A server that misses one, or finds a new server,
//! requests the whole state of the other and then follows its events again.

use super::message::{Beat, Content, Envelope, PROTOCOL};
use crate::hub::ClusterEvent;
use std::collections::BTreeMap;
use weft_units::{Duration, Instant};

/// Interval of heartbeats.
pub(super) const BEAT: Duration = Duration::from_millis(500);
/// Number of our own heartbeats without one of a server after which it counts as dead. Only
/// heartbeats that returned from NATS count, so no server counts as dead while NATS is
/// unreachable. Chosen by us: 2.5 s, and one lost message has no effect.
const SILENT_BEATS: i32 = 5;
/// Time without a returned heartbeat of our own after which NATS counts as unreachable.
pub(super) const AWAY: Duration = Duration::from_millis(1500);
/// Additional heartbeats for others to return after NATS was unreachable.
const GRACE_BEATS: i32 = 10;
/// Maximum number of events that wait for a server's state. Beyond it, the state is
/// requested again.
const MOST_PENDING: usize = 4096;
/// Maximum number of servers in a cluster. Chosen by us, because each sends its events to
/// all others.
const MOST_NODES: usize = 64;

/// Step to take after a message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    /// Request the state of this process.
    Ask { node: String, run: String },
    /// Apply an event.
    Take { node: String, event: ClusterEvent },
    /// Add a new server.
    Found { node: String, version: String },
    /// Remove a server that has ended or is dead.
    Forget { node: String },
    /// Refuse a server, for this reason.
    Refuse { node: String, reason: Mismatch },
    /// Leave: another, older server has our name.
    GiveWay,
}

/// Reason why two servers cannot be in one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mismatch {
    Protocol { version: String },
    Keys,
}

/// This server.
#[derive(Debug, Clone)]
pub(super) struct Own {
    pub(super) node: String,
    pub(super) run: String,
    pub(super) keys: String,
}

impl Own {
    /// Checks that the sender of a heartbeat can be in one cluster with this server.
    pub(super) fn check(&self, beat: &Beat) -> Result<(), Mismatch> {
        if beat.protocol != PROTOCOL {
            let version = beat.version.clone();
            return Err(Mismatch::Protocol { version });
        }
        match beat.keys == self.keys {
            true => Ok(()),
            false => Err(Mismatch::Keys),
        }
    }
}

#[derive(Debug)]
struct Other {
    run: String,
    /// Number of its last applied event.
    taken: u64,
    /// Our own heartbeats since its last one.
    silent: i32,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Following,
    /// Its state was requested; later events wait for it.
    Asked(Vec<(u64, ClusterEvent)>),
    /// The next heartbeat triggers another request for the state.
    Behind,
}

/// Other servers of the cluster.
#[derive(Debug)]
pub(super) struct Roster {
    own: Own,
    others: BTreeMap<String, Other>,
    /// Refused servers, so that each is reported only once.
    refused: BTreeMap<String, String>,
    /// Time of our last returned heartbeat.
    echo: Instant,
}

impl Roster {
    pub(super) fn new(own: Own, now: Instant) -> Roster {
        Roster {
            own,
            others: BTreeMap::new(),
            refused: BTreeMap::new(),
            echo: now,
        }
    }

    /// Whether messages of other servers can arrive.
    pub(super) fn is_reachable(&self, now: Instant) -> bool {
        now.saturating_since(self.echo) < AWAY
    }

    /// Whether another server with this name is known.
    pub(super) fn has(&self, node: &str) -> bool {
        self.others.contains_key(node)
    }

    /// Names of the other servers.
    pub(super) fn nodes(&self) -> impl Iterator<Item = String> {
        self.others.keys().cloned()
    }

    /// Handles a message to all servers; `age` is that of this process in milliseconds.
    pub(super) fn handle(&mut self, now: Instant, age: u64, message: Envelope) -> Vec<Step> {
        if message.node == self.own.node {
            return self.handle_own_name(now, age, &message);
        }
        let Envelope {
            node,
            run,
            sent,
            content,
        } = message;
        match content {
            Content::Beat(beat) => self.handle_beat(node, run, sent, &beat),
            Content::Event(event) => self.handle_event(node, &run, sent, event),
            Content::Bye => {
                let known = self.others.get(&node).is_some_and(|o| o.run == run);
                self.forget_if(known, &node).into_iter().collect()
            }
        }
    }

    fn handle_own_name(&mut self, now: Instant, age: u64, message: &Envelope) -> Vec<Step> {
        let Content::Beat(beat) = &message.content else {
            return Vec::new();
        };
        if message.run == self.own.run {
            return self.handle_echo(now);
        }
        match (beat.age, &message.run) > (age, &self.own.run) {
            true => vec![Step::GiveWay],
            false => Vec::new(),
        }
    }

    fn handle_echo(&mut self, now: Instant) -> Vec<Step> {
        let was_away = !self.is_reachable(now);
        self.echo = now;
        for other in self.others.values_mut() {
            other.silent = match was_away {
                true => -GRACE_BEATS,
                false => other.silent + 1,
            };
        }
        let dead = self.others.iter().filter(|(_, o)| o.silent >= SILENT_BEATS);
        let dead: Vec<String> = dead.map(|(node, _)| node.clone()).collect();
        let forgotten = dead.iter().filter_map(|node| self.forget_if(true, node));
        forgotten.collect()
    }

    fn forget_if(&mut self, known: bool, node: &str) -> Option<Step> {
        let gone = known.then(|| self.others.remove(node)).flatten();
        let node = node.to_owned();
        gone.map(|_| Step::Forget { node })
    }

    fn handle_beat(&mut self, node: String, run: String, sent: u64, beat: &Beat) -> Vec<Step> {
        if let Err(reason) = self.own.check(beat) {
            let mut steps: Vec<Step> = self.forget_if(true, &node).into_iter().collect();
            let is_named = self.refused.get(&node) == Some(&run);
            if !is_named && self.refused.len() < MOST_NODES {
                self.refused.insert(node.clone(), run);
                steps.push(Step::Refuse { node, reason });
            }
            return steps;
        }
        let mut steps = Vec::new();
        let restarted = self.others.get(&node).is_some_and(|o| o.run != run);
        steps.extend(self.forget_if(restarted, &node));
        if !self.others.contains_key(&node) {
            if self.others.len() >= MOST_NODES {
                return steps;
            }
            let version = beat.version.clone();
            let found = node.clone();
            steps.push(Step::Found {
                node: found,
                version,
            });
            let other = Other {
                run: run.clone(),
                taken: 0,
                silent: 0,
                stage: Stage::Behind,
            };
            self.others.insert(node.clone(), other);
        }
        let Some(other) = self.others.get_mut(&node) else {
            return steps;
        };
        other.silent = other.silent.min(0);
        let has_all = matches!(other.stage, Stage::Following) && other.taken == sent;
        if !has_all && !matches!(other.stage, Stage::Asked(_)) {
            other.stage = Stage::Asked(Vec::new());
            steps.push(Step::Ask { node, run });
        }
        steps
    }

    fn handle_event(
        &mut self,
        node: String,
        run: &str,
        sent: u64,
        event: ClusterEvent,
    ) -> Vec<Step> {
        // A server is unknown before its first heartbeat.
        let Some(other) = self.others.get_mut(&node).filter(|o| o.run == run) else {
            return Vec::new();
        };
        match &mut other.stage {
            Stage::Following if sent == other.taken + 1 => {
                other.taken = sent;
                vec![Step::Take { node, event }]
            }
            Stage::Following | Stage::Behind => {
                other.stage = Stage::Behind;
                Vec::new()
            }
            Stage::Asked(pending) => {
                match pending.len() < MOST_PENDING {
                    true => pending.push((sent, event)),
                    false => pending.clear(),
                }
                Vec::new()
            }
        }
    }

    /// Whether the state was requested from this process.
    pub(super) fn is_asked(&self, node: &str, run: &str) -> bool {
        let other = self.others.get(node);
        other.is_some_and(|o| o.run == run && matches!(o.stage, Stage::Asked(_)))
    }

    /// Applies the whole state of a server, which includes this many events, and the events
    /// since. `None` if it is incomplete.
    pub(super) fn finish(&mut self, node: &str, run: &str, sent: Option<u64>) -> Vec<Step> {
        let other = self.others.get_mut(node).filter(|o| o.run == run);
        let Some(other) = other else {
            return Vec::new();
        };
        let Stage::Asked(pending) = std::mem::replace(&mut other.stage, Stage::Behind) else {
            return Vec::new();
        };
        let Some(sent) = sent else {
            return Vec::new();
        };
        other.taken = sent;
        let mut steps = Vec::new();
        for (number, event) in pending {
            // The state includes earlier events, which have no further effect.
            if number > sent {
                if number != other.taken + 1 {
                    return steps;
                }
                other.taken = number;
            }
            let node = node.to_owned();
            steps.push(Step::Take { node, event });
        }
        other.stage = Stage::Following;
        steps
    }
}

#[cfg(test)]
mod tests;
