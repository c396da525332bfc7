use super::client::{Events, request};
use super::stub::{Rig, wait_for};
use crate::media_plane::{Event, ResourceId};
use serde_json::json;
use weft_units::Duration;

const SDP: (&str, &str) = ("content-type", "application/sdp");
const JSON: (&str, &str) = ("content-type", "application/json");

fn join(rig: &Rig, query: &str) -> Events {
    Events::open(rig.address(), &format!("/api/rooms/r/events?{query}"))
}

#[test]
fn everybody_hears_who_comes_and_who_is_there() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    let participant = |id: &str, name: &str| {
        json!({"id": id, "name": name, "kind": "browser",
            "publishing": {"video": false, "audio": false}, "links": []})
    };
    let welcome = ada.expect("welcome");
    assert_eq!(
        welcome,
        json!({"id": "p1", "room": "r", "participants": [participant("p1", "Ada")]})
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
fn one_who_comes_back_in_time_keeps_the_id_and_nobody_notices() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let mut bob = join(&rig, "name=Bob");
    bob.expect("welcome");
    ada.expect("joined");
    drop(bob);
    wait_for("the broken stream is noticed", || {
        rig.handle.hub().poll_timeout().is_some()
    });
    rig.advance(Duration::from_secs(9));
    let mut again = join(&rig, "name=Bob&id=p2");
    assert_eq!(again.expect("welcome")["id"], "p2");
    rig.advance(Duration::from_secs(60));
    join(&rig, "name=Eve").expect("welcome");
    assert_eq!(ada.expect("joined")["name"], "Eve", "no event in between");
}

#[test]
fn publications_show_when_they_are_connected_and_not_before() {
    let rig = Rig::start();
    let mut ada = join(&rig, "name=Ada");
    ada.expect("welcome");
    let made = request(rig.address(), "POST /whip/r?participant=p1", &[SDP], "v=0");
    let location = made.header("location").to_owned();
    let resource = ResourceId(location.rsplit('/').next().unwrap().to_owned());
    rig.tell(Event::Connected {
        resource: resource.clone(),
    });
    let publishing = |video, audio| json!({"video": video, "audio": audio});
    assert_eq!(ada.expect("changed")["publishing"], publishing(true, true));

    let camera_off = publishing(false, true).to_string();
    let put = format!("PUT {location}/publishing");
    assert_eq!(
        request(rig.address(), &put, &[JSON], &camera_off).status,
        204
    );
    assert_eq!(ada.expect("changed")["publishing"], publishing(false, true));
    rig.tell(Event::Ended {
        resource,
        reason: "silence".to_owned(),
    });
    assert_eq!(
        ada.expect("changed")["publishing"],
        publishing(false, false)
    );
}

#[test]
fn a_senders_links_are_told_to_all() {
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
        resource: ResourceId(
            made.header("location")
                .rsplit('/')
                .next()
                .unwrap()
                .to_owned(),
        ),
        reason: "silence".to_owned(),
    });
    wait_for("the end is noticed", || {
        rig.handle.hub().poll_timeout().is_some()
    });
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
