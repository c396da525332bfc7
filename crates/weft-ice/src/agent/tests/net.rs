//! Two agents in virtual time, connected by wires.

pub use super::wired::*;
use crate::*;
use std::net::SocketAddr;
use weft_units::{Deadline, FiveTuple, Instant, PathId, Rng};

pub type Net = Wired<Agent>;

pub fn agent(role: IceRole, tie_breaker: u64, seed: u64) -> Agent {
    let mut rng = Rng::new(seed);
    let mut entropy = [0; 32];
    rng.fill(&mut entropy);
    Agent::new(Config {
        role,
        credentials: Credentials::from_entropy(&entropy),
        tie_breaker,
        checks: Checks::All,
        rng,
    })
}

impl End for Agent {
    type Event = Event;
    type Got = ();

    fn strangers() -> [Agent; 2] {
        [
            agent(IceRole::Controlling, 2, 1),
            agent(IceRole::Controlled, 1, 2),
        ]
    }

    fn introduce(now: Instant, (a, of_a): (&mut Agent, &[&str]), (b, of_b): (&mut Agent, &[&str])) {
        let (own, other) = (a.credentials().clone(), b.credentials().clone());
        a.set_remote(now, &other, &candidates(of_b));
        b.set_remote(now, &own, &candidates(of_a));
    }

    fn add_local(&mut self, now: Instant, local: LocalAddress) {
        Agent::add_local(self, now, local);
    }

    fn path_between(&self, local: SocketAddr, remote: SocketAddr) -> Option<PathId> {
        let path = self
            .paths()
            .find(|p| p.tuple == FiveTuple::udp(local, remote));
        path.map(|p| p.id)
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        Agent::poll_timeout(self)
    }

    fn handle_timeout(&mut self, now: Instant) {
        Agent::handle_timeout(self, now);
    }

    fn poll_output(&mut self) -> Option<Output> {
        Agent::poll_output(self)
    }

    fn deliver(&mut self, now: Instant, came: Came<'_>, (): &mut ()) {
        // Refusals are counted; the tests check the counters.
        let _ = self.handle_datagram(now, came.tuple(), came.datagram);
    }
}

impl Net {
    /// Runs for a second, in which the paths come up; then media flows.
    pub fn connect(&mut self) {
        self.run_for(1000);
        for side in [Side::A, Side::B] {
            let agent = self.side(side);
            assert!(agent.paths().any(|p| p.state == PathState::Up), "{side:?}");
            agent.set_phase(Phase::Media);
        }
    }
}
