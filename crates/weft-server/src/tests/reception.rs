//! Connections that carry a whole room to a participant.

use super::client::{Answer, Events, request};
use super::stub::Rig;
use crate::media_plane::{Event, Line, LineContent, MediaError, ResourceId};
use serde_json::{Value, json};

/// Participant in the room "r", and the proof of their identity.
struct Guest {
    events: Events,
    id: String,
    secret: String,
}

impl Guest {
    fn join(rig: &Rig, name: &str) -> Guest {
        let path = format!("/api/rooms/r/events?name={name}");
        let mut events = Events::open(rig.address(), &path);
        let welcome = events.expect("welcome");
        let word = |name: &str| welcome[name].as_str().unwrap().to_owned();
        Guest {
            id: word("id"),
            secret: word("secret"),
            events,
        }
    }

    fn receive(&self, rig: &Rig) -> Answer {
        let line = format!("POST /api/rooms/r/reception?participant={}", self.id);
        request(rig.address(), &line, &[("weft-secret", &self.secret)], "")
    }
}

fn put_view(rig: &Rig, location: &str, view: &Value) -> Answer {
    let line = format!("PUT {location}/view");
    let kind = [("content-type", "application/json")];
    request(rig.address(), &line, &kind, &view.to_string())
}

#[test]
fn a_reception_belongs_to_a_participant_who_proves_it() {
    let rig = Rig::start();
    let ada = Guest::join(&rig, "Ada");
    let post = |query: &str, secret: &str| {
        let line = format!("POST /api/rooms/r/reception{query}");
        request(rig.address(), &line, &[("weft-secret", secret)], "").status
    };
    assert_eq!(post("", &ada.secret), 400);
    assert_eq!(post("?name=Eve", &ada.secret), 400);
    assert_eq!(post(&format!("?participant={}", ada.id), "guessed"), 403);
    assert_eq!(post("?participant=nobody", &ada.secret), 404);
    assert!(rig.log().is_empty(), "nothing reached the media");

    let made = ada.receive(&rig);
    assert_eq!((made.status, &*made.body), (201, "our offer"));
    assert_eq!(rig.log(), [format!("receive r {}", ada.id)]);
    let location = made.header("location").to_owned();
    let answer = |kind| {
        let line = format!("PATCH {location}");
        request(rig.address(), &line, &[("content-type", kind)], "sdp").status
    };
    assert_eq!(answer("application/sdp"), 204);
    assert_eq!(answer("application/trickle-ice-sdpfrag"), 204);
    assert_eq!(answer("text/plain"), 415);
    // Its URL in another room, or as a playback, does not exist.
    for elsewhere in [
        location.replace("/r/", "/s/"),
        location.replace("/api/rooms/r/reception", "/whep/r/van"),
    ] {
        let line = format!("DELETE {elsewhere}");
        assert_eq!(request(rig.address(), &line, &[], "").status, 404);
    }
    let line = format!("DELETE {location}");
    assert_eq!(request(rig.address(), &line, &[], "").status, 200);
    assert_eq!(request(rig.address(), &line, &[], "").status, 404);
}

#[test]
fn lines_and_offers_go_to_their_participant_only() {
    let rig = Rig::start();
    let mut ada = Guest::join(&rig, "Ada");
    let mut bob = Guest::join(&rig, "Bob");
    ada.events.expect("joined");
    let location = ada.receive(&rig).header("location").to_owned();
    let name = location.rsplit('/').next().unwrap().to_owned();
    let resource = ResourceId(name.clone());
    let line = |mid: &str, content| Line {
        mid: mid.to_owned(),
        participant: bob.id.clone(),
        content,
        paused: content == LineContent::Camera(0),
    };
    rig.tell(Event::LinesChanged {
        resource: resource.clone(),
        lines: vec![
            line("0", LineContent::Camera(0)),
            line("1", LineContent::Sound),
        ],
    });
    rig.tell(Event::Offered {
        resource,
        sdp: "more lines".to_owned(),
    });
    let lines = json!([
        {"mid": "0", "participant": bob.id, "kind": "video", "camera": 0, "paused": true},
        {"mid": "1", "participant": bob.id, "kind": "audio"},
    ]);
    let told = ada.events.expect("reception");
    assert_eq!(told, json!({"resource": name, "lines": lines}));
    let told = ada.events.expect("offer");
    assert_eq!(told, json!({"resource": name, "sdp": "more lines"}));
    Guest::join(&rig, "Cy");
    assert_eq!(bob.events.expect("joined")["name"], "Cy");
}

#[test]
fn a_view_is_answered_with_the_lines_and_the_offer_that_waits() {
    let rig = Rig::start();
    let ada = Guest::join(&rig, "Ada");
    let location = ada.receive(&rig).header("location").to_owned();
    let view = json!({"cameras": [
        {"participant": "van", "camera": 1, "width": 640, "height": 360},
        {"participant": "bob", "width": 160, "height": 90},
    ]});
    let answer = put_view(&rig, &location, &view);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let told: Value = serde_json::from_str(&answer.body).unwrap();
    let line =
        json!({"mid": "3", "participant": "van", "kind": "video", "camera": 1, "paused": false});
    assert_eq!(told, json!({"lines": [line], "offer": "another offer"}));
    let noted = rig.log().pop();
    assert_eq!(noted.as_deref(), Some("view van/1 640x360, bob/0 160x90"));

    let refused = put_view(&rig, &location, &json!({"cameras": "all"}));
    assert_eq!(refused.status, 400);
    assert!(refused.error().contains("cannot be read"));
    let mut refusals = (0..60).map(|_| put_view(&rig, &location, &view).status);
    assert!(refusals.any(|status| status == 429));
}

#[test]
fn a_reception_that_the_media_refuse_leaves_nothing_behind() {
    let rig = Rig::start();
    let ada = Guest::join(&rig, "Ada");
    *rig.plane.refuse.lock().unwrap() = Some(MediaError::Busy);
    assert_eq!(ada.receive(&rig).status, 503);
    let closed = rig.log().pop();
    assert!(closed.is_some_and(|words| words.starts_with("close ")));
}
