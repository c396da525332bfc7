use super::*;
use std::net::SocketAddr;

fn path(n: u8) -> FiveTuple {
    let at = |host| SocketAddr::from(([10, 0, n, host], 1));
    FiveTuple::udp(at(1), at(9))
}

/// Handshake record with this message number.
fn flight(number: u8) -> Vec<u8> {
    let record = [22, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 1, 0, 13];
    [&record[..], &[1, 0, 0, 1, 0, number, 0, 0, 0, 0, 0, 1, 7]].concat()
}

#[test]
fn each_retransmission_goes_to_the_next_path() {
    let mut flights = Flights::default();
    let [a, b, c] = [path(1), path(2), path(3)];
    assert_eq!(flights.route(&[a]), Some(a));
    // The rest of the flight takes the same path.
    assert_eq!(flights.route(&[b, a, c]), Some(a));
    let mut next = |valid: &[FiveTuple]| {
        flights.on_timeout();
        flights.route(valid)
    };
    assert_eq!(next(&[a, b]), Some(b));
    // A new path comes before all others.
    assert_eq!(next(&[a, b, c]), Some(c));
    assert_eq!(next(&[a, b, c]), Some(a));
    assert_eq!(next(&[c, b, a]), Some(b), "by turn, not by place");
    assert_eq!(next(&[a]), Some(a), "it is the only one");
    assert_eq!(next(&[]), None);
    assert_eq!(next(&[c]), Some(c));
}

#[test]
fn replies_go_where_the_record_came_from() {
    let mut flights = Flights::default();
    let [a, b, stranger] = [path(1), path(2), path(3)];
    flights.on_datagram(b, &flight(0));
    assert_eq!(flights.route(&[a, b]), Some(b));
    flights.on_datagram(a, &flight(1));
    assert_eq!(flights.route(&[a, b]), Some(a));
    // Encrypted records have no number.
    flights.on_datagram(b, &[0x2f; 40]);
    assert_eq!(flights.route(&[a, b]), Some(b));
    flights.on_datagram(stranger, &flight(2));
    assert_eq!(
        flights.route(&[a, b]),
        Some(a),
        "checks are not answered there"
    );
}

#[test]
fn a_peer_that_repeats_itself_gets_its_reply_on_another_path() {
    let mut flights = Flights::default();
    let [a, b] = [path(1), path(2)];
    flights.on_datagram(a, &flight(0));
    assert_eq!(flights.route(&[a, b]), Some(a));
    flights.on_datagram(a, &flight(0));
    assert_eq!(flights.route(&[a, b]), Some(b));
    flights.on_datagram(a, &flight(0));
    assert_eq!(flights.route(&[a, b]), Some(a));
}
