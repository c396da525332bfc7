use super::net::*;
use super::*;

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
fn no_flight_goes_where_no_check_was_answered() {
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
    net.run_for(500);
    let is_dtls = |datagram: &[u8]| (20..=63).contains(&datagram[0]);
    let flights = |net: &Net, side| {
        let sent = net.sent.iter();
        sent.filter(|(_, from, .., datagram)| *from == side && is_dtls(datagram))
            .count()
    };
    assert!(flights(&net, Side::A) > 0);
    assert_eq!(
        flights(&net, Side::B),
        0,
        "to an address that proved nothing"
    );
    // What came meanwhile is answered as soon as it has.
    net.vanish = None;
    net.run_for(1000);
    let connected = net
        .events
        .iter()
        .filter(|e| matches!(e.2, Event::Connected { .. }));
    assert_eq!(connected.count(), 2);
}

#[test]
fn many_associations_share_what_their_certificate_validated() {
    let certificate = Certificate::generate().expect("certificate");
    for role in [DtlsRole::Client, DtlsRole::Server] {
        let one = certificate.handshake_config(role, None);
        let other = certificate.clone().handshake_config(role, None);
        assert!(std::sync::Arc::ptr_eq(&one, &other));
        // A seed is the run's own.
        let seeded = certificate.handshake_config(role, Some(1));
        assert!(!std::sync::Arc::ptr_eq(&one, &seeded));
    }
}
