//! Two addresses at each end of one link: four pairs with one bottleneck.

use super::net::*;
use super::*;

const WIFI_TOO: &str = "10.0.0.2:1";

const SERVER_TOO: &str = "10.0.0.8:1";

fn four_pairs(far: [u8; 2]) -> Net {
    let mut net = Net::strangers();
    let now = net.now;
    for (client, delay) in [(WIFI, 5), (WIFI_TOO, 10)] {
        net.a.add_local(now, local(client, 0));
        net.wire(client, SERVER, delay);
        net.wire(client, SERVER_TOO, delay);
    }
    for (server, link) in [SERVER, SERVER_TOO].into_iter().zip(far) {
        net.b.add_local(now, local(server, link));
    }
    net.introduce(&[SERVER, SERVER_TOO], &[]);
    net.connect();
    net.run_for(1000);
    net
}

fn states(agent: &Agent) -> Vec<PathState> {
    let mut states: Vec<_> = agent.paths().map(|p| p.state).collect();
    states.sort_by_key(|s| *s as u8);
    states
}

#[test]
fn one_pair_between_two_networks_carries_and_the_others_wait() {
    use PathState::{Spare, Up};
    let mut net = four_pairs([0, 0]);
    for agent in [&net.a, &net.b] {
        assert_eq!(states(agent), [Up, Spare, Spare, Spare]);
    }
    let up = net.a.paths().find(|p| p.state == Up).copied();
    let up = up.expect("one of four");
    assert_eq!(net.a.selected(), Some(up.id));
    // An end that knows only one pair learns of another one only when it is needed.
    let told = |events: &[(u64, Event)]| ups(events).len() - downs(events).len();
    assert_eq!(told(&net.events_since(Side::A, Instant::ZERO)), 1);

    let at = net.now;
    let dead = (up.tuple.local, up.tuple.remote);
    net.wires.get_mut(&dead).expect("wire").up = false;
    net.a.suspect(at, up.id);
    net.run_for(1000);
    let events = net.events_since(Side::A, at);
    assert_eq!(downs(&events).len(), 1, "{events:?}");
    let (after, next) = ups(&events)[0];
    assert!(after <= 200, "after {after} ms");
    // The new path comes first, so that it takes over the packets of the other one.
    let is_change = |e: &&(u64, Event)| !matches!(e.1, Event::Selected { .. });
    let first = events.iter().find(is_change).map(|e| &e.1);
    assert!(matches!(first, Some(Event::PathUp { .. })), "{events:?}");
    assert_eq!(net.a.selected(), Some(next));
    let next = net.a.path(next).expect("it is up");
    assert_ne!((next.tuple.local, next.tuple.remote), dead);
}

#[test]
fn each_network_of_the_peers_has_a_pair_that_carries() {
    use PathState::{Spare, Up};
    let net = four_pairs([0, 1]);
    for agent in [&net.a, &net.b] {
        assert_eq!(states(agent), [Up, Up, Spare, Spare]);
    }
    let remotes = net
        .a
        .paths()
        .filter(|p| p.state == Up)
        .map(|p| p.tuple.remote);
    let mut remotes: Vec<SocketAddr> = remotes.collect();
    remotes.sort();
    assert_eq!(remotes, [addr(SERVER_TOO), addr(SERVER)]);
}

#[test]
fn an_agent_without_networks_may_use_one_for_each_address() {
    use PathState::{Spare, Up};
    let mut net = Net::strangers();
    let now = net.now;
    for client in [WIFI, WIFI_TOO] {
        net.a.add_local(now, local(client, 0));
    }
    for server in [SERVER, SERVER_TOO] {
        net.b.add_local(now, local(server, 0));
        net.wire(WIFI, server, 5);
        net.wire(WIFI_TOO, server, 10);
    }
    // Its checks, which announce one, vanish; its answers arrive.
    net.vanish = Some((Side::B, [0, 1]));
    net.introduce(&[SERVER, SERVER_TOO], &[]);
    net.run_for(2000);
    assert_eq!(states(&net.a), [Up, Up, Spare, Spare]);
}

#[test]
fn the_pair_that_its_owner_selects_carries() {
    let mut net = four_pairs([0, 0]);
    let spare = net.a.paths().find(|p| p.state == PathState::Spare);
    let spare = spare.expect("one of four").id;
    net.a.select(net.now, spare);
    net.run_for(500);
    for agent in [&net.a, &net.b] {
        let selected = agent.selected().and_then(|id| agent.path(id));
        assert_eq!(selected.map(|p| p.state), Some(PathState::Up));
        assert_eq!(states(agent)[1], PathState::Spare);
    }
    assert_eq!(net.a.selected(), Some(spare));
}
