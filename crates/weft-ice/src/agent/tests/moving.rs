use super::net::*;
use super::nominate::attribute;
use super::*;

const PRIORITY: u16 = 0x0024;
const USE_CANDIDATE: u16 = 0x0025;
const MORE: [&str; 2] = ["10.0.1.1:2", "10.0.1.1:3"];

/// Priorities of the checks from an address, and whether each nominated.
fn checks(net: &Net, client: &str) -> Vec<(u32, bool)> {
    let own = |(_, side, local, _, d): &&(_, Side, SocketAddr, _, Vec<u8>)| {
        *side == Side::A && *local == addr(client) && d[..2] == [0, 1]
    };
    let checks = net.sent.iter().filter(own);
    let read = |d: &[u8]| {
        let priority = attribute(d, PRIORITY).expect("each has one");
        let priority = u32::from_be_bytes(priority.try_into().expect("four bytes"));
        (priority, attribute(d, USE_CANDIDATE).is_some())
    };
    checks.map(|(.., d)| read(d)).collect()
}

#[test]
fn each_move_outbids_every_pair_before_and_is_nominated_when_valid() {
    let mut net = two_links(5, 30);
    let described = [WIFI, LTE].map(|client| checks(&net, client));
    let mut highest = described
        .iter()
        .flatten()
        .map(|c| c.0)
        .max()
        .expect("checks");
    for client in MORE {
        net.wire(client, SERVER, 30);
        net.a.move_selection(net.now, local(client, 1));
        net.run_for(1000);
        let checks = checks(&net, client);
        // Peers keep the priority of the first check.
        assert!(
            checks.iter().all(|c| c.0 > highest),
            "{checks:?}, {highest}"
        );
        assert!(!checks[0].1, "nominated before it was valid");
        assert!(checks.iter().any(|c| c.1), "{checks:?}");
        highest = checks[0].0;
        let path = net.path_to(Side::A, client, SERVER);
        assert_eq!(net.a.selected(), Some(path));
        assert_eq!(net.b.selected(), Some(net.path_to(Side::B, SERVER, client)));
        assert_eq!(net.a.path(path).map(|p| p.state), Some(PathState::Up));
    }
}

/// No peer follows a selection of the controlled side.
#[test]
fn the_controlled_side_moves_nothing() {
    let mut net = two_links(5, 30);
    let before = net.b.selected();
    let highest = checks(&net, WIFI)[0].0;
    net.b.move_selection(net.now, local("10.0.0.9:2", 0));
    net.run_for(1000);
    assert_eq!(net.b.selected(), before);
    let raised = net.sent.iter().filter(|(_, side, _, _, d)| {
        *side == Side::B
            && d[..2] == [0, 1]
            && attribute(d, PRIORITY) > Some(&highest.to_be_bytes())
    });
    assert_eq!(raised.count(), 0);
}

/// The peer would not leave the pair that it moved to.
#[test]
fn a_move_over_a_metered_link_is_kept() {
    let mut net = two_links(5, 30);
    let metered = LocalAddress {
        cost: 250,
        ..local(MORE[0], 1)
    };
    net.wire(MORE[0], SERVER, 30);
    net.a.move_selection(net.now, metered);
    net.run_for(10_000);
    let path = net.path_to(Side::A, MORE[0], SERVER);
    assert_eq!(net.a.selected(), Some(path));
}
