//! TCP connections of a peer beside UDP.

use super::*;
use crate::stun;

const UDP_CLIENT: &str = "10.0.0.1:1";
const TCP_CLIENT: &str = "10.0.0.1:2";

fn peer() -> Credentials {
    Credentials {
        ufrag: "peer".to_owned(),
        pwd: "p".repeat(24),
    }
}

/// Server that accepts TCP beside its UDP address, and knows its peer.
fn server(role: IceRole, checks: Checks) -> Agent {
    let mut agent = Agent::new(Config {
        role,
        credentials: Credentials::from_entropy(&[7; 32]),
        tie_breaker: 1,
        checks,
        rng: Rng::new(1),
    });
    agent.add_local(Instant::ZERO, local(SERVER, 0));
    for is_ipv4 in [true, false] {
        let addr = tcp_local(is_ipv4);
        agent.add_local(
            Instant::ZERO,
            LocalAddress {
                addr,
                ..local(SERVER, 0)
            },
        );
    }
    agent.set_remote(Instant::ZERO, &peer(), &candidates(&[UDP_CLIENT]));
    agent
}

/// The peer checks a pair and answers the checks of the agent there.
fn connect(agent: &mut Agent, now: Instant, from: &str, local: SocketAddr, value: Option<u32>) {
    let ours = agent.credentials().clone();
    let role = match agent.role() {
        IceRole::Controlling => IceRole::Controlled,
        IceRole::Controlled => IceRole::Controlling,
    };
    let check = stun::Check {
        transaction: u128::from(now.as_nanos()) + 1,
        username: &format!("{}:peer", ours.ufrag),
        priority: 1,
        role,
        tie_breaker: 2,
        network: (1, 10),
        nomination: value,
    };
    let check = check.write(&stun::key(&ours.pwd));
    let handled = agent.handle_datagram(now, local, addr(from), &check);
    assert_eq!(handled, Ok(()));
    answer(agent, now, local);
}

/// The peer answers all checks from this address; returns the addresses of all datagrams.
fn answer(agent: &mut Agent, now: Instant, at: SocketAddr) -> Vec<(SocketAddr, SocketAddr)> {
    let mut sent = Vec::new();
    while let Some(output) = agent.poll_output() {
        let Output::Transmit {
            local,
            remote,
            datagram,
        } = output
        else {
            continue;
        };
        sent.push((local, remote));
        if let Ok(stun::Incoming::Request(message)) = stun::parse(&datagram)
            && local == at
        {
            let transaction = message.transaction_id().into();
            let answer = stun::success(transaction, local, &stun::key(&peer().pwd));
            let handled = agent.handle_datagram(now, local, remote, &answer);
            assert_eq!(handled, Ok(()));
        }
    }
    sent
}

fn state(agent: &Agent, local: SocketAddr) -> Option<PathState> {
    let found = agent.paths().find(|path| path.local == local);
    found.map(|path| path.state)
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[test]
fn tcp_carries_only_without_udp() {
    let (tcp, udp) = (tcp_local(true), addr(SERVER));
    let mut agent = server(IceRole::Controlled, Checks::Answering);
    connect(&mut agent, at(0), TCP_CLIENT, tcp, Some(1));
    assert_eq!(state(&agent, tcp), Some(PathState::Up));
    connect(&mut agent, at(10), UDP_CLIENT, udp, Some(2));
    assert_eq!(state(&agent, udp), Some(PathState::Up));
    assert_eq!(state(&agent, tcp), Some(PathState::Spare));
    agent.remove_local(at(20), udp);
    // It could be as dead, until it answers.
    assert_eq!(state(&agent, tcp), Some(PathState::Spare));
    answer(&mut agent, at(21), tcp);
    assert_eq!(state(&agent, tcp), Some(PathState::Up));
}

#[test]
fn tcp_that_comes_later_waits_even_if_it_is_quicker() {
    let (tcp, udp) = (tcp_local(true), addr(SERVER));
    let mut agent = server(IceRole::Controlled, Checks::Answering);
    connect(&mut agent, at(0), UDP_CLIENT, udp, None);
    // From another address of the peer, which could be another network.
    connect(&mut agent, at(10), "10.0.7.7:2", tcp, None);
    assert_eq!(state(&agent, udp), Some(PathState::Up));
    assert_eq!(state(&agent, tcp), Some(PathState::Spare));
}

#[test]
fn an_agent_that_nominates_leaves_tcp_for_udp() {
    let (tcp, udp) = (tcp_local(true), addr(SERVER));
    let mut agent = server(IceRole::Controlling, Checks::Answering);
    let selected = |agent: &Agent| {
        let path = agent.selected().and_then(|id| agent.path(id));
        path.map(|path| path.local)
    };
    connect(&mut agent, at(0), TCP_CLIENT, tcp, None);
    assert_eq!(selected(&agent), Some(tcp));
    connect(&mut agent, at(10), UDP_CLIENT, udp, None);
    assert_eq!(selected(&agent), Some(udp));
    assert_eq!(state(&agent, udp), Some(PathState::Up));
    // But not the other way round.
    connect(&mut agent, at(20), "10.0.0.1:3", tcp, None);
    assert_eq!(selected(&agent), Some(udp));
}

#[test]
fn addresses_of_different_transports_are_no_pair() {
    let tcp = tcp_local(true);
    let mut agent = server(IceRole::Controlled, Checks::All);
    connect(&mut agent, at(0), TCP_CLIENT, tcp, None);
    let mut sent = Vec::new();
    while let Some(next) = agent.poll_timeout().filter(|next| next.at < at(2_000)) {
        agent.handle_timeout(next.at);
        sent.extend(answer(&mut agent, next.at, tcp));
    }
    sent.sort_unstable();
    sent.dedup();
    let pairs = [(tcp, addr(TCP_CLIENT)), (addr(SERVER), addr(UDP_CLIENT))];
    assert_eq!(sent, pairs);
}
