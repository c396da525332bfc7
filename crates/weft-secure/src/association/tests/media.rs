use super::net::*;
use super::*;
use crate::FailReason;
use crate::Profile;

pub fn rtp(sequence: u16) -> Vec<u8> {
    let mut packet = vec![0x80, 96];
    packet.extend_from_slice(&sequence.to_be_bytes());
    packet.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 7]);
    packet.extend_from_slice(b"payload");
    packet
}

#[test]
fn set_up_takes_the_round_trips_of_the_protocols_and_no_more() {
    let mut net = Net::new("10.0.0.9:1", &[("10.0.0.1:1", 50)]);
    net.connect();
    let at = |side| {
        let mut events = net.events.iter();
        let connected = events.find(|e| e.1 == side && matches!(e.2, Event::Connected { .. }));
        connected.expect("connected").0.as_nanos() / 1_000_000
    };
    // A's check takes one round trip of 100 ms, then DTLS 1.3 starts. B is the client: it
    // sends the hello when its own check, triggered at 50, is answered at 150. B is done
    // when the server's flight arrives.
    assert!((250..=251).contains(&at(Side::B)), "{}", at(Side::B));
    assert!((300..=301).contains(&at(Side::A)), "{}", at(Side::A));
}

#[test]
fn an_aead_profile_is_agreed_on() {
    let mut net = Net::new("10.0.0.9:1", &[("10.0.0.1:1", 5)]);
    net.connect();
    let profile = |event: &Event| match event {
        Event::Connected { profile } => Some(*profile),
        _ => None,
    };
    let profiles: Vec<Profile> = net.events.iter().filter_map(|e| profile(&e.2)).collect();
    // The library offers AES-256 first, without a choice.
    assert_eq!(profiles, [Profile::AeadAes256Gcm, Profile::AeadAes256Gcm]);
}

#[test]
fn one_stream_over_two_paths_is_one_stream() {
    let mut net = Net::new("10.0.0.9:1", &[("10.0.0.1:1", 5), ("10.0.1.1:1", 60)]);
    net.connect();
    let fast = net.path_to(Side::A, "10.0.0.1:1", "10.0.0.9:1");
    let slow = net.path_to(Side::A, "10.0.1.1:1", "10.0.0.9:1");
    // 70,000 packets: the fast path passes 65,536 while the slow one still delivers
    // packets from before.
    let count = 70_000_u32;
    for i in 0..count {
        let path = if i % 100 == 0 { slow } else { fast };
        net.send_rtp(Side::A, path, rtp(i as u16));
        if i % 500 == 0 {
            net.run_for(10);
        }
    }
    net.run_for(200);
    assert_eq!(net.got.rtp.len(), count as usize);
    assert_eq!(net.b.counters().rtp_received, u64::from(count));
    let via_slow = net.path_to(Side::B, "10.0.0.9:1", "10.0.1.1:1");
    let slow_ones = net.got.rtp.iter().filter(|(_, path, _)| *path == via_slow);
    assert_eq!(slow_ones.count(), 700);
    assert!(
        net.got
            .rtp
            .iter()
            .all(|(_, _, packet)| packet.len() == rtp(0).len())
    );
}

#[test]
fn a_copy_on_another_path_is_reported_as_a_copy() {
    let mut net = Net::new("10.0.0.9:1", &[("10.0.0.1:1", 5), ("10.0.1.1:1", 60)]);
    net.connect();
    let mut packet = rtp(1);
    net.a.protect_rtp(&mut packet, &[]).expect("protects");
    for client in ["10.0.0.1:1", "10.0.1.1:1"] {
        net.send(Side::A, addr(client), addr("10.0.0.9:1"), packet.clone());
    }
    net.run_for(100);
    assert_eq!(net.got.rtp.len(), 1);
    let counters = net.b.counters();
    assert_eq!((counters.rtp_received, counters.rtp_again), (1, 1));
    let copies: Vec<_> = net.got.rtp_again.iter().map(|(_, path, _)| *path).collect();
    assert_eq!(copies, [net.path_to(Side::B, "10.0.0.9:1", "10.0.1.1:1")]);
    assert_eq!(net.got.rtp_again[0].2, net.got.rtp[0].2);
}

#[test]
fn rtcp_goes_both_ways() {
    let mut net = Net::new("10.0.0.9:1", &[("10.0.0.1:1", 5)]);
    net.connect();
    for side in [Side::A, Side::B] {
        let mut report = vec![0x80, 201, 0, 1, 0, 0, 0, 7];
        let association = net.side(side);
        association.protect_rtcp(&mut report).expect("protects");
        let path = *association.paths().next().expect("path");
        net.send(side, path.tuple.local, path.tuple.remote, report);
    }
    net.run_for(100);
    let plain = vec![0x80, 201, 0, 1, 0, 0, 0, 7];
    assert_eq!(net.got.rtcp.len(), 2);
    assert!(net.got.rtcp.iter().all(|(_, _, packet)| *packet == plain));
}

#[test]
fn media_needs_keys() {
    let mut net = Net::strangers();
    let before = rtp(1);
    let mut packet = before.clone();
    let refused = net.a.protect_rtp(&mut packet, &[]);
    assert_eq!(refused, Err(crate::ProtectError::NotConnected));
    assert_eq!(packet, before);
}

#[test]
fn a_peer_with_another_certificate_is_refused() {
    let mut net = Net::strangers();
    let now = net.now;
    net.a.add_local(now, local("10.0.0.1:1", 0));
    net.b.add_local(now, local("10.0.0.9:1", 0));
    net.wire("10.0.0.1:1", "10.0.0.9:1", 5);
    let b = description(&net.b, DtlsRole::Server, &["10.0.0.9:1"]);
    let mut a = description(&net.a, DtlsRole::Client, &[]);
    a.fingerprint = association(IceRole::Controlling, 1, 1).fingerprint();
    net.a.set_remote(now, b);
    net.b.set_remote(now, a);
    net.run_for(2000);
    let failed = Event::Failed {
        reason: FailReason::Fingerprint,
    };
    let events = net.events_since(Side::B, now);
    assert!(events.iter().any(|(_, e)| *e == failed), "{events:?}");
    assert!(
        !events
            .iter()
            .any(|(_, e)| matches!(e, Event::Connected { .. }))
    );
    assert!(net.b.protect_rtp(&mut rtp(1), &[]).is_err());
}

#[test]
fn goodbye_reaches_the_peer() {
    let mut net = Net::new("10.0.0.9:1", &[("10.0.0.1:1", 5)]);
    net.connect();
    let (now, before) = (net.now, net.now);
    net.a.close(now);
    net.run_for(100);
    let closed = Event::Failed {
        reason: FailReason::Closed,
    };
    let events = net.events_since(Side::B, before);
    assert!(events.iter().any(|(_, e)| *e == closed), "{events:?}");
}
