use super::net::*;
use super::*;
use crate::{DownReason, PathState, RemoteFilter};

const SERVER: &str = "10.0.0.9:1";
const WIFI: &str = "10.0.0.1:1";
const LTE: &str = "10.0.1.1:1";

fn two_links(wifi_ms: u64, lte_ms: u64) -> Net {
    let mut net = Net::new(SERVER, &[(WIFI, wifi_ms), (LTE, lte_ms)]);
    net.connect();
    net.run_for(1000);
    net
}

fn downs(events: &[(u64, Event)]) -> Vec<(u64, PathId)> {
    let down = |(at, event): &(u64, Event)| match event {
        Event::PathDown { path, .. } => Some((*at, *path)),
        _ => None,
    };
    events.iter().filter_map(down).collect()
}

fn ups(events: &[(u64, Event)]) -> Vec<(u64, PathId)> {
    let up = |(at, event): &(u64, Event)| match event {
        Event::PathUp { path, .. } => Some((*at, *path)),
        _ => None,
    };
    events.iter().filter_map(up).collect()
}

#[test]
fn every_pair_becomes_valid_on_both_sides() {
    let net = two_links(5, 30);
    for association in [&net.a, &net.b] {
        let paths: Vec<_> = association.paths().collect();
        assert_eq!(paths.len(), 2);
        assert!(paths.iter().all(|p| p.state == PathState::Up));
        let mut rtts: Vec<u64> = paths
            .iter()
            .filter_map(|p| p.rtt)
            .map(|d| d.as_millis())
            .collect();
        rtts.sort_unstable();
        assert_eq!(rtts, [10, 60]);
    }
    let lte = net.path_to(Side::A, LTE, SERVER);
    assert_eq!(net.a.path(lte).map(|p| p.link), Some(LinkId(1)));
}

#[test]
fn valid_pairs_are_checked_at_most_two_and_a_half_seconds_apart() {
    let mut net = two_links(5, 30);
    let from = net.now;
    net.run_for(20_000);
    for client in [WIFI, LTE] {
        let is_check = |d: &[u8]| d[..2] == [0, 1];
        let checks = net.sent.iter().filter(|(at, side, local, _, d)| {
            *at >= from && *side == Side::A && *local == addr(client) && is_check(d)
        });
        let mut last = from;
        let mut count = 0;
        for (at, ..) in checks {
            assert!(at.saturating_since(last) <= Duration::from_millis(2500));
            last = *at;
            count += 1;
        }
        assert!((8..=12).contains(&count), "{count} checks in 20 s");
    }
}

#[test]
fn a_dead_path_is_found_within_200_ms_of_suspicion_whichever_was_accused() {
    for (dead, accused) in [(WIFI, WIFI), (LTE, LTE), (WIFI, LTE), (LTE, WIFI)] {
        for delays in [(1, 1), (10, 25), (25, 50), (5, 60)] {
            let mut net = two_links(delays.0, delays.1);
            net.wire_mut(dead, SERVER).up = false;
            net.run_for(120);
            let at = net.now;
            let accused = net.path_to(Side::A, accused, SERVER);
            net.a.suspect(at, accused);
            net.run_for(400);
            let down = downs(&net.events_since(Side::A, at));
            let dead = net.path_to(Side::A, dead, SERVER);
            assert_eq!(down.len(), 1, "{down:?}");
            assert_eq!(down[0].1, dead);
            assert!((30..=200).contains(&down[0].0), "after {} ms", down[0].0);
        }
    }
}

#[test]
fn a_path_under_suspicion_that_answers_stays_up() {
    let mut net = two_links(10, 50);
    let at = net.now;
    for client in [WIFI, LTE] {
        let path = net.path_to(Side::A, client, SERVER);
        net.a.suspect(net.now, path);
        net.run_for(1000);
    }
    assert_eq!(downs(&net.events_since(Side::A, at)), []);
}

