//! Bodies of the fuzz targets in `fuzz/`, which property tests run as well.

use crate::{
    Agent, Checks, Config, Credentials, IceRole, LinkId, LocalAddress, RemoteCandidate,
    RemoteFilter,
};
use std::net::SocketAddr;
use weft_units::{Duration, FiveTuple, Instant, Rng, Transport};

/// Feeds the bytes to an agent as STUN messages: each is a length byte, a byte
/// that selects the sender and the time, and the content. Must never panic, and
/// deadlines must advance.
pub fn fuzz_datagrams(data: &[u8]) {
    let mut agent = agent();
    let local = SocketAddr::from(([10, 0, 0, 1], 1));
    let mut now = Instant::ZERO;
    let mut rest = data;
    while let [len, how, tail @ ..] = rest {
        let (datagram, tail) = tail.split_at(tail.len().min(usize::from(*len)));
        rest = tail;
        let remote = SocketAddr::from(([10, 0, 0, 9], 1 + u16::from(how & 3)));
        now += Duration::from_millis(u64::from(how >> 2));
        let dropped = agent
            .handle_datagram(now, FiveTuple::udp(local, remote), datagram)
            .is_err();
        let counted: u64 = agent.counters().drops().map(|(_, n)| n).sum();
        assert!(!dropped || counted > 0, "a drop that nobody counted");
        agent.handle_timeout(now);
        while agent.poll_output().is_some() {}
        let next = agent.poll_timeout();
        assert!(next.is_none_or(|d| d.at > now), "spins: {next:?}");
    }
}

fn agent() -> Agent {
    let credentials = Credentials {
        ufrag: "fuzz".to_owned(),
        pwd: "fuzz".repeat(6),
    };
    let mut agent = Agent::new(Config {
        role: IceRole::Controlled,
        credentials: credentials.clone(),
        tie_breaker: 1,
        checks: Checks::All,
        rng: Rng::new(1),
    });
    agent.add_local(
        Instant::ZERO,
        LocalAddress {
            transport: Transport::Udp,
            addr: SocketAddr::from(([10, 0, 0, 1], 1)),
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        },
    );
    let candidate = RemoteCandidate {
        addr: SocketAddr::from(([10, 0, 0, 9], 1)),
        priority: 1,
    };
    agent.set_remote(Instant::ZERO, &credentials, &[candidate]);
    agent
}

#[cfg(test)]
mod tests;
