//! Rates for publishers, and the bound on each client's datagrams.

use super::{ada, seconds};
use crate::world::Room;
use weft_testing::pictures::Layers;
use weft_units::{Duration, Rate};

/// Present target rate of the publisher's session.
fn target(room: &Room) -> Rate {
    room.clients[0].peer.session().target_rate()
}

#[test]
fn a_publisher_sends_what_its_best_player_can_use() {
    let (alone, slow, quick) = (
        "rate=8mbit,delay=15ms",
        "rate=500kbit,delay=30ms",
        "rate=6mbit,delay=30ms",
    );
    let mut room = Room::new(1, &[alone, slow, quick]);
    room.publish(&ada());
    room.run(seconds(2));
    let wanted = target(&room);
    assert!(wanted > Rate::from_kbps(1_400), "{wanted:?}");
    room.play(&ada());
    room.run(seconds(20));
    let told = target(&room);
    let (least, most) = (Rate::from_kbps(200), Rate::from_kbps(520));
    assert!((least..=most).contains(&told), "{told:?} for 500 kbit/s");
    let before = room.plane.stats();
    room.run(seconds(10));
    let after = room.plane.stats();
    let thinned = after.packets_thinned - before.packets_thinned;
    let forwarded = after.packets_forwarded - before.packets_forwarded;
    assert!(
        thinned * 20 < forwarded,
        "{thinned} kept back, {forwarded} not"
    );
    room.play(&ada());
    room.run(seconds(10));
    let told = target(&room);
    // More than the slow player can use, and at least half of the unlimited rate.
    let (least, most) = (Rate::from_kbps(700), Rate::from_kbps(1_500));
    assert!((least..=most).contains(&told), "{told:?} for 6 Mbit/s");
}

#[test]
fn a_player_with_room_for_it_brings_a_publisher_to_all_that_its_camera_has() {
    let wide = "rate=30mbit,delay=20ms";
    let mut room = Room::new(1, &[wide, wide]);
    room.published = Rate::from_mbps(8);
    room.publish(&ada());
    room.run(seconds(2));
    room.play(&ada());
    room.run(seconds(5));
    let told = target(&room);
    assert!(told > Rate::from_kbps(7_500), "{told:?} of 8 Mbit/s");
}

/// Bounds on the datagrams of the connected clients, in order of arrival.
fn taken(room: &Room) -> Vec<Rate> {
    let peers = room.plane.peers();
    let limits = peers.iter().map(|(key, _)| peers.ingress_limit(key));
    let limits: Option<Vec<Rate>> = limits.collect();
    limits.expect("everybody is bounded")
}

#[test]
fn accepted_rates_have_the_bounds_of_security_md() {
    let mbps = Rate::from_mbps;
    let mut room = Room::new(1, &["rate=8mbit,delay=15ms", "rate=30mbit,delay=20ms"]);
    room.publish(&ada());
    // Before anything is measured.
    assert_eq!(taken(&room), [mbps(100)]);
    room.run(seconds(2));
    assert_eq!(taken(&room), [mbps(16)]);
    room.play(&ada());
    room.run(seconds(5));
    let told = room.clients[0].peer.session().target_rate();
    assert!(told < mbps(4), "{told:?}, of which four times is below 16");
    assert_eq!(taken(&room), [mbps(16), mbps(8)]);

    // The publisher gets the rate that its player can use, up to the bound.
    let wide = "rate=200mbit,delay=10ms";
    let mut room = Room::new(1, &[wide, wide]);
    room.published = mbps(8);
    room.publish(&ada());
    room.run(seconds(2));
    room.play(&ada());
    room.run(seconds(8));
    let most = taken(&room)[0];
    assert!(most > mbps(16) && most <= mbps(100), "{most:?}");
}

/// A bound on the server's sending rate applies to running calls, too: the excess would
/// wait in a queue of its link, for everybody.
#[test]
fn players_share_what_the_server_may_send() {
    let (wide, most) = ("rate=30mbit,delay=20ms", Rate::from_mbps(4));
    let mut room = Room::sending(1, &[wide; 5], Some(most));
    room.published = Rate::from_mbps(2);
    room.pictures.1 = Layers::Three;
    room.publish(&ada());
    room.run(seconds(2));
    for _ in 0..4 {
        room.play(&ada());
    }
    room.run(seconds(5));
    let (before, from) = (room.sent, room.now);
    room.run(seconds(20));
    let sent = (room.sent - before) / (room.now - from);
    assert!(sent <= most && sent >= most.mul_f64(0.7), "{sent:?}");
    for player in &room.clients[1..] {
        let fps = player.record.shown_between(from, room.now) as f64 / 20.0;
        let gap = player.record.longest_gap(from, room.now);
        assert!(fps > 14.0, "{fps} pictures a second");
        assert!(gap < Duration::from_millis(500), "nothing for {gap:?}");
    }
}
