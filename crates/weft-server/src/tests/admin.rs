//! `/api/admin`, which has its own token.

use super::client::{Answer, Events, request};
use super::stub::{Rig, config};
use crate::{Grant, Log, May, OperatorConfig, Reconfiguration, ServerConfig, TokenKey};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

const TOKEN: &str = "the-token-of-the-operators-programs";

fn place() -> (Rig, TokenKey) {
    let folder = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&folder.path().join("token.key")).unwrap();
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        token_key: Some(key.clone()),
        operator: OperatorConfig {
            admin_token: Some(TOKEN.to_owned()),
            ..OperatorConfig::default()
        },
        ..config()
    });
    (rig, key)
}

fn ask_with(rig: &Rig, line: &str, header: (&str, &str), body: &Value) -> Answer {
    let headers = [
        header,
        ("content-type", "application/json"),
        ("x-forwarded-for", "192.0.2.9"),
    ];
    request(rig.address(), line, &headers, &body.to_string())
}

/// Status and body of a request with the admin token.
fn ask(rig: &Rig, line: &str, body: &Value) -> (u16, Value) {
    let bearer = format!("Bearer {TOKEN}");
    let answer = ask_with(rig, line, ("authorization", &bearer), body);
    let body = serde_json::from_str(&answer.body).unwrap_or_default();
    (answer.status, body)
}

fn join(rig: &Rig, token: &str, name: &str) -> (Events, String) {
    let bearer = format!("Bearer {token}");
    let path = format!("/api/rooms/r/events?name={name}");
    let mut events = Events::open_with(rig.address(), &path, &[("authorization", &*bearer)]);
    let id = events.expect("welcome")["id"].as_str().unwrap().to_owned();
    (events, id)
}

#[test]
fn programs_list_mute_remove_close_and_revoke() {
    let (rig, key) = place();
    let until = SystemTime::now() + Duration::from_secs(3600);
    let grant = Grant::new("r", May::TakePart, until).unwrap();
    let token = key.sign(&grant);
    let (mut ada, ada_id) = join(&rig, "s3cret", "Ada");
    let (mut eve, eve_id) = join(&rig, &token, "Eve");
    let (status, rooms) = ask(&rig, "GET /api/admin/rooms", &Value::Null);
    assert_eq!((status, &rooms["rooms"][0]["room"]), (200, &json!("r")));
    let eve_there = &rooms["rooms"][0]["participants"][1];
    assert_eq!(eve_there["id"], json!(eve_id));
    assert_eq!(eve_there["token"], json!(grant.id()));
    let (status, room) = ask(&rig, "GET /api/admin/rooms/R", &Value::Null);
    assert_eq!((status, &room), (200, &rooms["rooms"][0]));
    assert_eq!(ask(&rig, "GET /api/admin/rooms/other", &Value::Null).0, 404);

    let participant = "/api/admin/rooms/r/participants";
    let muted = ask(&rig, &format!("PUT {participant}/eve/mute"), &Value::Null);
    assert_eq!(muted, (200, json!({"id": eve_id, "name": "Eve"})));
    assert!(rig.handle.hub().is_muted("r", &eve_id));
    let revoked = ask(
        &rig,
        "POST /api/admin/revocations",
        &json!({"token": token}),
    );
    assert_eq!(revoked, (200, json!({"id": grant.id(), "removed": 1})));
    while eve.next().is_some() {}
    let line = format!("DELETE {participant}/{ada_id}?seconds=60");
    let removed = ask(&rig, &line, &Value::Null);
    assert_eq!(removed, (200, json!({"id": ada_id, "name": "Ada"})));
    while ada.next().is_some() {}
    assert_eq!(ask(&rig, &line, &Value::Null).0, 404);

    let (mut bob, _) = join(&rig, "s3cret", "Bob");
    let closure = "/api/admin/rooms/r/closure";
    let closed = ask(&rig, &format!("PUT {closure}"), &json!({"seconds": 600}));
    assert_eq!(closed, (200, json!({"removed": 1})));
    while bob.next().is_some() {}
    let (_, room) = ask(&rig, "GET /api/admin/rooms/r", &Value::Null);
    assert_eq!(room["closed_for"], json!(600));
    assert_eq!(ask(&rig, &format!("DELETE {closure}"), &Value::Null).0, 204);
    let (_bob, _) = join(&rig, "s3cret", "Bob");
    assert_eq!(ask(&rig, &format!("DELETE {closure}"), &Value::Null).0, 204);
    let (_, room) = ask(&rig, "GET /api/admin/rooms/r", &Value::Null);
    assert_eq!(room["participants"][0]["name"], json!("Bob"), "{room}");
}