#[test]
fn loss_is_not_death() {
    // Each check is answered with probability 0.81; a verdict needs three in
    // a row unanswered: 0.7 %, so about 3 of 400 (two paths, 20 suspicions,
    // 10 seeds).
    let mut false_alarms = 0;
    for seed in 0..10 {
        let mut net = two_links(10, 15);
        net.rng = Rng::new(seed);
        for client in [WIFI, LTE] {
            net.wire_mut(client, SERVER).loss = 0.1;
        }
        let at = net.now;
        for _ in 0..20 {
            let path = net.path_to(Side::A, WIFI, SERVER);
            net.a.suspect(net.now, path);
            net.run_for(1000);
        }
        false_alarms += downs(&net.events_since(Side::A, at)).len();
    }
    assert!(false_alarms <= 8, "{false_alarms} of 400");
}

#[test]
fn the_last_path_never_goes_down_by_suspicion_but_by_age() {
    let mut net = two_links(5, 30);
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = false;
    }
    let at = net.now;
    let path = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(at, path);
    net.run_for(25_000);
    assert_eq!(downs(&net.events_since(Side::A, at)), []);
    net.run_for(7_000);
    let down = net.events_since(Side::A, at);
    let expired = |e: &&(u64, Event)| {
        matches!(
            e.1,
            Event::PathDown {
                reason: DownReason::Expired,
                ..
            }
        )
    };
    assert_eq!(down.iter().filter(expired).count(), 2);
}

#[test]
fn after_an_outage_of_all_each_path_gets_its_chance() {
    let mut net = two_links(5, 60);
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = false;
    }
    let path = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(net.now, path);
    net.run_for(3000);
    let at = net.now;
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = true;
    }
    net.run_for(1000);
    // The slow path answers 110 ms after the fast one: that is no death.
    assert_eq!(downs(&net.events_since(Side::A, at)), []);
    let up = |client| {
        net.a
            .path(net.path_to(Side::A, client, SERVER))
            .map(|p| p.state)
    };
    assert_eq!([up(WIFI), up(LTE)], [Some(PathState::Up); 2]);
}

#[test]
fn when_all_paths_are_silent_for_a_second_it_is_told_and_so_is_the_return() {
    let mut net = two_links(5, 60);
    for client in [WIFI, LTE] {
        net.wire_mut(client, SERVER).up = false;
    }
    let paths = [WIFI, LTE].map(|client| net.path_to(Side::A, client, SERVER));
    let from = net.now;
    net.a.suspect(from, paths[0]);
    net.run_for(3000);
    let silent = |(at, event): (u64, Event)| match event {
        Event::PathSilent { path } => Some((at, path)),
        _ => None,
    };
    let events = net.events_since(Side::A, from).into_iter();
    let told: Vec<_> = events.filter_map(silent).collect();
    assert_eq!(told.iter().map(|(_, p)| *p).collect::<Vec<_>>(), paths);
    assert!(
        told.iter().all(|(at, _)| (1000..=1100).contains(at)),
        "{told:?}"
    );
    let at = net.now;
    net.wire_mut(LTE, SERVER).up = true;
    net.run_for(1000);
    let events = net.events_since(Side::A, at);
    let up = ups(&events);
    // A check every 100 ms, and its round trip of 120 ms.
    assert_eq!(up.iter().map(|(_, p)| *p).collect::<Vec<_>>(), [paths[1]]);
    assert!(up[0].0 <= 220, "{up:?}");
    let down = downs(&events);
    assert_eq!(
        down.iter().map(|(_, p)| *p).collect::<Vec<_>>(),
        [paths[0]],
        "now that another answers, the silent one is dead"
    );
}

#[test]
fn a_dead_path_comes_back() {
    let mut net = two_links(5, 30);
    net.wire_mut(WIFI, SERVER).up = false;
    let wifi = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(net.now, wifi);
    net.run_for(5_000);
    assert_eq!(net.a.path(wifi).map(|p| p.state), Some(PathState::Down));
    net.wire_mut(WIFI, SERVER).up = true;
    let at = net.now;
    net.run_for(1_000);
    let up = ups(&net.events_since(Side::A, at));
    assert_eq!(up.len(), 1);
    assert_eq!(up[0].1, wifi);
    assert!(up[0].0 <= 510, "after {} ms", up[0].0);
}

