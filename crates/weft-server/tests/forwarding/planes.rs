//! A server with two media threads on one port: calls over both, and a thread that
//! fails.

use crate::endpoint::{Endpoint, Source};
use crate::room::{Room, wait_for};
use std::time::{Duration, Instant};
use weft_testing::where_the_machine_keeps_up;

/// Number of pictures in one second.
const SECOND: u64 = 30;
/// Number of connections in one room from which the other threads get some, too.
const SMALL_ROOM: usize = 12;

/// Room whose publisher `ada` is on the first thread, which has the maximum number of
/// connections of a small room: the next ones are on the second thread.
fn room_on_the_second_thread() -> (Room, Endpoint) {
    let room = Room::with_threads(2);
    let publisher = room.publish("ada", &["127.0.0.1"]);
    let crowd = Endpoint::start(&["127.0.0.1"], Source::new(0));
    let offer = crowd.offer_to_send();
    for number in 1..SMALL_ROOM {
        let asked = room.request(&format!("POST /whip/r?name=crowd{number}"), &offer);
        assert_eq!(asked.status, 201, "{}", asked.body);
    }
    (room, publisher)
}

#[test]
fn frames_arrive_at_players_on_another_thread() {
    where_the_machine_keeps_up(|| {
        let (room, publisher) = room_on_the_second_thread();
        let players = [(); 4].map(|()| room.play("ada", &["127.0.0.1"]));
        for player in &players {
            player.wait_for_frames(2 * SECOND);
            let seen = player.seen();
            room.assert_whole(&seen.frames());
            assert_eq!(seen.spoiled, 0, "frames whose bytes changed");
            assert!(seen.sounds > 2 * 50 / 2, "{} sounds", seen.sounds);
        }
        let keyframes = publisher.seen().keyframes_sent;
        assert!((1..=6).contains(&keyframes), "{keyframes} keyframes");
        assert_eq!(room.metric("weft_publications"), 1);
        assert_eq!(room.metric("weft_playbacks"), 4);
        assert_eq!(room.metric("weft_relayed_lost_total"), 0);
    });
}

/// Breaks a thread, and waits until the owner of a connection is informed of its end.
#[cfg(debug_assertions)]
fn break_thread(room: &Room, thread: usize, lost: &str) {
    let mut events = room.listen(&format!("witness{thread}"));
    let started = Instant::now();
    room.break_plane(thread);
    loop {
        let changed = events.expect("changed");
        if changed["name"] == lost && changed["upload"] == "lost" {
            break;
        }
    }
    let took = started.elapsed();
    assert!(took < Duration::from_secs(2), "told after {took:?}");
}

#[cfg(debug_assertions)]
#[test]
fn a_thread_that_fails_ends_its_own_connections_which_come_back_at_once() {
    where_the_machine_keeps_up(|| {
        let (room, ada) = room_on_the_second_thread();
        let bob = room.publish("bob", &["127.0.0.1"]);
        wait_for("both", || room.metric("weft_publications") == 2);
        // On the second thread: ada's pictures come from the first.
        let player = room.play("ada", &["127.0.0.1"]);
        player.wait_for_frames(SECOND);
        // A thread that fails in its first seconds is not replaced.
        std::thread::sleep(Duration::from_secs(2));
        break_thread(&room, 1, "bob");
        let failed = Instant::now();
        assert_eq!(room.metric("weft_publications"), 1);
        drop((player, bob));
        // The name stays in use for a while.
        let bea = room.publish("bea", &["127.0.0.1"]);
        wait_for("both", || room.metric("weft_publications") == 2);
        let players = ["ada", "bea"].map(|who| room.play(who, &["127.0.0.1"]));
        for player in &players {
            player.wait_for_frames(5);
        }
        let took = failed.elapsed();
        assert!(took < Duration::from_secs(3), "back after {took:?}");
        for player in &players {
            player.wait_for_frames(SECOND);
            room.assert_whole(&player.seen().frames());
        }
        assert_eq!(room.metric("weft_publications"), 2);
        // Then the other one: bea's connections continue. Datagrams that wait at the
        // socket of the failed thread may be lost, as on a link.
        break_thread(&room, 0, "ada");
        let during = players[1].seen().frames().len();
        players[1].wait_for_frames(during as u64 + 2 * SECOND);
        let frames = players[1].seen().frames();
        let lost = frames.last().unwrap() - frames[0] + 1 - frames.len() as u64;
        assert!(lost < SECOND, "{lost} lost");
        room.assert_whole(&frames[during + SECOND as usize..]);
        drop((ada, bea));
    });
}
