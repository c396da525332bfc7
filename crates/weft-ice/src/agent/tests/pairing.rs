use super::net::*;
use super::*;

#[test]
fn every_pair_becomes_valid_on_both_sides() {
    let net = two_links(5, 30);
    for agent in [&net.a, &net.b] {
        let paths: Vec<_> = agent.paths().collect();
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
    let ended = Event::PathRemoved { path: wifi };
    let selected = Event::Selected { path: lte };
    let events = [(0, removed), (0, ended), (0, selected)];
    assert_eq!(net.events_since(Side::A, at), events);
    assert_eq!(net.a.path(wifi), None);
    // The number is not assigned to the next path.
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
    let mut pairs: Vec<_> = net.a.paths().map(|p| p.tuple).collect();
    pairs.sort_unstable();
    let expected = [(WIFI, SERVER), (six, server_six)];
    let expected = expected.map(|(a, b)| FiveTuple::udp(addr(a), addr(b)));
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
    assert!(net.a.counters().dropped(DropReason::Filtered) > 0);
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
    // B, the answerer, already knows A and checks; A waits for the answer.
    let a = net.a.credentials().clone();
    net.b.set_remote(now, &a, &candidates(&[WIFI]));
    net.run_for(400);
    assert!(net.sent.iter().all(|(_, side, ..)| *side == Side::B));
    let at = net.now;
    let b = net.b.credentials().clone();
    net.a.set_remote(at, &b, &candidates(&[SERVER]));
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

/// More addresses than the limit on pairs: dead pairs are replaced.
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