#[test]
fn an_idle_path_is_found_dead_by_its_own_checks() {
    let mut net = two_links(5, 30);
    net.wire_mut(LTE, SERVER).up = false;
    let at = net.now;
    net.run_for(6_000);
    for side in [Side::A, Side::B] {
        let down = downs(&net.events_since(side, at));
        assert_eq!(down.len(), 1, "{side:?}");
        assert!(down[0].0 <= 3_000, "after {} ms", down[0].0);
    }
}

#[test]
fn addresses_come_and_go_during_the_call() {
    let mut net = Net::new(SERVER, &[(WIFI, 5)]);
    net.connect();
    let at = net.now;
    net.wire(LTE, SERVER, 20);
    net.a.add_local(at, local(LTE, 1));
    net.run_for(500);
    for side in [Side::A, Side::B] {
        let up = ups(&net.events_since(side, at));
        assert_eq!(up.len(), 1, "{side:?}");
        assert!(up[0].0 <= 100, "after {} ms", up[0].0);
    }
    let at = net.now;
    let wifi = net.path_to(Side::A, WIFI, SERVER);
    net.a.remove_local(at, addr(WIFI));
    net.run_for(100);
    let removed = Event::PathDown {
        path: wifi,
        reason: DownReason::Removed,
    };
    let lte = net.path_to(Side::A, LTE, SERVER);
    let selected = Event::Selected { path: lte };
    assert_eq!(net.events_since(Side::A, at), [(0, removed), (0, selected)]);
    assert_eq!(net.a.path(wifi), None);
    // The number is not given to the next path.
    net.wire("10.0.2.1:1", SERVER, 20);
    net.a.add_local(net.now, local("10.0.2.1:1", 2));
    net.run_for(500);
    assert_ne!(net.path_to(Side::A, "10.0.2.1:1", SERVER), wifi);
}

#[test]
fn ipv4_and_ipv6_pair_with_their_own_kind() {
    let mut net = Net::strangers();
    let now = net.now;
    let (six, link_local) = ("[2001:db8::1]:1", "[fe80::1]:1");
    let server_six = "[2001:db8::9]:1";
    for (address, link) in [(WIFI, 0), (six, 1), (link_local, 2)] {
        net.a.add_local(now, local(address, link));
    }
    for address in [SERVER, server_six] {
        net.b.add_local(now, local(address, 0));
    }
    net.wire(WIFI, SERVER, 5);
    net.wire(six, server_six, 7);
    net.introduce(&[SERVER, server_six], &[]);
    net.connect();
    let mut pairs: Vec<_> = net.a.paths().map(|p| (p.local, p.remote)).collect();
    pairs.sort_unstable();
    let expected = [(addr(WIFI), addr(SERVER)), (addr(six), addr(server_six))];
    assert_eq!(pairs, expected);
    let crossed = net.sent.iter().filter(|(_, _, local, remote, _)| {
        local.is_ipv4() != remote.is_ipv4() || *local == addr(link_local)
    });
    assert_eq!(crossed.count(), 0);
}

#[test]
fn a_filter_keeps_pairs_from_being_made() {
    let mut net = Net::strangers();
    let now = net.now;
    let (first, second) = ("10.0.0.9:1", "10.0.1.9:1");
    for (client, server, link) in [(WIFI, first, 0), (LTE, second, 1)] {
        let mut address = local(client, link);
        address.remotes = RemoteFilter::Only(vec![addr(server)]);
        net.a.add_local(now, address);
        net.b.add_local(now, local(server, link));
    }
    for client in [WIFI, LTE] {
        for server in [first, second] {
            net.wire(client, server, 5);
        }
    }
    net.introduce(&[first, second], &[WIFI, LTE]);
    net.connect();
    assert_eq!(net.a.paths().count(), 2);
    // B has no filter and tries the other two; A does not answer.
    assert!(net.a.counters().dropped(DropReason::StunFiltered) > 0);
    let up = net.b.paths().filter(|p| p.state == PathState::Up);
    assert_eq!(up.count(), 2);
}

