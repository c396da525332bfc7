//! A guest cannot keep the others out.

use super::client::request;
use super::stub::{Rig, config};
use crate::{Grant, Limits, May, MediaLimits, ServerConfig, TokenKey};
use std::time::{Duration, SystemTime};

const SDP: (&str, &str) = ("content-type", "application/sdp");

/// Server with an operator's token, and its key.
fn rig(limits: Limits) -> (Rig, TokenKey) {
    let folder = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&folder.path().join("token.key")).unwrap();
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        token_key: Some(key.clone()),
        limits,
        ..config()
    });
    (rig, key)
}

fn token(key: &TokenKey, may: May) -> String {
    let until = SystemTime::now() + Duration::from_secs(3600);
    key.sign(&Grant::new("r", may, until).unwrap())
}

/// Joins the room; the connection ends, and the participant stays for the grace
/// period.
fn join(rig: &Rig, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", &*bearer)];
    let line = "GET /api/rooms/r/events?name=x";
    request(rig.address(), line, &headers, "").status
}

fn publish(rig: &Rig, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [SDP, ("authorization", &*bearer)];
    request(rig.address(), "POST /whip/r?name=van", &headers, "v=0").status
}

/// Token for a guest of this token's bearer.
fn invitation(rig: &Rig, token: &str) -> String {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("content-type", "application/json"),
        ("authorization", &*bearer),
    ];
    let wanted = r#"{"may": "take_part", "hours": 2}"#;
    let line = "POST /api/rooms/r/invitation";
    let answer = request(rig.address(), line, &headers, wanted);
    let value: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    value["token"].as_str().unwrap().to_owned()
}

#[test]
fn a_hundred_joins_with_one_watch_only_token_lock_nobody_out() {
    let (rig, key) = rig(Limits::default());
    let guest = token(&key, May::Watch);
    let answers: Vec<u16> = (0..100).map(|_| join(&rig, &guest)).collect();
    assert_eq!(answers, [vec![200; 50], vec![429; 50]].concat());
    assert_eq!(join(&rig, &token(&key, May::Watch)), 200);
    assert_eq!(publish(&rig, &token(&key, May::TakePart)), 201);
    assert_eq!(join(&rig, "s3cret"), 200);
}

#[test]
fn the_tokens_that_a_guest_makes_count_as_its_own() {
    let (rig, key) = rig(Limits::default());
    let guest = token(&key, May::Watch);
    let joined = (0..100).filter(|_| {
        let invited = invitation(&rig, &guest);
        join(&rig, &invited) == 200
    });
    assert_eq!(joined.count(), 50);
    // The limit of a token does not apply to the operator's guests.
    let joined = (0..5).filter(|_| join(&rig, &invitation(&rig, "s3cret")) == 200);
    assert_eq!(joined.count(), 5);
}

#[test]
fn a_room_full_of_guests_with_tokens_of_their_own_has_places_for_the_operator() {
    let (rig, key) = rig(Limits {
        participants_per_room: 20,
        ..Limits::default()
    });
    let answers: Vec<u16> = (0..20)
        .map(|_| join(&rig, &token(&key, May::Watch)))
        .collect();
    assert_eq!(answers, [vec![200; 18], vec![503; 2]].concat());
    let own: Vec<u16> = (0..3).map(|_| publish(&rig, "s3cret")).collect();
    assert_eq!(own, [201, 201, 503]);
}

#[test]
fn newcomers_and_guests_leave_connections_for_those_inside_and_the_operator() {
    let (rig, key) = rig(Limits {
        media: MediaLimits {
            per_room: 20,
            ..MediaLimits::default()
        },
        ..Limits::default()
    });
    let guest = token(&key, May::TakePart);
    let answers: Vec<u16> = (0..15).map(|_| publish(&rig, &guest)).collect();
    assert_eq!(answers, [vec![201; 14], vec![503]].concat());
    let bearer = format!("Bearer {guest}");
    let line = "/api/rooms/r/events?name=Ada";
    let mut ada =
        super::client::Events::open_with(rig.address(), line, &[("authorization", &*bearer)]);
    let welcome = ada.expect("welcome");
    let (id, secret) = (welcome["id"].as_str(), welcome["secret"].as_str());
    let line = format!("POST /whip/r?participant={}", id.unwrap());
    let inside = |_| {
        let headers = [
            SDP,
            ("authorization", &*bearer),
            ("weft-secret", secret.unwrap()),
        ];
        request(rig.address(), &line, &headers, "v=0").status
    };
    let answers: Vec<u16> = (0..3).map(inside).collect();
    assert_eq!(answers, [201, 201, 503]);
    let own: Vec<u16> = (0..3).map(|_| publish(&rig, "s3cret")).collect();
    assert_eq!(own, [201, 201, 503]);
}
