//! Chat, raised hands, reactions and new names, over HTTP.

use super::client::{Answer, Events, request};
use super::stub::{Rig, config};
use crate::{Grant, May, ServerConfig, TokenKey};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Participant with an open event stream.
struct Talker {
    id: String,
    secret: String,
    events: Events,
}

fn join(rig: &Rig, name: &str) -> Talker {
    resume(rig, &format!("name={name}"), &[])
}

fn resume(rig: &Rig, query: &str, headers: &[(&str, &str)]) -> Talker {
    let path = format!("/api/rooms/r/events?{query}");
    let mut events = Events::open_with(rig.address(), &path, headers);
    let welcome = events.expect("welcome");
    Talker {
        id: welcome["id"].as_str().unwrap().to_owned(),
        secret: welcome["secret"].as_str().unwrap().to_owned(),
        events,
    }
}

impl Talker {
    /// Chat that follows the welcome.
    fn history(&mut self) -> Value {
        self.events.expect("history")["messages"].take()
    }

    fn send(&self, rig: &Rig, method: &str, what: &str, body: &Value) -> Answer {
        let line = format!("{method} /api/rooms/r/{what}?participant={}", self.id);
        let headers = [JSON, ("weft-secret", &*self.secret)];
        request(rig.address(), &line, &headers, &body.to_string())
    }

    fn say(&self, rig: &Rig, text: &str) -> Answer {
        self.send(rig, "POST", "chat", &json!({ "text": text }))
    }
}

/// Ids and texts of a chat.
fn texts(chat: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = chat.as_array().unwrap().iter();
    all.map(|m| (text(&m["id"]), text(&m["text"]))).collect()
}

#[test]
fn a_message_reaches_the_room_and_those_who_join_later() {
    let rig = Rig::start();
    let (mut ada, mut bob) = (join(&rig, "Ada"), join(&rig, "Bob"));
    ada.events.expect("joined");
    let text = "<img src=x onerror=alert(1)> \u{202e}hi\n\u{1f44b}";
    let answer = ada.say(&rig, text);
    assert_eq!(answer.status, 201);
    let sent: Value = serde_json::from_str(&answer.body).unwrap();
    let heard = bob.events.expect("chat");
    assert_eq!(heard, ada.events.expect("chat"));
    assert_eq!(
        (&heard["id"], &heard["from"]),
        (&sent["id"], &json!(ada.id))
    );
    assert_eq!(heard["text"], "<img src=x onerror=alert(1)> hi\n\u{1f44b}");
    assert_eq!(heard["name"], "Ada");
    assert!(heard["at"].as_u64().unwrap() > 1_600_000_000_000);
    assert_eq!(join(&rig, "Cy").history(), json!([heard]));
    let other = "/api/rooms/other/events?name=";
    let mut eve = Events::open(rig.address(), &format!("{other}Eve"));
    eve.expect("welcome");
    Events::open(rig.address(), &format!("{other}Mal")).expect("welcome");
    eve.expect("joined");
}

#[test]
fn a_stream_that_is_resumed_brings_each_message_once() {
    let rig = Rig::start();
    let (ada, mut bob) = (join(&rig, "Ada"), join(&rig, "Bob"));
    ada.say(&rig, "one");
    ada.say(&rig, "two");
    let one = bob.events.expect("chat")["id"].as_str().unwrap().to_owned();
    // The stream breaks before the second message is read.
    drop(bob.events);
    ada.say(&rig, "three");
    let query = format!("name=Bob&id={}", bob.id);
    let headers = [("weft-secret", &*bob.secret), ("last-event-id", &*one)];
    let mut again = resume(&rig, &query, &headers);
    assert_eq!(again.id, bob.id);
    let missed: Vec<String> = texts(&again.history()).into_iter().map(|m| m.1).collect();
    assert_eq!(missed, ["two", "three"]);
    let headers = [("weft-secret", &*bob.secret), ("last-event-id", "x-7")];
    let mut all = resume(&rig, &query, &headers);
    assert_eq!(texts(&all.history()).len(), 3, "unknown: everything");
}

#[test]
fn a_request_that_is_repeated_with_its_key_sends_once() {
    let rig = Rig::start();
    let ada = join(&rig, "Ada");
    let body = json!({"text": "hello", "key": "k1"});
    let first = ada.send(&rig, "POST", "chat", &body);
    // A repetition does not use the allowance.
    for _ in 0..30 {
        let again = ada.send(&rig, "POST", "chat", &body);
        assert_eq!((again.status, &again.body), (201, &first.body));
    }
    assert_eq!(texts(&join(&rig, "Bob").history()).len(), 1);
}