#[test]
fn nothing_is_answered_before_the_description_and_then_at_once() {
    let mut net = Net::strangers();
    let now = net.now;
    net.a.add_local(now, local(WIFI, 0));
    net.b.add_local(now, local(SERVER, 0));
    net.wire(WIFI, SERVER, 50);
    // B, the answerer, knows A already and checks; A waits for the answer.
    let a = description(&net.a, DtlsRole::Client, &[WIFI]);
    net.b.set_remote(now, a);
    net.run_for(400);
    assert!(net.sent.iter().all(|(_, side, ..)| *side == Side::B));
    let at = net.now;
    let b = description(&net.b, DtlsRole::Server, &[SERVER]);
    net.a.set_remote(at, b);
    net.drain();
    let answers = net
        .sent
        .iter()
        .filter(|(_, side, .., d)| *side == Side::A && d[..2] == [1, 1]);
    assert_eq!(answers.count(), 1, "the latest check only");
    net.run_for(300);
    let up = ups(&net.events_since(Side::B, at));
    assert_eq!(up.first().map(|u| u.0), Some(50));
}

/// The value of an attribute, by hand.
fn attribute(message: &[u8], kind: u16) -> Option<&[u8]> {
    let mut rest = &message[20..];
    while rest.len() >= 4 {
        let len = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        if rest[..2] == kind.to_be_bytes() {
            return Some(&rest[4..4 + len]);
        }
        rest = &rest[4 + len.div_ceil(4) * 4..];
    }
    None
}

fn checks_of_a(net: &Net, client: &str, from: Instant) -> Vec<Vec<u8>> {
    let checks = net.sent.iter().filter(|(at, side, local, _, d)| {
        *at >= from && *side == Side::A && *local == addr(client) && d[..2] == [0, 1]
    });
    checks.map(|c| c.4.clone()).collect()
}

const USE_CANDIDATE: u16 = 0x0025;
const NOMINATION: u16 = 0xc001;
const NETWORK_INFO: u16 = 0xc057;

#[test]
fn exactly_one_pair_is_nominated_and_its_cost_is_the_highest() {
    let mut net = two_links(5, 30);
    let mut selected = (WIFI, LTE);
    for expected in 1_u32..5 {
        let at = net.now;
        net.run_for(5_000);
        let cost = |check: &[u8]| {
            let value = attribute(check, NETWORK_INFO).expect("network info");
            u16::from_be_bytes([value[2], value[3]])
        };
        let of_selected = checks_of_a(&net, selected.0, at);
        let of_other = checks_of_a(&net, selected.1, at);
        assert!(of_selected.len() >= 2 && of_other.len() >= 2);
        for check in &of_selected {
            let nomination = attribute(check, NOMINATION);
            assert_eq!(nomination, Some(&expected.to_be_bytes()[..]));
            assert_eq!(attribute(check, USE_CANDIDATE), Some(&[][..]));
            assert!(of_other.iter().all(|other| cost(other) < cost(check)));
        }
        for check in &of_other {
            assert_eq!(attribute(check, NOMINATION), None);
            assert_eq!(attribute(check, USE_CANDIDATE), None);
        }
        assert_eq!(
            net.b.selected(),
            Some(net.path_to(Side::B, SERVER, selected.0))
        );
        selected = (selected.1, selected.0);
        let path = net.path_to(Side::A, selected.0, SERVER);
        net.a.select(net.now, path);
    }
}

