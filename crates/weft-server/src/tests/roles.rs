//! Moderation by participants: mute, removal, lock, waiting room.

use super::client::{Answer, Events, request};
use super::stub::{Rig, config};
use crate::{Grant, Limits, May, ServerConfig, TokenKey};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

const JSON: (&str, &str) = ("content-type", "application/json");
const SDP: (&str, &str) = ("content-type", "application/sdp");

struct Place {
    rig: Rig,
    key: TokenKey,
    _folder: tempfile::TempDir,
}

/// Participant with an open event stream.
struct Person {
    id: String,
    secret: String,
    token: String,
    events: Events,
}

fn place_with(limits: Limits) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&folder.path().join("key")).unwrap();
    let rig = Rig::with(ServerConfig {
        token_key: Some(key.clone()),
        limits,
        ..config()
    });
    Place {
        rig,
        key,
        _folder: folder,
    }
}

fn place() -> Place {
    place_with(Limits::default())
}

impl Place {
    fn token(&self, may: May) -> String {
        let until = SystemTime::now() + Duration::from_secs(3600);
        self.key.sign(&Grant::new("r", may, until).unwrap())
    }

    fn open(&self, token: &str, query: &str, secret: &str, first: &str) -> Person {
        let bearer = format!("Bearer {token}");
        let path = format!("/api/rooms/r/events?{query}");
        let headers = [("authorization", &*bearer), ("weft-secret", secret)];
        let mut events = Events::open_with(self.rig.address(), &path, &headers);
        let welcome = events.expect(first);
        Person {
            id: welcome["id"].as_str().unwrap().to_owned(),
            secret: welcome["secret"].as_str().unwrap().to_owned(),
            token: token.to_owned(),
            events,
        }
    }

    fn join(&self, name: &str, may: May) -> Person {
        self.open(&self.token(may), &format!("name={name}"), "", "welcome")
    }

    fn ask(&self, who: &Person, line: &str, kind: (&str, &str), body: &str) -> Answer {
        let bearer = format!("Bearer {}", who.token);
        let headers = [
            kind,
            ("authorization", &*bearer),
            ("weft-secret", &*who.secret),
        ];
        let line = format!("{line}?participant={}", who.id);
        request(self.rig.address(), &line, &headers, body)
    }

    fn moderate(&self, who: &Person, line: &str, body: &Value) -> Answer {
        let (method, path) = line.split_once(' ').unwrap();
        let line = format!("{method} /api/rooms/r/{path}");
        self.ask(who, &line, JSON, &body.to_string())
    }

    /// Status and kind of an attempt to join as a new participant.
    fn knock(&self, token: &str) -> (u16, String) {
        let bearer = format!("Bearer {token}");
        let headers = [SDP, ("authorization", &*bearer)];
        let answer = request(self.rig.address(), "POST /whip/r?name=x", &headers, "v=0");
        (answer.status, kind(&answer))
    }
}

