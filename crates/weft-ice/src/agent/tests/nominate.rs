use super::net::*;
use super::*;

/// Value of an attribute, parsed by hand.
pub(super) fn attribute(message: &[u8], kind: u16) -> Option<&[u8]> {
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
        let mut net = Net::of(agent(role, high, 1), agent(role, low, 2));
        let now = net.now;
        net.a.add_local(now, local(WIFI, 0));
        net.b.add_local(now, local(SERVER, 0));
        net.wire(WIFI, SERVER, 5);
        net.introduce(&[SERVER], &[WIFI]);
        net.connect();
        net.run_for(1000);
        // The controlling side nominates in its checks.
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

/// Two links with these delays in ms and costs.
fn of_costs(links: [(u64, u16); 2]) -> Net {
    let mut net = Net::strangers();
    let now = net.now;
    net.b.add_local(now, local(SERVER, 0));
    for (link, (client, (delay, cost))) in (0..).zip([WIFI, LTE].into_iter().zip(links)) {
        let local = local(client, link);
        net.a.add_local(now, LocalAddress { cost, ..local });
        net.wire(client, SERVER, delay);
    }
    net.introduce(&[SERVER], &[]);
    net
}

/// Number of paths that A selected, one after the other.
fn selections(net: &Net) -> usize {
    let of_a = net.events_since(Side::A, Instant::ZERO);
    let selected = |e: &&(u64, Event)| matches!(e.1, Event::Selected { .. });
    of_a.iter().filter(selected).count()
}

/// Checks of the peer; their answers pass.
const CHECKS_OF_B: fn(Side, &[u8]) -> bool = |from, d| from == Side::B && d[..2] == [0, 1];

#[test]
fn a_pair_that_the_peer_checks_is_nominated_rather_than_the_first_valid_one() {
    let mut net = of_costs([(5, 0), (30, 10)]);
    net.wire_mut(WIFI, SERVER).drops = CHECKS_OF_B;
    net.connect();
    let lte = net.path_to(Side::A, LTE, SERVER);
    assert_eq!(net.a.selected(), Some(lte));
    assert_eq!(selections(&net), 2);
    // It stays there when the peer checks the other one, too.
    net.wire_mut(WIFI, SERVER).drops = |_, _| false;
    net.run_for(10_000);
    assert_eq!(selections(&net), 2);
}

#[test]
fn a_pair_that_the_peer_checks_is_not_nominated_if_its_link_is_metered() {
    let mut net = of_costs([(5, 0), (30, 260)]);
    net.wire_mut(WIFI, SERVER).drops = CHECKS_OF_B;
    net.run_for(2_000);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, WIFI, SERVER)));
    assert_eq!(selections(&net), 1);
}

#[test]
fn the_first_valid_pair_stays_nominated_if_the_peer_checks_none() {
    let mut net = of_costs([(5, 0), (30, 10)]);
    net.vanish = Some((Side::B, [0, 1]));
    net.run_for(2_000);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, WIFI, SERVER)));
    assert_eq!(selections(&net), 1);
}

#[test]
fn a_metered_pair_that_is_valid_first_is_nominated_until_a_free_one_is_valid() {
    let mut net = of_costs([(5, 250), (100, 10)]);
    net.run_for(150);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, WIFI, SERVER)));
    net.run_for(100);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, LTE, SERVER)));
    net.run_for(150);
    assert_eq!(net.b.selected(), Some(net.path_to(Side::B, SERVER, LTE)));
    net.run_for(10_000);
    assert_eq!(selections(&net), 2);
}

#[test]
fn a_free_pair_that_the_peer_does_not_check_is_not_nominated() {
    let mut net = of_costs([(5, 250), (30, 0)]);
    net.wire_mut(LTE, SERVER).drops = CHECKS_OF_B;
    net.run_for(10_000);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, WIFI, SERVER)));
    net.wire_mut(LTE, SERVER).drops = |_, _| false;
    net.run_for(10_000);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, LTE, SERVER)));
    assert_eq!(selections(&net), 2);
}

#[test]
fn a_dear_pair_that_is_valid_first_stays_if_the_other_is_hardly_cheaper() {
    let mut net = of_costs([(5, 100), (30, 0)]);
    net.connect();
    net.run_for(10_000);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, WIFI, SERVER)));
    assert_eq!(selections(&net), 1);
}

#[test]
fn in_a_call_the_selection_returns_to_a_free_link_that_is_steady() {
    let mut net = of_costs([(5, 0), (30, 260)]);
    net.connect();
    let wifi = net.path_to(Side::A, WIFI, SERVER);
    let lte = net.path_to(Side::A, LTE, SERVER);
    // A link that flaps every 4 s is left once.
    for _ in 0..5 {
        net.wire_mut(WIFI, SERVER).up = false;
        net.a.suspect(net.now, wifi);
        net.run_for(4_000);
        assert_eq!(net.a.selected(), Some(lte));
        net.wire_mut(WIFI, SERVER).up = true;
        net.run_for(4_000);
    }
    assert_eq!(selections(&net), 2);
    net.run_for(4_000);
    assert_eq!(net.a.selected(), Some(wifi));
    net.run_for(10_000);
    assert_eq!(selections(&net), 3);
    assert_eq!(net.b.selected(), Some(net.path_to(Side::B, SERVER, WIFI)));
}

#[test]
fn a_link_that_becomes_metered_loses_the_selection() {
    let mut net = of_costs([(5, 0), (30, 10)]);
    net.connect();
    net.run_for(5_000);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, WIFI, SERVER)));
    let metered = LocalAddress {
        cost: 250,
        ..local(WIFI, 0)
    };
    net.a.add_local(net.now, metered);
    net.run_for(2_100);
    assert_eq!(net.a.selected(), Some(net.path_to(Side::A, LTE, SERVER)));
    net.run_for(5_000);
    assert_eq!(selections(&net), 2);
}

/// Times in ms at which B's paths over both links were up for the first time.
fn up_at_b(net: &Net) -> [Option<u64>; 2] {
    let ups = ups(&net.events_since(Side::B, Instant::ZERO));
    [WIFI, LTE].map(|client| {
        let path = net.b.path_between(addr(SERVER), addr(client))?;
        ups.iter().find(|up| up.1 == path).map(|up| up.0)
    })
}

#[test]
fn a_peer_reaches_a_free_link_before_a_metered_one_that_is_faster() {
    let mut net = of_costs([(5, 250), (30, 0)]);
    net.run_for(1_000);
    let [metered, free] = up_at_b(&net);
    assert!(free < Some(150), "{free:?}");
    assert!((Some(200)..Some(250)).contains(&metered), "{metered:?}");
}

#[test]
fn a_peer_reaches_a_metered_link_after_a_moment_if_the_free_one_is_dead() {
    let mut net = of_costs([(5, 250), (30, 0)]);
    net.wire_mut(LTE, SERVER).up = false;
    net.run_for(1_000);
    let [metered, free] = up_at_b(&net);
    assert!((Some(200)..Some(250)).contains(&metered), "{metered:?}");
    assert_eq!(free, None);
}

#[test]
fn metered_links_alone_wait_for_nothing() {
    let mut net = of_costs([(5, 250), (30, 260)]);
    net.run_for(1_000);
    let [metered, _] = up_at_b(&net);
    assert!(metered < Some(50), "{metered:?}");
}