#[test]
fn when_the_selected_path_dies_another_is_nominated() {
    let mut net = two_links(5, 30);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, WIFI, SERVER)));
    net.wire_mut(WIFI, SERVER).up = false;
    let at = net.now;
    let wifi = net.path_to(Side::A, WIFI, SERVER);
    net.a.suspect(at, wifi);
    net.run_for(300);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, LTE, SERVER)));
    assert_eq!(net.b.selected(), Some(net.path_to(Side::B, SERVER, LTE)));
}

#[test]
fn a_nomination_that_is_lost_is_said_again_soon() {
    let mut net = two_links(5, 30);
    let lte = net.path_to(Side::A, LTE, SERVER);
    net.wire_mut(LTE, SERVER).loss = 1.0;
    net.a.select(net.now, lte);
    net.run_for(100);
    net.wire_mut(LTE, SERVER).loss = 0.0;
    let at = net.now;
    net.run_for(200);
    let selected = net.events_since(Side::B, at);
    assert_eq!(selected.len(), 1, "{selected:?}");
    assert!(matches!(selected[0].1, Event::Selected { .. }));
}

#[test]
fn when_both_claim_a_role_the_tie_breaker_decides() {
    for (role, a_wins) in [
        (IceRole::Controlling, true),
        (IceRole::Controlled, true),
        (IceRole::Controlling, false),
    ] {
        let (high, low) = if a_wins { (9, 3) } else { (3, 9) };
        let mut net = Net::of(association(role, high, 1), association(role, low, 2));
        let now = net.now;
        net.a.add_local(now, local(WIFI, 0));
        net.b.add_local(now, local(SERVER, 0));
        net.wire(WIFI, SERVER, 5);
        net.introduce(&[SERVER], &[WIFI]);
        net.connect();
        net.run_for(1000);
        // The side that controls nominates in its checks.
        let nominating = |side| {
            let mut sent = net.sent.iter().rev();
            let last = sent.find(|(_, s, .., d)| *s == side && d[..2] == [0, 1]);
            last.is_some_and(|(.., d)| attribute(d, NOMINATION).is_some())
        };
        assert_eq!(
            (nominating(Side::A), nominating(Side::B)),
            (a_wins, !a_wins),
            "{role:?}"
        );
    }
}

#[test]
fn the_handshake_moves_when_its_path_dies() {
    // The wire that comes up first dies at once after the first check, in the
    // middle of the handshake.
    let mut net = Net::new(SERVER, &[(WIFI, 20), (LTE, 30)]);
    net.run_for(70);
    let wifi = net.path_to(Side::A, WIFI, SERVER);
    assert_eq!(net.a.selected(), Some(wifi));
    net.wire_mut(WIFI, SERVER).up = false;
    net.run_for(3_000);
    let connected = net
        .events
        .iter()
        .filter(|e| matches!(e.2, Event::Connected { .. }));
    let times: Vec<u64> = connected.map(|e| e.0.as_nanos() / 1_000_000).collect();
    assert_eq!(times.len(), 2);
    assert!(times.iter().all(|&t| t <= 2_000), "{times:?}");
}

#[test]
fn the_handshake_survives_loss() {
    for seed in 0..5 {
        let mut net = Net::new(SERVER, &[(WIFI, 10), (LTE, 30)]);
        net.rng = Rng::new(seed);
        for client in [WIFI, LTE] {
            net.wire_mut(client, SERVER).loss = 0.3;
        }
        net.run_for(10_000);
        let connected = net
            .events
            .iter()
            .filter(|e| matches!(e.2, Event::Connected { .. }));
        assert_eq!(connected.count(), 2);
    }
}

#[test]
fn dtls_is_answered_where_it_came_from_before_our_check_is() {
    // B's checks vanish, so B never validates; but its answers pass, so A
    // does, and is the client here.
    let mut net = Net::strangers();
    let now = net.now;
    net.a.add_local(now, local(WIFI, 0));
    net.b.add_local(now, local(SERVER, 0));
    net.wire(WIFI, SERVER, 5);
    let b = description(&net.b, DtlsRole::Client, &[SERVER]);
    let a = description(&net.a, DtlsRole::Server, &[]);
    net.a.set_remote(now, b);
    net.b.set_remote(now, a);
    net.vanish = Some((Side::B, [0, 1]));
    net.run_for(1000);
    let connected = net
        .events
        .iter()
        .filter(|e| matches!(e.2, Event::Connected { .. }));
    assert_eq!(connected.count(), 2);
    assert!(net.b.paths().all(|p| p.state != PathState::Up));
}

