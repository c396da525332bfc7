use super::client::{Events, request};
use super::stub::{Rig, wait_for};
use crate::media_plane::{Event, MediaError, ResourceId};
use crate::{Camera, ParticipantKind, Publishing, Resident};
use serde_json::json;
use weft_units::Duration;

const SDP: (&str, &str) = ("content-type", "application/sdp");
const JSON: (&str, &str) = ("content-type", "application/json");

/// Request header with the secret from a welcome.
fn secret(welcome: &serde_json::Value) -> (&'static str, String) {
    (
        "weft-secret",
        welcome["secret"].as_str().unwrap().to_owned(),
    )
}

fn resource(location: &str) -> ResourceId {
    ResourceId(location.rsplit('/').next().unwrap().to_owned())
}

fn join(rig: &Rig, query: &str) -> Events {
    Events::open(rig.address(), &format!("/api/rooms/r/events?{query}"))
}

#[test]
fn everybody_learns_of_arrivals_and_of_those_present() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    let participant = |id: &str, name: &str| {
        json!({"id": id, "name": name, "kind": "browser",
            "publishing": {"video": false, "audio": false, "cameras": []}, "upload": "none",
            "links": [], "moderator": true})
    };
    let mut welcome = ada.expect("welcome");
    let secret = welcome.as_object_mut().unwrap().remove("secret");
    assert_eq!(secret.unwrap().as_str().unwrap().len(), 32, "128 bits");
    assert_eq!(
        welcome,
        json!({"id": "p1", "room": "r", "participants": [participant("p1", "Ada")],
            "settings": {"locked": false, "waiting_room": false, "recorded": false},
            "recordable": false})
    );
    let mut bob = join(&rig, "name=Bob%20B");
    let all = json!([participant("p1", "Ada"), participant("p2", "Bob B")]);
    assert_eq!(bob.expect("welcome")["participants"], all);
    assert_eq!(ada.expect("joined"), participant("p2", "Bob B"));
    let mut other = Events::open(rig.address(), "/api/rooms/other/events?name=Eve");
    assert_eq!(other.expect("welcome")["participants"][0]["id"], "p3");
    join(&rig, "name=Dan").expect("welcome");
    assert_eq!(ada.expect("joined")["name"], "Dan", "and not Eve");
}

#[test]
fn a_room_is_the_same_in_upper_and_lower_case() {
    let rig = Rig::start();
    let mut ada = Events::open(rig.address(), "/api/rooms/gr%C3%B6%C3%9Fe/events?name=Ada");
    assert_eq!(ada.expect("welcome")["room"], "größe");
    let mut bob = Events::open(rig.address(), "/api/rooms/GR%C3%96%C3%9FE/events?name=Bob");
    let there = bob.expect("welcome");
    assert_eq!(there["participants"][0]["name"], "Ada");
    assert_eq!(ada.expect("joined")["name"], "Bob");
    let offer = request(
        rig.address(),
        "POST /whip/Gr%C3%B6%C3%9Fe?participant=p1",
        &[SDP, ("weft-secret", "wrong")],
        "v=0",
    );
    assert_eq!(offer.status, 403, "p1 is known there");
}

#[test]
fn one_whose_stream_broke_leaves_after_the_grace_time() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let mut bob = join(&rig, "name=Bob");
    bob.expect("welcome");
    ada.expect("joined");
    drop(bob);
    let hub = rig.handle.hub();
    wait_for("the broken stream is noticed", || {
        hub.poll_timeout().is_some()
    });
    rig.advance(Duration::from_millis(9_999));
    assert_eq!(hub.counts().1, 2);
    rig.advance(Duration::from_millis(1));
    assert_eq!(ada.expect("left"), json!({"id": "p2"}));
}

#[test]
fn a_timely_return_keeps_the_id_unnoticed() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let mut bob = join(&rig, "name=Bob");
    let (header, known) = secret(&bob.expect("welcome"));
    ada.expect("joined");
    drop(bob);
    wait_for("the broken stream is noticed", || {
        rig.handle.hub().poll_timeout().is_some()
    });
    rig.advance(Duration::from_secs(9));
    let back = "/api/rooms/r/events?name=Bob&id=p2";
    let mut again = Events::open_with(rig.address(), back, &[(header, &known)]);
    let welcome = again.expect("welcome");
    assert_eq!(
        (&welcome["id"], &welcome["secret"]),
        (&json!("p2"), &json!(known))
    );
    rig.advance(Duration::from_secs(60));
    join(&rig, "name=Eve").expect("welcome");
    assert_eq!(ada.expect("joined")["name"], "Eve", "no event in between");
}

