use super::net::*;
use super::*;
use weft_ice::PathState;

const SERVER: &str = "10.0.0.9:1";
const WIFI: &str = "10.0.0.1:1";
const LTE: &str = "10.0.1.1:1";

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