/// More addresses than an association remembers pairs: what is dead makes room.
#[test]
fn a_peer_on_the_move_may_change_its_address_any_number_of_times() {
    const CHANGES: u32 = 80;
    let mut net = two_links(5, 30);
    let mut before = [WIFI, LTE].map(str::to_owned).to_vec();
    for change in 0..CHANGES {
        let address = format!("10.1.0.{change}:5000");
        net.wire(&address, SERVER, 5);
        net.a.add_local(net.now, local(&address, 0));
        for old in before.drain(..) {
            net.a.remove_local(net.now, addr(&old));
        }
        let at = net.now;
        net.run_for(1000);
        assert_eq!(ups(&net.events_since(Side::B, at)).len(), 1, "{change}");
        before.push(address);
    }
}

/// Two addresses at each end of one link, four pairs of one bottleneck.
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

fn states(association: &Association) -> Vec<PathState> {
    let mut states: Vec<_> = association.paths().map(|p| p.state).collect();
    states.sort_by_key(|s| *s as u8);
    states
}

#[test]
fn one_pair_between_two_networks_carries_and_the_others_wait() {
    use PathState::{Spare, Up};
    let mut net = four_pairs([0, 0]);
    for association in [&net.a, &net.b] {
        assert_eq!(states(association), [Up, Spare, Spare, Spare]);
    }
    let up = net.a.paths().find(|p| p.state == Up).copied();
    let up = up.expect("one of four");
    assert_eq!(net.a.selected(), Some(up.id));
    // Who was told of no others hears of one only when it is needed.
    let told = |events: &[(u64, Event)]| ups(events).len() - downs(events).len();
    assert_eq!(told(&net.events_since(Side::A, Instant::ZERO)), 1);

    let at = net.now;
    let dead = (up.local, up.remote);
    net.wires.get_mut(&dead).expect("wire").up = false;
    net.a.suspect(at, up.id);
    net.run_for(1000);
    let events = net.events_since(Side::A, at);
    assert_eq!(downs(&events).len(), 1, "{events:?}");
    let (after, next) = ups(&events)[0];
    assert!(after <= 200, "after {after} ms");
    // In this order, so that it takes over what the other one held.
    let is_change = |e: &&(u64, Event)| !matches!(e.1, Event::Selected { .. });
    let first = events.iter().find(is_change).map(|e| &e.1);
    assert!(matches!(first, Some(Event::PathUp { .. })), "{events:?}");
    assert_eq!(net.a.selected(), Some(next));
    let next = net.a.path(next).expect("it is up");
    assert_ne!((next.local, next.remote), dead);
}

#[test]
fn each_network_of_the_peers_has_a_pair_that_carries() {
    use PathState::{Spare, Up};
    let net = four_pairs([0, 1]);
    for association in [&net.a, &net.b] {
        assert_eq!(states(association), [Up, Up, Spare, Spare]);
    }
    let remotes = net.a.paths().filter(|p| p.state == Up).map(|p| p.remote);
    let mut remotes: Vec<SocketAddr> = remotes.collect();
    remotes.sort();
    assert_eq!(remotes, [addr(SERVER_TOO), addr(SERVER)]);
}

#[test]
fn who_tells_no_network_may_have_one_for_each_address() {
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
    // Its checks tell one, and vanish; its answers arrive.
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
    for association in [&net.a, &net.b] {
        let selected = association.selected().and_then(|id| association.path(id));
        assert_eq!(selected.map(|p| p.state), Some(PathState::Up));
        assert_eq!(states(association)[1], PathState::Spare);
    }
    assert_eq!(net.a.selected(), Some(spare));
}
