use super::net::*;
use super::*;
use crate::FailReason;

const SERVER: &str = "10.0.0.9:1";
const WIFI: &str = "10.0.0.1:1";
const LTE: &str = "10.0.1.1:1";

#[test]
fn the_handshake_moves_when_its_path_dies() {
    // The wire that comes up first fails just after the first check, in the middle of the
    // handshake.
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
    // B's checks vanish, so B never validates a path; its answers pass, so A does, and is
    // the client here.
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
    // Datagrams that arrived before are answered as soon as B validates a path.
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
        // A run with a seed has its own configuration.
        let seeded = certificate.handshake_config(role, Some(1));
        assert!(!std::sync::Arc::ptr_eq(&one, &seeded));
    }
}

/// The answering side, B, is ready at the same time in either role: as server, it need
/// not wait for the answer to its own check.
#[test]
fn opening_the_handshake_gains_the_answering_side_nothing() {
    for (client, expected) in [(Side::A, [40, 50]), (Side::B, [60, 50])] {
        let mut net = Net::with_client(client, &[WIFI], SERVER);
        net.connect();
        for (side, expected) in [Side::A, Side::B].into_iter().zip(expected) {
            let mut events = net.events.iter();
            let connected = events.find(|e| e.1 == side && matches!(e.2, Event::Connected { .. }));
            let at = connected.expect("connected").0.as_nanos() / 1_000_000;
            assert_eq!(at, expected, "{client:?} opens, {side:?}");
        }
    }
}

const ETHERNET: &str = "10.0.2.1:1";

fn is_dtls(datagram: &[u8]) -> bool {
    matches!(datagram, [20..=63, ..])
}

#[test]
fn paths_that_drop_dtls_cost_a_retransmission_each() {
    let addresses = [WIFI, LTE, ETHERNET];
    for client in [Side::A, Side::B] {
        for good in addresses {
            let mut net = Net::with_client(client, &addresses, SERVER);
            for bad in addresses.iter().filter(|bad| **bad != good) {
                net.wire_mut(bad, SERVER).drops = |_, datagram| is_dtls(datagram);
            }
            net.run_for(5_000);
            let times = net.connected_at();
            // Retransmissions after 200 and 400 ms, with round trips of 20 ms.
            let in_time = times.iter().all(|&at| at <= 1_000);
            assert!(times.len() == 2 && in_time, "{client:?}, {good}: {times:?}");
        }
    }
}

#[test]
fn paths_that_pass_dtls_in_one_direction_each_suffice() {
    let from_a = |side, datagram: &[u8]| side == Side::A && is_dtls(datagram);
    let from_b = |side, datagram: &[u8]| side == Side::B && is_dtls(datagram);
    for client in [Side::A, Side::B] {
        for (first, second) in [(WIFI, LTE), (LTE, WIFI)] {
            let mut net = Net::with_client(client, &[WIFI, LTE], SERVER);
            net.wire_mut(first, SERVER).drops = from_a;
            net.wire_mut(second, SERVER).drops = from_b;
            net.run_for(10_000);
            let times = net.connected_at();
            let in_time = times.iter().all(|&at| at <= 2_000);
            assert!(
                times.len() == 2 && in_time,
                "{client:?}, {first}: {times:?}"
            );
        }
    }
}

#[test]
fn a_peer_without_dtls_is_named_as_the_reason() {
    for client in [Side::A, Side::B] {
        let mut net = Net::with_client(client, &[WIFI, LTE], SERVER);
        assert_eq!(net.a.obstacle(), None, "no path yet");
        for address in [WIFI, LTE] {
            net.wire_mut(address, SERVER).drops = |_, datagram| is_dtls(datagram);
        }
        net.run_for(5_000);
        let reason = |role| Some(FailReason::Unanswered(role));
        let (opens, waits) = match client {
            Side::A => (&net.a, &net.b),
            Side::B => (&net.b, &net.a),
        };
        assert_eq!(opens.obstacle(), reason(DtlsRole::Client));
        assert_eq!(waits.obstacle(), reason(DtlsRole::Server));
    }
    let mut net = Net::with_client(Side::A, &[WIFI], SERVER);
    net.connect();
    assert_eq!((net.a.obstacle(), net.b.obstacle()), (None, None));
}

#[test]
fn an_alert_ends_the_handshake_soon_unless_the_peer_finishes_it() {
    // The alert that OpenSSL's server sends if it has an RSA certificate and we offer ECDSA.
    let alert = [21, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 40];
    for client in [Side::A, Side::B] {
        for silent in [true, false] {
            let mut net = Net::with_client(client, &[WIFI], SERVER);
            if silent {
                net.wire_mut(WIFI, SERVER).drops =
                    |_, datagram| is_dtls(datagram) && datagram[0] != 21;
            }
            net.run_for(25);
            net.send(Side::B, addr(SERVER), addr(WIFI), alert.to_vec());
            net.run_for(3_000);
            let role = match client {
                Side::A => DtlsRole::Client,
                Side::B => DtlsRole::Server,
            };
            let failed: Vec<_> = net
                .events
                .iter()
                .filter_map(|(at, _, event)| match event {
                    Event::Failed { reason } => Some((at.as_nanos() / 1_000_000, reason.clone())),
                    _ => None,
                })
                .collect();
            let expected = FailReason::Alert { code: 40, role };
            match silent {
                true => assert_eq!(failed, [(2_035, expected)]),
                false => assert_eq!((failed, net.connected_at().len()), (vec![], 2)),
            }
        }
    }
}

#[test]
fn reasons_name_the_remedy() {
    let text = |reason: FailReason| reason.to_string();
    let alert = |role| text(FailReason::Alert { code: 40, role });
    assert!(alert(DtlsRole::Client).contains("alert 40 (handshake_failure)"));
    assert!(
        alert(DtlsRole::Client).contains("a=setup:active"),
        "RSA where we are the client"
    );
    assert!(alert(DtlsRole::Server).contains("2,048 bits"));
    let refused = text(FailReason::Certificate("its signature is wrong".to_owned()));
    assert!(
        refused.contains("refused (its signature is wrong)"),
        "{refused}"
    );
    assert!(text(FailReason::Unanswered(DtlsRole::Server)).contains("firewall"));
    assert!(text(FailReason::Fingerprint).contains("does not match the fingerprint"));
    assert!(text(FailReason::Profile).contains("SRTP_AES128_CM_SHA1_80"));
}
