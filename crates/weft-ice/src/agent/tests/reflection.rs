//! Packets that an agent can be made to send to uninvolved addresses.

use super::*;
use std::net::Ipv4Addr;
use stun_types::message::IntegrityKey;

const CLIENT: &str = "10.0.0.1:1";

/// As many candidates as the limit allows, none of which answers.
fn somebody_elses() -> Vec<RemoteCandidate> {
    let address = |host| SocketAddr::from((Ipv4Addr::new(192, 168, 7, host), 80));
    (0..32)
        .map(|host| RemoteCandidate {
            addr: address(host),
            priority: 1,
        })
        .collect()
}

fn agent_with(checks: Checks) -> Agent {
    let mut rng = Rng::new(9);
    let mut entropy = [0; 32];
    rng.fill(&mut entropy);
    let mut agent = Agent::new(Config {
        role: IceRole::Controlled,
        credentials: Credentials::from_entropy(&entropy),
        tie_breaker: 1,
        checks,
        rng,
    });
    agent.add_local(Instant::ZERO, local(SERVER, 0));
    agent.add_local(Instant::ZERO, local("10.0.0.10:1", 0));
    agent
}

/// Datagrams to each address in this many seconds without input.
fn sent(agent: &mut Agent, from: Instant, seconds: u64) -> Vec<SocketAddr> {
    let end = from + Duration::from_secs(seconds);
    let mut sent = Vec::new();
    loop {
        while let Some(output) = agent.poll_output() {
            if let Output::Transmit { tuple, .. } = output {
                sent.push(tuple.remote);
            }
        }
        let Some(next) = agent.poll_timeout().filter(|d| d.at <= end) else {
            return sent;
        };
        agent.handle_timeout(next.at);
    }
}

fn peer() -> Credentials {
    Credentials {
        ufrag: "peer".to_owned(),
        pwd: "p".repeat(24),
    }
}

/// Check of the peer, signed like ours.
fn check(agent: &Agent, transaction: u128) -> Vec<u8> {
    let ours = agent.credentials();
    let key: IntegrityKey = crate::stun::key(&ours.pwd);
    let check = crate::stun::Check {
        transaction,
        username: &format!("{}:peer", ours.ufrag),
        priority: 1,
        role: IceRole::Controlling,
        tie_breaker: 2,
        network: (1, 10),
        nomination: None,
    };
    check.write(&key)
}

#[test]
fn an_answering_agent_sends_nothing_to_candidates() {
    let mut agent = agent_with(Checks::Answering);
    agent.set_remote(Instant::ZERO, &peer(), &somebody_elses());
    let late = RemoteCandidate {
        addr: addr("192.168.8.1:80"),
        priority: 1,
    };
    agent.add_remote(Instant::ZERO, late);
    assert_eq!(sent(&mut agent, Instant::ZERO, 60).len(), 0);
    assert_eq!(agent.poll_timeout(), None);
}

#[test]
fn a_check_is_answered_and_returned_a_few_times_there_and_nowhere_else() {
    let mut agent = agent_with(Checks::Answering);
    agent.set_remote(Instant::ZERO, &peer(), &somebody_elses());
    let check = check(&agent, 1);
    let handled = agent.handle_datagram(
        Instant::ZERO,
        FiveTuple::udp(addr(SERVER), addr(CLIENT)),
        &check,
    );
    assert_eq!(handled, Ok(()));
    let sent = sent(&mut agent, Instant::ZERO, 60);
    assert!(sent.iter().all(|to| *to == addr(CLIENT)));
    // The answer, and checks that stay unanswered.
    assert!((3..=5).contains(&sent.len()), "{} datagrams", sent.len());
}

#[test]
fn checks_that_are_not_answered_have_a_budget() {
    let mut agent = agent_with(Checks::All);
    agent.set_remote(Instant::ZERO, &peer(), &somebody_elses());
    let first = sent(&mut agent, Instant::ZERO, 10).len();
    assert!((400..600).contains(&first), "{first} in ten seconds");
    let ten = Instant::ZERO + Duration::from_secs(10);
    let later = sent(&mut agent, ten, 60).len();
    // Rarely, but still every pair.
    assert!((300..1000).contains(&later), "{later} in the next minute");
}

#[test]
fn many_forged_sources_share_the_budget_of_one() {
    let mut agent = agent_with(Checks::Answering);
    agent.set_remote(Instant::ZERO, &peer(), &[]);
    let mut total = 0;
    for round in 0..1_000_u64 {
        let now = Instant::ZERO + Duration::from_millis(10) * round;
        let check = check(&agent, round.into());
        let source = SocketAddr::from((Ipv4Addr::new(192, 168, 9, (round % 64) as u8), 80));
        // A check beyond the limit is refused and counted.
        let _ = agent.handle_datagram(now, FiveTuple::udp(addr(SERVER), source), &check);
        while agent.poll_output().is_some() {
            total += 1;
        }
    }
    // An answer to each, and the checks of ten seconds.
    assert!(total < 1_000 + 600, "{total}");
}

#[test]
fn a_client_and_a_server_that_only_answers_find_each_other() {
    let mut server = agent_with(Checks::Answering);
    server.remove_local(Instant::ZERO, addr("10.0.0.10:1"));
    let mut net = Net::of(agent(IceRole::Controlling, 2, 1), server);
    for (link, client) in [(0, WIFI), (1, LTE)] {
        net.a.add_local(Instant::ZERO, local(client, link));
        net.wire(client, SERVER, 10);
        net.wire_mut(client, SERVER).loss = 0.3;
    }
    net.introduce(&[SERVER], &[WIFI, LTE]);
    net.run_for(3_000);
    for side in [Side::A, Side::B] {
        let up = net.side(side).paths().filter(|p| p.state == PathState::Up);
        assert_eq!(up.count(), 2, "{side:?}");
    }
}
