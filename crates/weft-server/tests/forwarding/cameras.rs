//! Participants with several cameras.

use crate::SECOND;
use crate::client::Events;
use crate::endpoint::{Endpoint, Source};
use crate::relay::Relay;
use crate::room::{Room, wait_for};
use serde_json::{Value, json};
use weft_testing::where_the_machine_keeps_up;
use weft_units::Rate;

const TITLES: [Option<&str>; 3] = [Some("Front"), None, Some("Rear window")];

/// Next published tracks of a participant.
fn next_change(events: &mut Events) -> Value {
    loop {
        let (event, mut told) = events.next().expect("the stream continues");
        if event == "changed" {
            return told["publishing"].take();
        }
    }
}

fn consecutive(frames: &[u64]) -> bool {
    frames.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

#[test]
fn every_camera_reaches_players_of_both_forms_in_its_own_place() {
    let room = Room::open();
    let mut events = room.listen("Eve");
    let publisher = room.publish_from("ada", &["127.0.0.1"], Source::cameras(&TITLES));
    let expected = json!({"video": true, "audio": true,
        "cameras": [{"name": "Front"}, {}, {"name": "Rear window"}]});
    assert_eq!(next_change(&mut events), expected);
    let offering = room.play_cameras("ada", &["127.0.0.1"], 3);
    let answering = room.play_offered("ada", &["127.0.0.1"], None);
    for player in [&offering, &answering] {
        let seen = player.wait_for_cameras(3, SECOND as usize);
        assert_eq!(seen.spoiled, 0, "pictures of another camera, or changed");
        for camera in 0..3 {
            assert!(consecutive(&seen.of(camera)), "{:?}", seen.of(camera));
        }
        assert!(seen.sounds > 0);
    }
    // Each stream requests its own keyframes.
    let keyframes = publisher.seen().keyframes_sent;
    assert!((3..=15).contains(&keyframes), "{keyframes} keyframes");
    let one = room.play("ada", &["127.0.0.1"]);
    let seen = one.wait_for_cameras(1, SECOND as usize);
    assert_eq!(seen.cameras.len(), 1, "who asks for one gets the first");
}

#[test]
fn a_fifth_camera_is_refused_with_what_to_do() {
    let room = Room::open();
    let five = Endpoint::start(&["127.0.0.1"], Source::cameras(&[None; 5]));
    let refused = room.request("POST /whip/r?name=ada", &five.offer_to_send());
    assert_eq!(refused.status, 422);
    assert_eq!(
        refused.error(),
        "The session description has 5 cameras, and 4 are forwarded."
    );
    assert!(refused.body.contains("another participant"));
    assert_eq!(room.metric("weft_publications"), 0);
    let four = Endpoint::start(&["127.0.0.1"], Source::cameras(&[None; 4]));
    let taken = room.request("POST /whip/r?name=ada", &four.offer_to_send());
    assert_eq!(taken.status, 201, "{}", taken.body);
}

#[test]
fn a_slow_player_gets_its_rate_divided_among_the_cameras() {
    where_the_machine_keeps_up(|| {
        let room = Room::open();
        let _publisher = room.publish_from("ada", &["127.0.0.1"], Source::cameras(&[None; 2]));
        // The base layers alone are a quarter of the published 2.8 Mbps.
        let relay = Relay::start(room.media(), Rate::from_kbps(1_200));
        let slow = room.play_offered("ada", &["127.0.0.1"], Some(&relay));
        let fast = room.play_offered("ada", &["127.0.0.1"], None);
        // A separate test covers the first seconds, in which the rate is a guess.
        let seen = fast.wait_for_cameras(2, 10 * SECOND as usize);
        let last = *seen.of(0).last().unwrap();
        let shown = |camera: usize| {
            let frames = slow.seen().of(camera);
            frames.iter().filter(|n| **n > last - 4 * SECOND).count()
        };
        let (first, second) = (shown(0), shown(1));
        let whole = 4 * SECOND as usize;
        for shown in [first, second] {
            assert!(
                (whole / 8..=whole * 3 / 4).contains(&shown),
                "{first} and {second} frames of {whole}"
            );
        }
        assert!(first.abs_diff(second) <= whole / 4, "{first} and {second}");
    });
}

#[test]
fn a_player_continues_when_the_publisher_returns_with_another_camera() {
    let room = Room::open();
    let ada = room.enter("ada");
    let mut events = room.listen("Eve");
    let first = Endpoint::start(&["127.0.0.1"], Source::new(0));
    room.publish_as(&ada, &first);
    assert_eq!(next_change(&mut events)["cameras"], json!([{}]));
    let player = room.play_offered("ada", &["127.0.0.1"], None);
    player.wait_for_frames(SECOND);
    let second = Endpoint::start(&["127.0.0.1"], Source::cameras(&[None; 2]));
    room.publish_as(&ada, &second);
    assert_eq!(next_change(&mut events)["cameras"], json!([{}, {}]));
    let before = player.seen().of(0).len();
    wait_for("the first camera continues", || {
        player.seen().of(0).len() > before + SECOND as usize
    });
    let again = room.play_offered("ada", &["127.0.0.1"], None);
    let seen = again.wait_for_cameras(2, SECOND as usize);
    assert_eq!(seen.spoiled, 0);
}
