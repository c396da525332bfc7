//! Memory that the server allocates for each forwarded packet.

use super::*;
use weft_units::Rate;

const VIEWERS: usize = 4;
const WARM_UP: u64 = 15;
const MEASURED: u64 = 10;

/// Allocations and forwarded packets in ten seconds of a call that publishes at this rate.
fn cost(published: Rate, browser: bool) -> (u64, u64) {
    let mut room = Room::new(3, &["rate=60mbit,delay=10ms"; VIEWERS + 1]);
    room.published = published;
    room.publish(&ada());
    room.run(seconds(1));
    room.browser = browser;
    for _ in 0..VIEWERS {
        room.play(&ada());
    }
    room.run(seconds(WARM_UP));
    let forwarded = |room: &Room| room.plane.stats().packets_forwarded;
    let before = (room.allocations, forwarded(&room));
    room.run(seconds(MEASURED));
    (room.allocations - before.0, forwarded(&room) - before.1)
}

/// Reports, timers and housekeeping allocate as often at any rate; the difference is due
/// to the packets.
fn assert_no_packet_takes_memory(browser: bool) {
    let (few_allocations, few) = cost(Rate::from_mbps(1), browser);
    let (many_allocations, many) = cost(Rate::from_mbps(5), browser);
    println!("{few_allocations} for {few} packets, {many_allocations} for {many}");
    let packets = many - few;
    assert!(packets > 10_000, "{packets} packets more");
    let more = many_allocations.saturating_sub(few_allocations);
    assert!(more * 20 < packets, "{more} for {packets} packets more");
}

#[test]
fn a_packet_for_a_native_viewer_takes_no_memory() {
    assert_no_packet_takes_memory(false);
}

#[test]
fn a_packet_for_a_browser_takes_no_memory() {
    assert_no_packet_takes_memory(true);
}
