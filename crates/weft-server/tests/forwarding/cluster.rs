//! Two servers of one cluster, with real media between them.

use crate::nats::Nats;
use crate::room::{Room, wait_for};
use std::time::Duration;
use weft_testing::where_the_machine_keeps_up;

/// Number of pictures in one second.
const SECOND: u64 = 30;

#[test]
fn a_publication_goes_once_to_a_server_with_viewers_and_nats_carries_none_of_it() {
    let Some(first) = Nats::start() else { return };
    drop(first);
    where_the_machine_keeps_up(|| {
        let nats = Nats::start().unwrap();
        let (here, there) = (
            Room::in_cluster(&nats, "here"),
            Room::in_cluster(&nats, "there"),
        );
        let mut news = there.listen("witness");
        let publisher = here.publish("ada", &["127.0.0.1"]);
        while news.next().unwrap().1["publishing"]["video"] != true {}
        assert_eq!(here.metric("weft_playbacks"), 0, "nobody plays it there");
        let viewers = [
            there.play("ada", &["127.0.0.1"]),
            there.play("ada", &["127.0.0.1"]),
            there.play_offered("ada", &["127.0.0.1"], None),
        ];
        for viewer in &viewers {
            viewer.wait_for_frames(2 * SECOND);
            let seen = viewer.seen();
            let frames = seen.frames();
            let in_order = frames.windows(2).all(|pair| pair[0] < pair[1]);
            assert!(in_order, "{frames:?}");
            assert_eq!(seen.spoiled, 0, "frames whose bytes changed");
            assert!(seen.sounds > 2 * 50 / 2, "{} sounds", seen.sounds);
        }
        assert_eq!(here.metric("weft_playbacks"), 1, "one for all three");
        assert_eq!(there.metric("weft_publications"), 1);
        assert_eq!(there.metric("weft_playbacks"), 3);
        // Keyframe requests reach the publisher, but not as a flood.
        let keyframes = publisher.seen().keyframes_sent;
        assert!((1..=8).contains(&keyframes), "{keyframes} keyframes");
        drop(nats);
        std::thread::sleep(Duration::from_secs(4));
        for viewer in &viewers {
            let before = viewer.seen().frames().len() as u64;
            viewer.wait_for_frames(before + SECOND);
        }
        for viewer in &viewers[1..] {
            assert_eq!(there.delete(viewer), 200);
        }
        let before = viewers[0].seen().frames().len() as u64;
        viewers[0].wait_for_frames(before + SECOND);
        assert_eq!(there.delete(&viewers[0]), 200);
        wait_for("the end of the pull", || {
            there.metric("weft_publications") == 0 && here.metric("weft_playbacks") == 0
        });
        assert_eq!(here.metric("weft_publications"), 1);
    });
}

/// Each server pulls from the other, and a publication returns with its publisher.
#[test]
fn servers_pull_from_each_other_and_follow_a_publisher_who_comes_back() {
    let Some(first) = Nats::start() else { return };
    drop(first);
    where_the_machine_keeps_up(|| {
        let nats = Nats::start().unwrap();
        let (here, there) = (
            Room::in_cluster(&nats, "here"),
            Room::in_cluster(&nats, "there"),
        );
        let mut news = there.listen("witness");
        let ada = here.publish("ada", &["127.0.0.1"]);
        while news.next().unwrap().1["publishing"]["video"] != true {}
        let mut news = here.listen("witness");
        let _bob = there.publish("bob", &["127.0.0.1"]);
        while news.next().unwrap().1["publishing"]["video"] != true {}
        let players = [
            there.play("ada", &["127.0.0.1"]),
            here.play("bob", &["127.0.0.1"]),
        ];
        for player in &players {
            player.wait_for_frames(SECOND);
        }
        // Two publications and a pull each; a player and a pull each.
        for room in [&here, &there] {
            assert_eq!(room.metric("weft_publications"), 2);
            assert_eq!(room.metric("weft_playbacks"), 2);
        }
        // The publisher leaves: its player on the other server ends with it.
        assert_eq!(here.delete(&ada), 200);
        wait_for("the end of both", || {
            there.metric("weft_publications") == 1 && here.metric("weft_playbacks") == 1
        });
        let _ada = here.publish("ada", &["127.0.0.1"]);
        wait_for("ada is known again", || {
            there.request("POST /whep/r/ada", "").status == 201
        });
        there.play("ada", &["127.0.0.1"]).wait_for_frames(SECOND);
    });
}