/// The page reports that it is being left, and does not wait for an answer.
#[test]
fn a_goodbye_takes_effect_at_once_and_a_reload_is_the_same_participant() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let mut bob = join(&rig, "name=Bob");
    let (header, known) = secret(&bob.expect("welcome"));
    ada.expect("joined");
    let leave = "DELETE /api/rooms/r/events?id=p2";
    let hub = rig.handle.hub();

    // A reload: departure, and return within the grace period.
    assert_eq!(
        request(rig.address(), leave, &[(header, &known)], "").status,
        204
    );
    drop(bob);
    wait_for("the stream's end is noticed", || {
        hub.poll_timeout().is_some()
    });
    rig.advance(Duration::from_millis(1_499));
    assert_eq!(hub.counts().1, 2);
    let back = "/api/rooms/r/events?name=Bob&id=p2";
    let mut again = Events::open_with(rig.address(), back, &[(header, &known)]);
    assert_eq!(again.expect("welcome")["id"], "p2");
    rig.advance(Duration::from_secs(60));
    assert_eq!(hub.counts().1, 2, "the goodbye is forgotten");

    // Final departure.
    assert_eq!(
        request(rig.address(), leave, &[(header, &known)], "").status,
        204
    );
    drop(again);
    wait_for("the stream's end is noticed", || {
        hub.poll_timeout().is_some()
    });
    rig.advance(Duration::from_millis(1_500));
    assert_eq!(ada.expect("left"), json!({"id": "p2"}));
    assert_eq!(
        request(rig.address(), leave, &[(header, &known)], "").status,
        404
    );
}

#[test]
fn nobody_says_goodbye_for_somebody_else() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    let hers = secret(&ada.expect("welcome")).1;
    join(&rig, "name=Bob").expect("welcome");
    let bobs = "DELETE /api/rooms/r/events?id=p2";
    for headers in [&[][..], &[("weft-secret", &*hers)][..]] {
        let refused = request(rig.address(), bobs, headers, "");
        assert_eq!(refused.status, 403);
        assert_eq!(
            refused.error(),
            "Participant 'p2' in room 'r' is somebody else."
        );
    }
    let nobody = "DELETE /api/rooms/r/events";
    let refused = request(rig.address(), nobody, &[("weft-secret", &hers)], "");
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.error(),
        "The request does not name the participant who leaves."
    );
}

#[test]
fn publications_show_when_they_are_connected_and_not_before() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    let (header, known) = secret(&ada.expect("welcome"));
    let headers = [SDP, (header, &*known)];
    let made = request(
        rig.address(),
        "POST /whip/r?participant=p1",
        &headers,
        "v=0",
    );
    let location = made.header("location").to_owned();
    let resource = resource(&location);
    rig.tell(Event::Connected {
        resource: resource.clone(),
    });
    let publishing = |video: bool, audio: bool| {
        let cameras = if video { json!([{}]) } else { json!([]) };
        json!({"video": video, "audio": audio, "cameras": cameras})
    };
    assert_eq!(ada.expect("changed")["publishing"], publishing(true, true));

    let camera_off = publishing(false, true).to_string();
    let put = format!("PUT {location}/publishing");
    assert_eq!(
        request(rig.address(), &put, &[JSON], &camera_off).status,
        204
    );
    assert_eq!(ada.expect("changed")["publishing"], publishing(false, true));
    rig.tell(Event::Ended {
        resource: resource.clone(),
        reason: "silence".to_owned(),
    });
    // So that it reconnects at once.
    assert_eq!(ada.expect("ended")["resource"], resource.0);
    assert_eq!(
        ada.expect("changed")["publishing"],
        publishing(false, false)
    );
}

#[test]
fn nobody_acts_as_somebody_else() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    let told = secret(&ada.expect("welcome")).1;
    let mut eve = join(&rig, "name=Ada&id=p1");
    let welcome = eve.expect("welcome");
    assert_eq!(
        welcome["id"], "p2",
        "without the secret one is somebody new"
    );
    assert!(!welcome.to_string().contains(&told), "{welcome}");
    ada.expect("joined");
    let hers = secret(&welcome).1;
    for headers in [&[SDP][..], &[SDP, ("weft-secret", &hers)][..]] {
        for query in ["participant=p1", "participant=p1&name=Ada"] {
            let line = format!("POST /whip/r?{query}");
            let refused = request(rig.address(), &line, headers, "v=0");
            assert_eq!(refused.status, 403);
            assert_eq!(
                refused.error(),
                "Participant 'p1' in room 'r' is somebody else."
            );
        }
    }
    assert!(rig.log().is_empty(), "nothing reached the media");
}

