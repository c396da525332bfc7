//! Association of one end: the ICE agent of `weft-ice` decides which paths are alive.
//! This module connects it to a run: routes get addresses, and the agent's clock is ahead
//! of the run's by the time that connecting took.

mod connect;

use weft_ice::{Agent, Event, Output, PathState};
use weft_session::Input;
use weft_units::{Duration, FiveTuple, Instant, PathId, Rng};

use super::End;

/// One end's view of the paths, which have the numbers of their routes.
pub(super) struct Association {
    agent: Agent,
    /// Addresses of the routes, in their order.
    routes: Vec<FiveTuple>,
    /// Lead of the agent's clock over the run's.
    ahead: Duration,
    /// Result of [`Association::due`], until something changes.
    due: Option<Option<Instant>>,
}

/// Request of the association.
pub(super) enum Action {
    /// A STUN message to send.
    Transmit(PathId, Vec<u8>),
    /// Change of a path, for the session.
    Tell(Input<'static>),
}

impl Association {
    /// Creates both ends, with all paths up. `rtts` are the round trips of the empty
    /// routes.
    pub fn pair(now: Instant, rtts: &[Duration], rng: &Rng) -> [Association; 2] {
        let mut agents = End::BOTH.map(|end| connect::agent(now, end, rtts.len(), rng));
        connect::introduce(now, rtts.len(), &mut agents);
        let ahead = connect::connect(now, rtts, &mut agents) - now;
        let [caller, callee] = agents;
        [(End::Caller, caller), (End::Callee, callee)].map(|(end, agent)| Association {
            agent,
            routes: connect::routes(end, rtts.len()).collect(),
            ahead,
            due: None,
        })
    }

    /// Returns the paths that are up, in the order of the routes, with their round trips.
    pub fn paths_up(&self) -> Vec<(PathId, Duration)> {
        let up = self.agent.paths().filter(|p| p.state == PathState::Up);
        let mut up: Vec<_> = up
            .filter_map(|p| Some((self.route(p.tuple), p.rtt?)))
            .collect();
        up.sort_unstable();
        up
    }

    /// Handles a STUN message that arrived on this path.
    pub fn on_datagram(&mut self, now: Instant, path: PathId, datagram: &[u8]) {
        self.due = None;
        let tuple = self.routes[usize::from(path.0)];
        let now = now + self.ahead;
        // The agent counts messages that it rejects, such as a late answer.
        let _ = self.agent.handle_datagram(now, tuple, datagram);
    }

    /// Runs the due timers.
    pub fn on_time(&mut self, now: Instant) {
        self.due = None;
        self.agent.handle_timeout(now + self.ahead);
    }

    /// Reports that the session suspects a path.
    pub fn suspect(&mut self, now: Instant, path: PathId) {
        self.due = None;
        if let Some(id) = self.id(path) {
            self.agent.suspect(now + self.ahead, id);
        }
    }

    pub fn is_suspicious(&self) -> bool {
        self.agent.is_suspicious()
    }

    /// Reports media on a path: its round trip, and the last time at which feedback named
    /// a packet for the first time.
    pub fn on_media(&mut self, path: PathId, rtt: Duration, heard_at: Option<Instant>) {
        self.due = None;
        if let Some(id) = self.id(path) {
            let heard_at = heard_at.map(|at| at + self.ahead);
            self.agent.set_media(id, rtt, heard_at);
        }
    }

    /// Returns the next request.
    pub fn poll_action(&mut self) -> Option<Action> {
        loop {
            match self.agent.poll_output()? {
                Output::Transmit { tuple, datagram } => {
                    return Some(Action::Transmit(self.route(tuple), datagram));
                }
                Output::Event(event) => {
                    if let Some(input) = self.input(&event) {
                        return Some(Action::Tell(input));
                    }
                }
            }
        }
    }

    /// Returns the next time for [`Association::on_time`].
    pub fn due(&mut self) -> Option<Instant> {
        let (agent, ahead) = (&self.agent, self.ahead);
        let due = || agent.poll_timeout().map(|d| d.at.saturating_sub(ahead));
        *self.due.get_or_insert_with(due)
    }

    fn input(&self, event: &Event) -> Option<Input<'static>> {
        let of = |id| self.agent.path(id).map(|p| self.route(p.tuple));
        match *event {
            Event::PathUp { tuple, rtt, .. } => {
                let path = self.route(tuple);
                Some(Input::PathUp { path, rtt })
            }
            Event::PathDown { path, .. } => of(path).map(|path| Input::PathDown { path }),
            Event::PathSilent { path } => of(path).map(|path| Input::PathSilent { path }),
            // A path is a route of the run, and routes are never removed.
            Event::PathRemoved { .. } | Event::Selected { .. } => None,
        }
    }

    /// Returns the path between two addresses: the agent numbers paths in the order of
    /// their first answers.
    fn route(&self, tuple: FiveTuple) -> PathId {
        let index = self.routes.iter().position(|route| *route == tuple);
        PathId(index.expect("the agent has no other addresses") as u8)
    }

    fn id(&self, path: PathId) -> Option<PathId> {
        let tuple = self.routes[usize::from(path.0)];
        let found = self.agent.paths().find(|p| p.tuple == tuple);
        found.map(|p| p.id)
    }
}

#[cfg(test)]
mod tests;
