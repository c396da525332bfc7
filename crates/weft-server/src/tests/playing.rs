//! Viewers are always visible to the room.

use super::client::{Events, request};
use super::stub::{Rig, wait_for};
use crate::media_plane::{Event, ResourceId};
use crate::{Camera, ParticipantKind, Publishing, Resident};
use weft_units::Duration;

/// Room with a publisher, and Ada, who listens to its events; her id and
/// secret.
fn room(rig: &Rig) -> (Events, String, String) {
    let publishing = Publishing {
        cameras: vec![Camera::default()],
        audio: false,
    };
    let van = Resident {
        room: "r",
        name: "van",
        kind: ParticipantKind::Native,
        publishing,
    };
    rig.handle.add_resident(&van).unwrap();
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    let welcome = ada.expect("welcome");
    let word = |name: &str| welcome[name].as_str().unwrap().to_owned();
    (ada, word("id"), word("secret"))
}

#[test]
fn players_are_shown_by_their_secret_or_as_newcomers() {
    let rig = Rig::start();
    let (mut ada, id, secret) = room(&rig);
    let line = format!("POST /whep/r/van?participant={id}");
    let play = |headers: &[(&str, &str)]| request(rig.address(), &line, headers, "");
    assert_eq!(play(&[]).status, 403);
    assert_eq!(play(&[("weft-secret", "guessed")]).status, 403);
    let nobody = "POST /whep/r/van?participant=nobody";
    assert_eq!(request(rig.address(), nobody, &[], "").status, 404);
    assert!(rig.log().is_empty(), "nothing reached the media");

    assert_eq!(play(&[("weft-secret", &secret)]).status, 201);
    let made = request(rig.address(), "POST /whep/r/van?name=Eve", &[], "");
    let eve = ada.expect("joined");
    assert_eq!(
        (&eve["name"], &eve["kind"]),
        (&"Eve".into(), &"whip".into())
    );
    let ended = format!("DELETE {}", made.header("location"));
    assert_eq!(request(rig.address(), &ended, &[], "").status, 200);
    assert_eq!(ada.expect("left")["id"], eve["id"]);
    request(rig.address(), "POST /whep/r/van", &[], "");
    assert_eq!(ada.expect("joined")["name"], "WHEP", "who gives no name");
}

#[test]
fn players_are_present_until_they_end() {
    let rig = Rig::start();
    let (ada, id, secret) = room(&rig);
    let line = format!("POST /whep/r/van?participant={id}");
    let made = request(rig.address(), &line, &[("weft-secret", &secret)], "");
    let resource = made.header("location").rsplit('/').next().unwrap();
    drop(ada);
    let hub = rig.handle.hub();
    wait_for("the broken stream is noticed", || {
        hub.handle_timeout(hub.now());
        hub.counts().2 == 0
    });
    rig.advance(Duration::from_secs(60));
    assert_eq!(hub.counts().1, 2, "Ada still watches");
    rig.tell(Event::Ended {
        resource: ResourceId(resource.to_owned()),
        reason: "silence".to_owned(),
    });
    wait_for("her time runs", || hub.poll_timeout().is_some());
    rig.advance(Duration::from_secs(10));
    assert_eq!(hub.counts().1, 1);
}

#[test]
fn a_viewer_ends_with_the_publisher_it_plays() {
    let rig = Rig::start();
    let sdp = ("content-type", "application/sdp");
    let van = request(rig.address(), "POST /whip/r?name=van", &[sdp], "v=0");
    let location = van.header("location").to_owned();
    let resource = location.rsplit('/').next().unwrap().to_owned();
    rig.tell(Event::Connected {
        resource: ResourceId(resource),
    });
    wait_for("it shows", || {
        request(rig.address(), "POST /whep/r/van", &[], "").status == 201
    });
    assert_eq!(rig.handle.hub().counts().1, 2);
    request(rig.address(), &format!("DELETE {location}"), &[], "");
    assert_eq!(rig.handle.hub().counts().1, 1);
    rig.advance(Duration::from_secs(10));
    assert_eq!(rig.handle.hub().counts(), (0, 0, 0));
}

#[test]
fn playing_by_name_works_when_another_one_asks_for_the_same_name() {
    let rig = Rig::start();
    let (mut ada, ..) = room(&rig);
    let sdp = [("content-type", "application/sdp")];
    for typed in ["van", "%20v%E2%80%8Ban%0A"] {
        let line = format!("POST /whip/r?name={typed}");
        assert_eq!(request(rig.address(), &line, &sdp, "v=0").status, 201);
    }
    let names = [ada.expect("joined"), ada.expect("joined")].map(|who| who["name"].clone());
    assert_eq!(names, ["van 2", "van 3"]);
    let play = |name: &str| {
        let line = format!("POST /whep/r/{name}");
        request(rig.address(), &line, &[], "").status
    };
    assert_eq!((play("van"), play("Van")), (201, 201));
    assert_eq!(play("van%202"), 409, "it is there, and not connected yet");
    assert_eq!(play("van%204"), 404);
}