#[test]
fn a_publication_lasts_until_its_successor_is_connected() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    let (header, known) = secret(&ada.expect("welcome"));
    let headers = [SDP, (header, &*known)];
    let publish = || {
        let line = "POST /whip/r?participant=p1";
        let made = request(rig.address(), line, &headers, "v=0");
        resource(made.header("location"))
    };
    let closed = || rig.log().iter().filter(|l| l.starts_with("close")).count();
    let both = json!({"video": true, "audio": true, "cameras": [{}]});

    let first = publish();
    rig.tell(Event::Connected {
        resource: first.clone(),
    });
    assert_eq!(ada.expect("changed")["publishing"], both);
    let failed = publish();
    rig.tell(Event::Ended {
        resource: failed.clone(),
        reason: "the connection was not established".to_owned(),
    });
    assert_eq!(ada.expect("ended")["resource"], failed.0);
    let second = publish();
    assert_eq!(closed(), 0, "the first continues");
    rig.tell(Event::Connected { resource: second });
    wait_for("the first ends", || closed() == 1);
    assert_eq!(rig.log().last().unwrap(), &format!("close {}", first.0));
    let put = format!("PUT /whip/r/{}/publishing", first.0);
    assert_eq!(request(rig.address(), &put, &[JSON], "{}").status, 404);
    join(&rig, "name=Eve").expect("welcome");
    assert_eq!(ada.expect("joined")["name"], "Eve", "and nobody noticed");
}

#[test]
fn a_senders_links_are_sent_to_everybody() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let made = request(rig.address(), "POST /whip/r?name=van", &[SDP], "v=0");
    assert_eq!(ada.expect("joined")["kind"], "whip");
    let put = format!("PUT {}/links", made.header("location"));
    let wifi = json!([{"name": "wifi", "state": "suspect", "rtt_ms": 31.5, "sent_mbps": 2.0,
        "target_mbps": 2.5, "loss": 0.01, "metered": false}]);
    assert_eq!(
        request(rig.address(), &put, &[JSON], &wifi.to_string()).status,
        204
    );
    assert_eq!(ada.expect("changed")["kind"], "native");
    assert_eq!(ada.expect("links"), json!({"id": "p2", "links": wifi}));

    let bad = request(rig.address(), &put, &[JSON], r#"[{"name": "wifi"}]"#);
    assert_eq!(bad.status, 400);
    assert!(
        bad.error().contains("missing field `state`"),
        "{}",
        bad.error()
    );
}

#[test]
fn a_dead_sender_may_come_back_and_else_leaves() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let made = request(rig.address(), "POST /whip/r?name=van", &[SDP], "v=0");
    ada.expect("joined");
    rig.tell(Event::Ended {
        resource: resource(made.header("location")),
        reason: "silence".to_owned(),
    });
    wait_for("the end is noticed", || {
        rig.handle.hub().poll_timeout().is_some()
    });
    assert_eq!(ada.expect("changed")["upload"], "lost");
    rig.advance(Duration::from_secs(10));
    assert_eq!(ada.expect("left"), json!({"id": "p2"}));
}

#[test]
fn event_streams_end_with_the_server_which_frees_its_port() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let address = rig.address();
    rig.handle.shutdown();
    assert_eq!(ada.next(), None);
    assert!(std::net::TcpListener::bind(address).is_ok());
}

/// Three refused requests to publish and three to play, followed by an accepted one: the
/// room sees only the last one.
#[test]
fn the_room_hears_of_nobody_whose_request_is_refused() {
    let rig = Rig::start();
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    ada.expect("welcome");
    let van = Resident {
        room: "r",
        name: "van",
        kind: ParticipantKind::Native,
        publishing: Publishing {
            cameras: vec![Camera::default()],
            audio: false,
        },
    };
    rig.handle.add_resident(&van).unwrap();
    assert_eq!(ada.expect("joined")["name"], "van");
    ada.expect("changed");
    let sdp = ("content-type", "application/sdp");
    *rig.plane.refuse.lock().unwrap() = Some(MediaError::BadDescription {
        reason: "garbage".to_owned(),
    });
    for path in ["/whip/r?name=eve", "/whep/r/van?name=eve"] {
        for _ in 0..3 {
            let refused = request(rig.address(), &format!("POST {path}"), &[sdp], "garbage");
            assert_eq!(refused.status, 400);
        }
    }
    assert_eq!(rig.handle.hub().counts().1, 2);
    *rig.plane.refuse.lock().unwrap() = None;
    for (path, name) in [("/whip/r?name=bob", "bob"), ("/whep/r/van?name=kim", "kim")] {
        let taken = request(rig.address(), &format!("POST {path}"), &[sdp], "v=0");
        assert_eq!(taken.status, 201);
        assert_eq!(ada.expect("joined")["name"], name);
    }
}