#[test]
fn bad_requests_say_what_is_wrong_and_what_to_do() {
    let (rig, _) = place();
    for (line, body, status) in [
        ("PUT /api/admin/rooms/r/closure", json!({"minutes": 1}), 400),
        ("PUT /api/admin/rooms/r/closure", json!({}), 400),
        (
            "PUT /api/admin/rooms/..%2f/closure",
            json!({"seconds": 1}),
            400,
        ),
        (
            "POST /api/admin/revocations",
            json!({"token": "s3cret"}),
            409,
        ),
        (
            "POST /api/admin/revocations",
            json!({"token": "not a token"}),
            400,
        ),
        (
            "DELETE /api/admin/rooms/r/participants/p1?seconds=soon",
            json!({}),
            400,
        ),
        (
            "PUT /api/admin/rooms/r/participants/p1/mute",
            json!({}),
            404,
        ),
        ("POST /api/admin/rooms", json!({}), 405),
        ("GET /api/admin/no", json!({}), 404),
    ] {
        let bearer = format!("Bearer {TOKEN}");
        let answer = ask_with(&rig, line, ("authorization", &bearer), &body);
        assert_eq!(answer.status, status, "{line}: {}", answer.body);
        assert!(!answer.error().is_empty());
    }
}

#[test]
fn no_other_token_opens_it_and_guesses_are_slowed() {
    let (rig, _) = place();
    let kind = |header: (&str, &str)| {
        let answer = ask_with(&rig, "GET /api/admin/rooms", header, &Value::Null);
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let challenge = answer.header("www-authenticate").to_owned();
        (
            answer.status,
            body["kind"].as_str().unwrap_or_default().to_owned(),
            challenge,
        )
    };
    let refused = |kind: &str| (401, kind.to_owned(), "Bearer".to_owned());
    assert_eq!(kind(("x-none", "")), refused("admin_token_missing"));
    let bearer = format!("Bearer {TOKEN}");
    let cookie = format!("weft_token_80={TOKEN}");
    assert_eq!(kind(("cookie", &cookie)), refused("admin_token_missing"));
    assert_eq!(
        kind(("authorization", "Bearer s3cret")),
        refused("admin_token_wrong")
    );
    // The server's own token does not make an address trusted here.
    let (_ada, _) = join(&rig, "s3cret", "Ada");
    let first = std::time::Instant::now();
    for _ in 0..19 {
        assert_eq!(
            kind(("authorization", "Bearer guess")),
            refused("admin_token_wrong")
        );
    }
    assert!(first.elapsed() < Duration::from_millis(900));
    let asked = std::time::Instant::now();
    assert_eq!(
        kind(("authorization", "Bearer guess")),
        refused("admin_token_wrong")
    );
    assert!(
        asked.elapsed() >= Duration::from_millis(900),
        "the 21st waits"
    );
    assert_eq!(kind(("authorization", &bearer)).0, 200);
}

#[test]
fn the_interface_needs_a_token_and_a_new_one_replaces_the_old() {
    let rig = Rig::start();
    assert_eq!(ask(&rig, "GET /api/admin/rooms", &Value::Null).0, 404);
    let reconfigure = rig.handle.reconfigure();
    let with = |token: Option<&str>| {
        let new = Reconfiguration {
            admin_token: token.map(str::to_owned),
            token: None,
            allowed_origins: Vec::new(),
            ice_servers: Vec::new(),
            limits: crate::Limits::default(),
        };
        reconfigure(new).unwrap();
        ask(&rig, "GET /api/admin/rooms", &Value::Null).0
    };
    assert_eq!(
        [with(Some(TOKEN)), with(Some("another")), with(None)],
        [200, 401, 404]
    );
}

#[test]
fn the_log_says_whether_a_room_was_closed_or_opened() {
    let written = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&written);
    let rig = Rig::with(ServerConfig {
        operator: OperatorConfig {
            admin_token: Some(TOKEN.to_owned()),
            ..OperatorConfig::default()
        },
        log: Log::new(move |event| lines.lock().unwrap().push(event.to_string())),
        ..config()
    });
    let closure = "/api/admin/rooms/r/closure";
    let close = |seconds: u64| {
        ask(
            &rig,
            &format!("PUT {closure}"),
            &json!({"seconds": seconds}),
        )
        .0
    };
    assert_eq!((close(600), close(0)), (200, 200));
    assert_eq!(ask(&rig, &format!("DELETE {closure}"), &Value::Null).0, 204);
    let operator = |does| format!("r: the operator {does} it");
    let expected = ["closed", "opened", "opened"].map(operator);
    assert_eq!(*written.lock().unwrap(), expected);
}
