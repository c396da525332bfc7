use super::*;
use weft_units::Bytes;

fn send(flight: &mut Flight, number: u64, size: u64) {
    flight.on_sent(&SentPacket {
        number,
        sent_at: Instant::ZERO,
        size: Bytes(size),
        probe: None,
    });
}

#[test]
fn a_lost_packet_before_an_acknowledged_one_is_not_in_flight() {
    let mut flight = Flight::default();
    for number in 0..10 {
        send(&mut flight, number, 1000 + number);
    }
    // Packets 0 to 6, lost or delivered.
    assert_eq!(flight.on_acked(6), 7021);
    assert_eq!(flight.bytes(), 1007 + 1008 + 1009);
    // Older feedback changes nothing.
    assert_eq!(flight.on_acked(3), 0);
    assert_eq!(flight.on_acked(u64::MAX), 3024);
    assert_eq!(flight.bytes(), 0);
}

#[test]
fn the_most_of_two_round_trips_is_remembered() {
    let ms = |n| Instant::ZERO + Duration::from_millis(n);
    let rtt = Duration::from_millis(50);
    let mut flight = Flight::default();
    flight.turn(ms(0), rtt);
    for number in 0..5 {
        send(&mut flight, number, 1000);
    }
    flight.on_acked(4);
    flight.turn(ms(49), rtt);
    assert_eq!((flight.max(), flight.max_before()), (5000, 0));
    flight.turn(ms(50), rtt);
    send(&mut flight, 5, 1000);
    assert_eq!((flight.max(), flight.max_before()), (5000, 5000));
    flight.turn(ms(100), rtt);
    assert_eq!((flight.max(), flight.max_before()), (1000, 1000));
}

#[test]
fn a_number_that_does_not_rise_is_not_counted() {
    let mut flight = Flight::default();
    send(&mut flight, 7, 1000);
    send(&mut flight, 7, 1000);
    send(&mut flight, 3, 1000);
    assert_eq!(flight.bytes(), 1000);
}
