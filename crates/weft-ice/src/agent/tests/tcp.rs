//! TCP connections of a peer in addition to UDP.

use super::*;
use crate::stun;
use weft_units::Transport::{Tcp, Udp};

const UDP_CLIENT: &str = "10.0.0.1:1";
const TCP_CLIENT: &str = "10.0.0.1:2";

fn peer() -> Credentials {
    Credentials {
        ufrag: "peer".to_owned(),
        pwd: "p".repeat(24),
    }
}

/// Server that accepts TCP in addition to its UDP address, and knows its peer.
fn server(role: IceRole, checks: Checks) -> Agent {
    let mut agent = Agent::new(Config {
        role,
        credentials: Credentials::from_entropy(&[7; 32]),
        tie_breaker: 1,
        checks,
        rng: Rng::new(1),
    });
    let transports = [Udp, Tcp];
    for transport in transports {
        agent.add_local(
            Instant::ZERO,
            LocalAddress {
                transport,
                ..local(SERVER, 0)
            },
        );
    }
    agent.set_remote(Instant::ZERO, &peer(), &candidates(&[UDP_CLIENT]));
    agent
}

/// Addresses of the server and a client.
fn tuple(transport: Transport, client: &str) -> FiveTuple {
    FiveTuple {
        transport,
        local: addr(SERVER),
        remote: addr(client),
    }
}

/// The peer checks a pair and answers the checks of the agent there.
fn connect(agent: &mut Agent, now: Instant, tuple: FiveTuple, value: Option<u32>) {
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
    let handled = agent.handle_datagram(now, tuple, &check);
    assert_eq!(handled, Ok(()));
    answer(agent, now, tuple.transport);
}

/// The peer answers all checks over this transport; returns the addresses of all datagrams.
fn answer(agent: &mut Agent, now: Instant, over: Transport) -> Vec<FiveTuple> {
    let mut sent = Vec::new();
    while let Some(output) = agent.poll_output() {
        let Output::Transmit { tuple, datagram } = output else {
            continue;
        };
        sent.push(tuple);
        if let Ok(stun::Incoming::Request(message)) = stun::parse(&datagram)
            && tuple.transport == over
        {
            let transaction = message.transaction_id().into();
            let answer = stun::success(transaction, tuple.local, &stun::key(&peer().pwd));
            let handled = agent.handle_datagram(now, tuple, &answer);
            assert_eq!(handled, Ok(()));
        }
    }
    sent
}

fn state(agent: &Agent, over: Transport) -> Option<PathState> {
    let found = agent.paths().find(|path| path.tuple.transport == over);
    found.map(|path| path.state)
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[test]
fn tcp_carries_only_without_udp() {
    let mut agent = server(IceRole::Controlled, Checks::Answering);
    connect(&mut agent, at(0), tuple(Tcp, TCP_CLIENT), Some(1));
    assert_eq!(state(&agent, Tcp), Some(PathState::Up));
    connect(&mut agent, at(10), tuple(Udp, UDP_CLIENT), Some(2));
    assert_eq!(state(&agent, Udp), Some(PathState::Up));
    assert_eq!(state(&agent, Tcp), Some(PathState::Spare));
    agent.remove_local(at(20), addr(SERVER));
    // The connection may have failed, too, until it answers.
    assert_eq!(state(&agent, Tcp), Some(PathState::Spare));
    answer(&mut agent, at(21), Tcp);
    assert_eq!(state(&agent, Tcp), Some(PathState::Up));
}

#[test]
fn tcp_that_comes_later_waits_even_if_it_is_quicker() {
    let mut agent = server(IceRole::Controlled, Checks::Answering);
    connect(&mut agent, at(0), tuple(Udp, UDP_CLIENT), None);
    // From another address of the peer, which could be another network.
    connect(&mut agent, at(10), tuple(Tcp, "10.0.7.7:2"), None);
    assert_eq!(state(&agent, Udp), Some(PathState::Up));
    assert_eq!(state(&agent, Tcp), Some(PathState::Spare));
}

#[test]
fn an_agent_that_nominates_leaves_tcp_for_udp() {
    let mut agent = server(IceRole::Controlling, Checks::Answering);
    let selected = |agent: &Agent| {
        let path = agent.selected().and_then(|id| agent.path(id));
        path.map(|path| path.tuple.transport)
    };
    connect(&mut agent, at(0), tuple(Tcp, TCP_CLIENT), None);
    assert_eq!(selected(&agent), Some(Tcp));
    connect(&mut agent, at(10), tuple(Udp, UDP_CLIENT), None);
    assert_eq!(selected(&agent), Some(Udp));
    assert_eq!(state(&agent, Udp), Some(PathState::Up));
    // But the selection does not move from UDP to TCP.
    connect(&mut agent, at(20), tuple(Tcp, "10.0.0.1:3"), None);
    assert_eq!(selected(&agent), Some(Udp));
}

#[test]
fn addresses_of_different_transports_do_not_pair() {
    let mut agent = server(IceRole::Controlled, Checks::All);
    connect(&mut agent, at(0), tuple(Tcp, TCP_CLIENT), None);
    let mut sent = Vec::new();
    while let Some(next) = agent.poll_timeout().filter(|next| next.at < at(2_000)) {
        agent.handle_timeout(next.at);
        sent.extend(answer(&mut agent, next.at, Tcp));
    }
    sent.sort_unstable();
    sent.dedup();
    assert_eq!(sent, [tuple(Udp, UDP_CLIENT), tuple(Tcp, TCP_CLIENT)]);
}

#[test]
fn an_agent_that_nominates_stays_with_udp_when_the_peer_checks_only_tcp() {
    let mut agent = server(IceRole::Controlling, Checks::All);
    agent.handle_timeout(at(0));
    answer(&mut agent, at(1), Udp);
    assert_eq!(state(&agent, Udp), Some(PathState::Up));
    connect(&mut agent, at(10), tuple(Tcp, TCP_CLIENT), None);
    assert_eq!(state(&agent, Tcp), Some(PathState::Spare));
    let selected = agent.selected().and_then(|id| agent.path(id));
    assert_eq!(selected.map(|path| path.tuple.transport), Some(Udp));
}