#[test]
fn only_participants_write() {
    let rig = Rig::start();
    let ada = join(&rig, "Ada");
    let to = |query: &str, secret: &str| {
        let headers = [JSON, ("weft-secret", secret)];
        let line = format!("POST /api/rooms/r/chat{query}");
        request(rig.address(), &line, &headers, r#"{"text": "x"}"#).status
    };
    let own = format!("?participant={}", ada.id);
    assert_eq!(to(&own, &ada.secret), 201);
    assert_eq!(to(&own, "wrong"), 403);
    assert_eq!(to("", &ada.secret), 400);
    assert_eq!(to("?participant=p99", &ada.secret), 404);
    let eve = join(&rig, "Eve");
    assert_eq!(to(&own, &eve.secret), 403, "of somebody else");
    for (method, what, body) in [
        ("PUT", "hand", json!({"raised": true})),
        ("POST", "reaction", json!({"reaction": "clap"})),
        ("PUT", "name", json!({"name": "Mallory"})),
    ] {
        let stranger = Talker {
            id: ada.id.clone(),
            secret: eve.secret.clone(),
            ..join(&rig, "Mal")
        };
        assert_eq!(
            stranger.send(&rig, method, what, &body).status,
            403,
            "{what}"
        );
    }
}

#[test]
fn a_token_of_another_room_neither_writes_nor_reads() {
    let folder = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&folder.path().join("key")).unwrap();
    let rig = Rig::with(ServerConfig {
        token_key: Some(key.clone()),
        ..config()
    });
    let until = SystemTime::now() + Duration::from_secs(3600);
    let token = |room: &str| key.sign(&Grant::new(room, May::TakePart, until).unwrap());
    let own = format!("Bearer {}", token("r"));
    let ada = resume(&rig, "name=Ada", &[("authorization", &own)]);
    for (bearer, status) in [(own, 201), (format!("Bearer {}", token("s")), 403)] {
        let line = format!("POST /api/rooms/r/chat?participant={}", ada.id);
        let headers = [
            JSON,
            ("weft-secret", &*ada.secret),
            ("authorization", &*bearer),
        ];
        let answer = request(rig.address(), &line, &headers, r#"{"text": "x"}"#);
        assert_eq!(answer.status, status);
    }
    let line = format!("POST /api/rooms/r/chat?participant={}", ada.id);
    let headers = [JSON, ("weft-secret", &*ada.secret)];
    assert_eq!(
        request(rig.address(), &line, &headers, r#"{"text": "x"}"#).status,
        401
    );
}

#[test]
fn a_flood_is_refused_with_the_time_to_wait_and_ends_nobodys_call() {
    let rig = Rig::start();
    let (ada, bob) = (join(&rig, "Ada"), join(&rig, "Bob"));
    let answers: Vec<Answer> = (0..20).map(|n| ada.say(&rig, &n.to_string())).collect();
    let taken = answers.iter().filter(|a| a.status == 201).count();
    assert_eq!(taken, 10);
    let refused = answers.last().unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (429, "1"));
    assert!(refused.error().contains("too fast"), "{}", refused.body);
    assert_eq!(bob.say(&rig, "and I?").status, 201);
    rig.advance(weft_units::Duration::from_secs(1));
    assert_eq!(ada.say(&rig, "again").status, 201);
    assert_eq!(ada.say(&rig, "again").status, 429);
    // All together: reactions count like messages.
    let crowd: Vec<Talker> = (0..10).map(|n| join(&rig, &format!("n{n}"))).collect();
    let react = |who: &Talker| {
        let body = json!({"reaction": "heart"});
        who.send(&rig, "POST", "reaction", &body).status
    };
    let shown = (0..100).filter(|n| react(&crowd[n % 10]) == 204).count();
    assert!((45..60).contains(&shown), "{shown} of a room's 60");
}

#[test]
fn bad_messages_are_refused_with_the_reason() {
    let rig = Rig::start();
    let ada = join(&rig, "Ada");
    for (body, status) in [
        (json!({"text": ""}), 400),
        (json!({"text": " \u{200b}\n"}), 400),
        (json!({"text": "x".repeat(2001)}), 400),
        (json!({"text": "x".repeat(2000)}), 201),
        (json!({"text": "a", "key": "k".repeat(65)}), 400),
        (json!({"text": 7}), 400),
        (json!({}), 400),
        (json!({"text": "x".repeat(70_000)}), 413),
    ] {
        let answer = ada.send(&rig, "POST", "chat", &body);
        assert_eq!(answer.status, status, "{}", answer.body);
        if status != 201 {
            assert!(!answer.error().is_empty());
        }
    }
    let answer = ada.send(&rig, "POST", "reaction", &json!({"reaction": "<b>"}));
    assert_eq!(answer.status, 400);
    assert_eq!(ada.send(&rig, "GET", "chat", &json!({})).status, 405);
}

#[test]
fn hands_reactions_and_names_reach_the_room() {
    let rig = Rig::start();
    let (mut ada, bob) = (join(&rig, "Ada"), join(&rig, "Bob"));
    ada.events.expect("joined");
    let hand =
        |who: &Talker, raised: bool| who.send(&rig, "PUT", "hand", &json!({ "raised": raised }));
    assert_eq!(hand(&bob, true).status, 204);
    let changed = ada.events.expect("changed");
    assert_eq!(
        (&changed["id"], &changed["hand"]),
        (&json!(bob.id), &json!(1))
    );
    hand(&ada, true);
    assert_eq!(ada.events.expect("changed")["hand"], 2);
    hand(&bob, false);
    assert_eq!(ada.events.expect("changed").get("hand"), None);
    let body = json!({"reaction": "thumbs_up"});
    assert_eq!(bob.send(&rig, "POST", "reaction", &body).status, 204);
    let shown = ada.events.expect("reaction");
    assert_eq!(shown, json!({"id": bob.id, "reaction": "thumbs_up"}));
    let rename = |name: &str| bob.send(&rig, "PUT", "name", &json!({ "name": name }));
    assert_eq!(rename("aDA").body, r#"{"name":"aDA 2"}"#);
    assert_eq!(ada.events.expect("changed")["name"], "aDA 2");
    for bad in ["x".repeat(10_000), "\u{2060}".to_owned(), String::new()] {
        let answer = rename(&bad);
        assert_eq!(answer.status, 400);
        assert!(answer.error().contains("1 to 64"), "{}", answer.body);
    }
}
