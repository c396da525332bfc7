//! Tests over real loopback sockets; every wait is bounded by [`PATIENCE`].
//! Lower bounds are strict. Upper bounds leave [`SLACK`] for a busy machine.

use super::nat::MAX_CLIENTS;
use super::shared::{DOWN, UP};
use super::{Relay, RelayCounters, RelayError, RelayHandle};
use crate::demo::ride::{LinkName, Ride};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration as StdDuration, Instant as StdInstant};
use weft_links::{LinkSpec, MediumSpec};
use weft_units::{Duration, Rate};

const PATIENCE: StdDuration = StdDuration::from_secs(5);
const SLACK: StdDuration = StdDuration::from_millis(40);

fn socket(ip: &str) -> UdpSocket {
    let socket = UdpSocket::bind(SocketAddr::new(ip.parse().unwrap(), 0)).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Relay with this spec in both directions, its target and a client.
fn network(spec: &str, ip: &str) -> (RelayHandle, UdpSocket, UdpSocket) {
    let spec: LinkSpec = spec.parse().unwrap();
    let target = socket(ip);
    let address = target.local_addr().unwrap();
    let relay = Relay::start("test", &MediumSpec::wired(spec.clone(), spec), address, 1).unwrap();
    let client = socket(ip);
    client.connect(relay.address()).unwrap();
    (relay, target, client)
}

/// Waits until the relay's counters satisfy the predicate.
fn wait_for(relay: &RelayHandle, wished: impl Fn(&RelayCounters) -> bool) -> RelayCounters {
    let begin = StdInstant::now();
    loop {
        let counters = relay.counters();
        if wished(&counters) {
            return counters;
        }
        assert!(begin.elapsed() < PATIENCE, "still {counters:?}");
        std::thread::park_timeout(ms(1));
    }
}

fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = [0; 2_000];
    let (length, from) = socket.recv_from(&mut buffer).unwrap();
    (buffer[..length].to_vec(), from)
}

fn ms(n: u64) -> StdDuration {
    StdDuration::from_millis(n)
}

/// 972 bytes and the overhead are 8,000 bits.
const PAYLOAD: [u8; 972] = [7; 972];

fn echo_takes_the_delay_of_both_ways(ip: &str) {
    let (_relay, target, client) = network("rate=8mbit,delay=30ms", ip);
    // 1 ms of transmission and 30 ms of propagation, there and back.
    let least = ms(62);
    let mut best = PATIENCE;
    for _ in 0..5 {
        let begin = StdInstant::now();
        client.send(&PAYLOAD).unwrap();
        let (payload, from) = receive(&target);
        let there = begin.elapsed();
        target.send_to(&payload, from).unwrap();
        let (back, _) = receive(&client);
        let round_trip = begin.elapsed();
        assert_eq!(back, PAYLOAD);
        assert!(there >= least / 2, "one way {there:?}");
        assert!(round_trip >= least, "both ways {round_trip:?}");
        best = best.min(round_trip);
    }
    assert!(best <= least + SLACK, "best round trip {best:?}");
}

#[test]
fn an_echo_takes_the_delay_of_both_ways() {
    echo_takes_the_delay_of_both_ways("127.0.0.1");
}

#[test]
fn an_echo_takes_the_delay_of_both_ways_over_ipv6() {
    if UdpSocket::bind("[::1]:0").is_err() {
        eprintln!("no IPv6 loopback here: nothing tested");
        return;
    }
    echo_takes_the_delay_of_both_ways("::1");
}

#[test]
fn a_burst_leaves_at_the_capacity() {
    let (relay, target, client) = network("rate=2mbit,queue=1MB", "127.0.0.1");
    // Few enough packets for the smallest receive buffer of any system.
    let (packets, rounds) = (51, 3);
    // 51 x 8,000 bits at 2 Mbps.
    let expected = ms(204);
    let mut best = PATIENCE;
    for _ in 0..rounds {
        let begin = StdInstant::now();
        for _ in 0..packets {
            client.send(&PAYLOAD).unwrap();
        }
        for _ in 0..packets {
            receive(&target);
        }
        let took = begin.elapsed();
        assert!(took >= expected, "{took:?}");
        best = best.min(took);
    }
    assert!(best <= expected + SLACK, "best of {rounds}: {best:?}");
    let all = packets * rounds;
    let counters = wait_for(&relay, |c| c.up.link.delivered.packets == all);
    assert_eq!(counters.up.link.sent.bytes.0, 153_000);
    assert_eq!(counters.up.link.delivered.bytes.0, 153_000);
    assert_eq!(counters.down.link.sent.packets, 0);
    assert_eq!(counters.up.queue_delay, Some(Duration::ZERO));
}

#[test]
fn a_full_queue_drops_and_counts() {
    let (relay, target, client) = network("rate=0bit,queue=3kB", "127.0.0.1");
    for _ in 0..5 {
        client.send(&PAYLOAD).unwrap();
    }
    let counters = wait_for(&relay, |c| c.up.link.sent.packets == 5);
    assert_eq!(counters.up.link.queue_full.packets, 2);
    assert_eq!(counters.up.queue_delay, None);
    relay.set_capacity(&[UP], Rate::from_mbps(8));
    for _ in 0..3 {
        receive(&target);
    }
    let counters = wait_for(&relay, |c| c.up.link.delivered.packets == 3);
    assert_eq!(counters.up.capacity, Rate::from_mbps(8));
    assert_eq!(counters.down.capacity, Rate::ZERO);
}

