//! Connection setup before a call: the agents find their paths on wires without queues or
//! loss, because a call's setup is not measured.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use weft_ice::{
    Agent, Checks, Config, Credentials, IceRole, LinkId, LocalAddress, Output, PathState, Phase,
    RemoteCandidate, RemoteFilter,
};
use weft_units::{Duration, FiveTuple, Instant, Rng, Transport};

use super::End;

/// Time after which paths that are not up stay unused. An agent accepts answers up to 10
/// s after the check.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the addresses of the routes: a network for each route. Packets count as UDP over
/// IPv4.
pub fn routes(end: End, count: usize) -> impl Iterator<Item = FiveTuple> {
    let address = |route: usize, end: End| {
        let ip = [10, 0, route as u8, 1 + end as u8];
        SocketAddr::from((ip, 5000))
    };
    (0..count).map(move |route| FiveTuple::udp(address(route, end), address(route, end.other())))
}

/// Creates an agent with an address for each route, which reaches only that route's
/// address of the other end.
pub fn agent(now: Instant, end: End, count: usize, rng: &Rng) -> Agent {
    let mut rng = rng.stream(&format!("{end:?}"));
    let mut entropy = [0; 32];
    rng.fill(&mut entropy);
    let mut agent = Agent::new(Config {
        role: match end {
            End::Caller => IceRole::Controlling,
            End::Callee => IceRole::Controlled,
        },
        credentials: Credentials::from_entropy(&entropy),
        tie_breaker: rng.next_u64(),
        checks: Checks::All,
        rng,
    });
    for (index, route) in (0..).zip(routes(end, count)) {
        let local = LocalAddress {
            transport: Transport::Udp,
            addr: route.local,
            link: LinkId(index),
            cost: 0,
            remotes: RemoteFilter::Only(vec![route.remote]),
        };
        agent.add_local(now, local);
    }
    agent
}

/// Gives each agent the other's credentials and candidates.
pub fn introduce(now: Instant, count: usize, agents: &mut [Agent; 2]) {
    for end in End::BOTH {
        let credentials = agents[end.other() as usize].credentials().clone();
        let candidate = |route: FiveTuple| RemoteCandidate {
            addr: route.remote,
            priority: 1,
        };
        let candidates: Vec<_> = routes(end, count).map(candidate).collect();
        agents[end as usize].set_remote(now, &credentials, &candidates);
    }
}

/// Runs the checks until all paths are up, media may flow, and no message is in flight.
/// Returns that time.
pub fn connect(start: Instant, rtts: &[Duration], agents: &mut [Agent; 2]) -> Instant {
    let mut wires = Wires::new(rtts);
    let (mut now, mut connected) = (start, false);
    loop {
        for end in End::BOTH {
            wires.send(now, end, &mut agents[end as usize]);
        }
        if !connected && agents.iter().all(|a| up(a) == rtts.len()) {
            connected = true;
            agents.iter_mut().for_each(|a| a.set_phase(Phase::Media));
        }
        if connected && wires.flights.is_empty() {
            return now;
        }
        let timers = agents.iter().filter_map(|a| Some(a.poll_timeout()?.at));
        let next = timers.chain(wires.next()).min();
        let Some(next) = next.filter(|at| *at <= start + PATIENCE) else {
            return now;
        };
        now = next.max(now);
        wires.deliver(now, agents);
        for agent in &mut *agents {
            agent.handle_timeout(now);
        }
    }
}

fn up(agent: &Agent) -> usize {
    agent.paths().filter(|p| p.state == PathState::Up).count()
}

/// Datagram in flight: its receiver, destination address and source address.
type Flight = (End, FiveTuple, Vec<u8>);

struct Wires<'a> {
    rtts: &'a [Duration],
    /// Datagrams by time of arrival, then by order of sending.
    flights: BTreeMap<(Instant, u64), Flight>,
    sent: u64,
}

impl Wires<'_> {
    fn new(rtts: &[Duration]) -> Wires<'_> {
        Wires {
            rtts,
            flights: BTreeMap::new(),
            sent: 0,
        }
    }

    /// Sends this end's messages. Its events are read from the paths' states.
    fn send(&mut self, now: Instant, from: End, agent: &mut Agent) {
        while let Some(output) = agent.poll_output() {
            let Output::Transmit { tuple, datagram } = output else {
                continue;
            };
            let mut ends = routes(from, self.rtts.len());
            let Some(route) = ends.position(|ends| ends == tuple) else {
                continue;
            };
            let there = self.rtts[route] / 2;
            let delay = match from {
                End::Caller => there,
                End::Callee => self.rtts[route] - there,
            };
            self.sent += 1;
            let flight = (from.other(), tuple.reversed(), datagram);
            self.flights.insert((now + delay, self.sent), flight);
        }
    }

    fn next(&self) -> Option<Instant> {
        self.flights.first_key_value().map(|((at, _), _)| *at)
    }

    fn deliver(&mut self, now: Instant, agents: &mut [Agent; 2]) {
        while let Some(entry) = self.flights.first_entry().filter(|e| e.key().0 <= now) {
            let (to, tuple, datagram) = entry.remove();
            // The agent counts messages that it rejects.
            let _ = agents[to as usize].handle_datagram(now, tuple, &datagram);
        }
    }
}