fn kind(answer: &Answer) -> String {
    let value: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    value["kind"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn only_a_token_that_says_so_moderates() {
    let place = place();
    let mut ada = place.join("Ada", May::Moderate);
    let bob = place.join("Bob", May::TakePart);
    assert_eq!(ada.events.expect("joined").get("moderator"), None);
    let target = format!("participants/{}", ada.id);
    for line in [
        "PUT settings".to_owned(),
        format!("PUT {target}/mute"),
        format!("PUT {target}/admission"),
        format!("DELETE {target}"),
    ] {
        let answer = place.moderate(&bob, &line, &json!({"locked": true}));
        assert_eq!(answer.status, 403, "{line}");
        assert_eq!(kind(&answer), "token_no_moderator");
    }
    // A token that allows it, but no secret of a participant inside.
    let stranger = Person {
        id: ada.id.clone(),
        ..place.join("Eve", May::Moderate)
    };
    let answer = place.moderate(&stranger, "PUT settings", &json!({"locked": true}));
    assert_eq!(answer.status, 403);
}

#[test]
fn the_sound_of_the_muted_is_not_forwarded_until_they_unmute_themselves() {
    let place = place();
    let ada = place.join("Ada", May::Moderate);
    let mut bob = place.join("Bob", May::TakePart);
    let mute = format!("PUT participants/{}/mute", bob.id);
    assert_eq!(place.moderate(&ada, &mute, &json!({})).status, 204);
    assert_eq!(bob.events.expect("changed")["muted"], true);
    assert_eq!(place.rig.log(), [format!("Muted r {}", bob.id)]);
    // Only the participant ends it: the request is always about its sender.
    assert_eq!(place.moderate(&ada, "DELETE mute", &json!({})).status, 204);
    assert!(place.rig.handle.hub().is_muted("r", &bob.id));
    assert_eq!(place.moderate(&bob, "DELETE mute", &json!({})).status, 204);
    assert_eq!(bob.events.expect("changed").get("muted"), None);
    let log = place.rig.log();
    assert_eq!(log.last(), Some(&format!("Forwarded r {}", bob.id)));
    let nobody = "PUT participants/nobody/mute";
    assert_eq!(place.moderate(&ada, nobody, &json!({})).status, 404);
}

#[test]
fn the_removed_do_not_come_back_with_their_invitation() {
    let place = place();
    let mut ada = place.join("Ada", May::Moderate);
    let mut bob = place.join("Bob", May::TakePart);
    ada.events.expect("joined");
    let remove = format!("DELETE participants/{}", bob.id);
    let answer = place.moderate(&ada, &remove, &json!({}));
    assert_eq!((answer.status, &*answer.body), (200, r#"{"revoked":true}"#));
    assert_eq!(ada.events.expect("left")["id"], json!(bob.id));
    assert!(bob.events.next().is_none());
    assert_eq!(place.knock(&bob.token), (401, "token_revoked".to_owned()));
    assert_eq!(place.knock(&place.token(May::TakePart)).0, 201);
    // An invitation with which a removed participant and another one are inside is void
    // for newcomers.
    let shared = place.token(May::TakePart);
    let cy = place.open(&shared, "name=Cy", "", "welcome");
    let dan = place.open(&shared, "name=Dan", "", "welcome");
    let remove = format!("DELETE participants/{}", dan.id);
    let answer = place.moderate(&ada, &remove, &json!({}));
    assert_eq!(answer.body, r#"{"revoked":false}"#);
    assert_eq!(place.knock(&shared), (403, "removed".to_owned()));
    let answer = place.moderate(&cy, "POST chat", &json!({"text": "I stay"}));
    assert_eq!(answer.status, 201);
}

#[test]
fn a_connection_that_is_made_while_its_owner_is_removed_is_closed() {
    for line in ["POST /whip/r", "POST /api/rooms/r/reception"] {
        let place = place();
        let ada = place.join("Ada", May::Moderate);
        let bob = place.join("Bob", May::TakePart);
        let hub = std::sync::Arc::clone(place.rig.handle.hub());
        let id = bob.id.clone();
        *place.rig.plane.meanwhile.lock().unwrap() = Some(Box::new(move || {
            hub.remove("r", &id, weft_units::Duration::from_secs(60))
                .unwrap();
        }));
        let answer = place.ask(&bob, line, SDP, "v=0");
        assert_eq!((answer.status, &*kind(&answer)), (403, "ended"), "{line}");
        let log = place.rig.log();
        let made = log.iter().position(|l| l.starts_with(['p', 'r'])).unwrap();
        let closed = log[made..].iter().any(|l| l.starts_with("close "));
        assert!(closed, "after it was made: {log:?}");
        drop(ada);
    }
}

#[test]
fn a_locked_room_is_shown_as_such_and_takes_moderators_only() {
    let place = place();
    let mut ada = place.join("Ada", May::Moderate);
    let set = |body: Value| place.moderate(&ada, "PUT settings", &body).status;
    assert_eq!(set(json!({"locked": true})), 204);
    let settings = json!({"locked": true, "waiting_room": false, "recorded": false});
    let guest = place.token(May::TakePart);
    assert_eq!(place.knock(&guest), (403, "room_locked".to_owned()));
    assert_eq!(place.knock(&place.token(May::Moderate)).0, 201);
    assert_eq!(set(json!({"locked": false})), 204);
    assert_eq!(place.knock(&guest).0, 201);
    assert_eq!(ada.events.expect("settings"), settings);
}

#[test]
fn waiting_participants_neither_see_nor_are_seen_on_any_route() {
    let place = place();
    let mut ada = place.join("Ada", May::Moderate);
    let set = json!({"waiting_room": true});
    assert_eq!(place.moderate(&ada, "PUT settings", &set).status, 204);
    ada.events.expect("settings");
    let token = place.token(May::TakePart);
    let mut bob = place.open(&token, "name=Bob", "", "waiting");
    let queue = ada.events.expect("queue");
    assert_eq!(queue["waiting"], json!([{"id": bob.id, "name": "Bob"}]));
    place.moderate(&ada, "POST chat", &json!({"text": "secret"}));
    ada.events.expect("chat");
    for (line, kind_of_body) in [
        ("POST /whip/r", SDP),
        ("POST /api/rooms/r/reception", SDP),
        (&*format!("POST /whep/r/{}", ada.id), SDP),
        ("POST /api/rooms/r/chat", JSON),
        ("PUT /api/rooms/r/name", JSON),
        ("DELETE /api/rooms/r/mute", JSON),
    ] {
        let body = match kind_of_body {
            JSON => r#"{"text": "x", "name": "x"}"#,
            _ => "v=0",
        };
        let answer = place.ask(&bob, line, kind_of_body, body);
        let nothing = kind(&answer) == "waiting" || answer.status == 409;
        assert!(nothing, "{line}: {} {}", answer.status, answer.body);
    }
    // Players and senders without an event stream do not get in either.
    assert_eq!(place.knock(&token), (403, "waiting".to_owned()));
    assert!(place.rig.log().is_empty(), "{:?}", place.rig.log());
    // A return keeps the place in the queue.
    let back = format!("name=Bob&id={}", bob.id);
    bob = place.open(&token, &back, &bob.secret.clone(), "waiting");
    let admit = format!("PUT participants/{}/admission", bob.id);
    assert_eq!(place.moderate(&ada, &admit, &json!({})).status, 204);
    let welcome = bob.events.expect("welcome");
    assert_eq!(
        (&welcome["id"], &welcome["secret"]),
        (&json!(bob.id), &json!(bob.secret))
    );
    assert_eq!(welcome["participants"].as_array().unwrap().len(), 2);
    assert_eq!(
        bob.events.expect("history")["messages"][0]["text"],
        "secret"
    );
    assert_eq!(place.ask(&bob, "POST /whip/r", SDP, "v=0").status, 201);
    assert_eq!(place.moderate(&ada, &admit, &json!({})).status, 404);
    let mut cy = place.open(&place.token(May::Watch), "name=Cy", "", "waiting");
    let refuse = format!("DELETE participants/{}", cy.id);
    assert_eq!(place.moderate(&ada, &refuse, &json!({})).status, 200);
    assert!(cy.events.next().is_none());
    assert_eq!(place.knock(&cy.token), (401, "token_revoked".to_owned()));
}

#[test]
fn places_of_a_full_room_are_kept_for_tokens_that_may_moderate() {
    let place = place_with(Limits {
        participants_per_room: 3,
        participants_per_token: Some(3),
        ..Limits::default()
    });
    let _guests = [place.join("a", May::TakePart), place.join("b", May::Watch)];
    assert_eq!(place.knock(&place.token(May::TakePart)).0, 503);
    assert_eq!(place.knock(&place.token(May::Moderate)).0, 201);
}