#[test]
fn a_cut_relay_carries_nothing_until_it_is_restored() {
    let (relay, target, client) = network("rate=8mbit", "127.0.0.1");
    client.send(b"before").unwrap();
    let (_, from) = receive(&target);
    relay.cut();
    wait_for(&relay, |c| !c.up.up && !c.down.up);
    client.send(b"lost").unwrap();
    target.send_to(b"lost too", from).unwrap();
    let dropped = |c: &RelayCounters| (c.up.link.link_down.packets, c.down.link.link_down.packets);
    wait_for(&relay, |c| dropped(c) == (1, 1));
    relay.restore();
    wait_for(&relay, |c| c.up.up && c.down.up);
    client.send(b"after").unwrap();
    assert_eq!(receive(&target).0, b"after");
    target.send_to(b"back", from).unwrap();
    assert_eq!(receive(&client).0, b"back");
}

#[test]
fn each_client_has_its_own_way_back() {
    let (relay, target, first) = network("rate=8mbit,delay=1ms", "127.0.0.1");
    let second = socket("127.0.0.1");
    second.connect(relay.address()).unwrap();
    first.send(b"1").unwrap();
    let (_, first_seen) = receive(&target);
    second.send(b"2").unwrap();
    let (_, second_seen) = receive(&target);
    assert_ne!(first_seen, second_seen);
    first.send(b"1 again").unwrap();
    assert_eq!(receive(&target).1, first_seen, "the same port as before");
    target.send_to(b"to 2", second_seen).unwrap();
    target.send_to(b"to 1", first_seen).unwrap();
    assert_eq!(receive(&second).0, b"to 2");
    assert_eq!(receive(&first).0, b"to 1");
}

#[test]
fn the_client_that_was_silent_longest_makes_room() {
    let (relay, target, first) = network("rate=1gbit", "127.0.0.1");
    let seen = |client: &UdpSocket| {
        client.send(b"here").unwrap();
        receive(&target).1
    };
    let others: Vec<UdpSocket> = (0..MAX_CLIENTS).map(|_| socket("127.0.0.1")).collect();
    let (newcomer, others) = others.split_last().unwrap();
    let (first_seen, mut others_seen) = (seen(&first), vec![]);
    for client in others {
        client.connect(relay.address()).unwrap();
        others_seen.push(seen(client));
    }
    assert_eq!(
        seen(&first),
        first_seen,
        "it speaks again, the second is the oldest"
    );
    newcomer.connect(relay.address()).unwrap();
    seen(newcomer);
    assert_eq!(seen(&first), first_seen);
    assert_eq!(seen(&others[1]), others_seen[1]);
    // The system assigns ports at random, so the same port is unlikely.
    assert_ne!(seen(&others[0]), others_seen[0], "it is new to the relay");
}

#[test]
fn relays_change_one_by_one() {
    let (one, target, _client) = network("rate=8mbit", "127.0.0.1");
    let (other, ..) = network("rate=8mbit", "127.0.0.1");
    let dead = Ride::default().at(Duration::from_secs(20));
    one.apply(&dead.link(LinkName::Wifi));
    wait_for(&one, |c| !c.up.up);
    assert!(other.counters().up.up);
    let congested = Ride::default().at(Duration::from_secs(30));
    one.apply(&congested.link(LinkName::Lte));
    let counters = wait_for(&one, |c| c.up.up);
    for way in [counters.up, counters.down] {
        assert_eq!(way.capacity, congested.lte.capacity);
        assert_eq!(way.delay, congested.lte.delay);
    }
    one.set_loss(&[UP], 1.0);
    one.set_delay(&[UP], Duration::ZERO);
    wait_for(&one, |c| c.up.delay == Duration::ZERO);
    let client = socket("127.0.0.1");
    client.send_to(b"lost", one.address()).unwrap();
    wait_for(&one, |c| c.up.link.random_loss.packets == 1);
    // Ending a relay does not disturb the others.
    let address = one.address();
    drop(one);
    other.set_capacity(&[DOWN], Rate::ZERO);
    wait_for(&other, |c| c.down.capacity == Rate::ZERO);
    target.set_nonblocking(true).unwrap();
    let _ = client.send_to(b"nobody", address);
    assert!(target.recv_from(&mut [0; 9]).is_err());
}

#[test]
fn nobody_at_the_target_is_counted_and_survived() {
    let (relay, target, client) = network("rate=8mbit", "127.0.0.1");
    let address = target.local_addr().unwrap();
    drop(target);
    client.send(b"bounces").unwrap();
    wait_for(&relay, |c| c.send_errors > 0);
    let target = UdpSocket::bind(address).unwrap();
    target.set_read_timeout(Some(PATIENCE)).unwrap();
    client.send(b"arrives").unwrap();
    assert_eq!(receive(&target).0, b"arrives");
}

#[test]
fn a_target_beyond_this_machine_is_refused() {
    let spec = LinkName::Wifi.spec();
    let target = "192.0.2.1:9".parse().unwrap();
    let error = Relay::start("wifi", &MediumSpec::wired(spec.clone(), spec), target, 1)
        .err()
        .unwrap();
    assert!(matches!(error, RelayError::NotLoopback { .. }));
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}
