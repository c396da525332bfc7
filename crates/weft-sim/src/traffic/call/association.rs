//! The association of one end: the ICE agent of `weft-ice` decides which paths
//! are alive. Here is what joins it to a run: routes have addresses, and its
//! clock is ahead of the run's by the time that it took to connect.

mod connect;

use std::net::SocketAddr;

use weft_ice::{Agent, Event, Output, PathState};
use weft_session::Input;
use weft_units::{Duration, Instant, PathId, Rng};

use super::End;

/// One end's view of the paths, which have the numbers of their routes.
pub(super) struct Association {
    agent: Agent,
    /// Of the routes, in their order: this end, the other one.
    routes: Vec<(SocketAddr, SocketAddr)>,
    /// The agent's clock less the run's.
    ahead: Duration,
    /// What [`Association::due`] answered, until something changes.
    due: Option<Option<Instant>>,
}

/// What the association wants done.
pub(super) enum Action {
    /// A STUN message to send.
    Transmit(PathId, Vec<u8>),
    /// What has become of a path, for the session.
    Tell(Input<'static>),
}

impl Association {
    /// Both ends, with all paths up. `rtts` are the round trips of the empty
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

    /// The paths that are up, in the order of the routes, and their round
    /// trips.
    pub fn paths_up(&self) -> Vec<(PathId, Duration)> {
        let up = self.agent.paths().filter(|p| p.state == PathState::Up);
        let mut up: Vec<_> = up
            .filter_map(|p| Some((self.route(p.local), p.rtt?)))
            .collect();
        up.sort_unstable();
        up
    }

    /// A STUN message came on this path.
    pub fn on_datagram(&mut self, now: Instant, path: PathId, datagram: &[u8]) {
        self.due = None;
        let (local, remote) = self.routes[usize::from(path.0)];
        let now = now + self.ahead;
        // What it refuses it counts, such as an answer that it waits for no more.
        let _ = self.agent.handle_datagram(now, local, remote, datagram);
    }

    /// Runs what is due.
    pub fn on_time(&mut self, now: Instant) {
        self.due = None;
        self.agent.handle_timeout(now + self.ahead);
    }

    /// The session suspects a path.
    pub fn suspect(&mut self, now: Instant, path: PathId) {
        self.due = None;
        if let Some(id) = self.id(path) {
            self.agent.suspect(now + self.ahead, id);
        }
    }

    pub fn is_suspicious(&self) -> bool {
        self.agent.is_suspicious()
    }

    /// What media says of a path: its round trip, and when feedback last named
    /// a packet for the first time.
    pub fn on_media(&mut self, path: PathId, rtt: Duration, heard_at: Option<Instant>) {
        self.due = None;
        if let Some(id) = self.id(path) {
            let heard_at = heard_at.map(|at| at + self.ahead);
            self.agent.set_media(id, rtt, heard_at);
        }
    }

    /// The next thing to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        loop {
            match self.agent.poll_output()? {
                Output::Transmit {
                    local, datagram, ..
                } => return Some(Action::Transmit(self.route(local), datagram)),
                Output::Event(event) => {
                    if let Some(input) = self.input(&event) {
                        return Some(Action::Tell(input));
                    }
                }
            }
        }
    }

    /// When [`Association::on_time`] has something to do.
    pub fn due(&mut self) -> Option<Instant> {
        let (agent, ahead) = (&self.agent, self.ahead);
        let due = || agent.poll_timeout().map(|d| d.at.saturating_sub(ahead));
        *self.due.get_or_insert_with(due)
    }

    fn input(&self, event: &Event) -> Option<Input<'static>> {
        let of = |id| self.agent.path(id).map(|p| self.route(p.local));
        match *event {
            Event::PathUp { local, rtt, .. } => {
                let path = self.route(local);
                Some(Input::PathUp { path, rtt })
            }
            Event::PathDown { path, .. } => of(path).map(|path| Input::PathDown { path }),
            Event::PathSilent { path } => of(path).map(|path| Input::PathSilent { path }),
            Event::Selected { .. } => None,
        }
    }

    /// The path from one of our addresses: the agent numbers paths in the order
    /// of their first answers.
    fn route(&self, local: SocketAddr) -> PathId {
        let index = self.routes.iter().position(|(own, _)| *own == local);
        PathId(index.expect("the agent has no other addresses") as u8)
    }

    fn id(&self, path: PathId) -> Option<PathId> {
        let (local, _) = self.routes[usize::from(path.0)];
        let found = self.agent.paths().find(|p| p.local == local);
        found.map(|p| p.id)
    }
}

#[cfg(test)]
mod tests;
