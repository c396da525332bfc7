//! Settings that change while the server runs.

use super::client::{Events, request};
use super::stub::{Rig, config};
use crate::{Limits, MediaLimits, Reconfiguration, ServerConfig, ServerError};

const ORIGIN: &str = "https://dashboard.example";

fn new(token: Option<&str>, origin: &str, limits: Limits) -> Reconfiguration {
    Reconfiguration {
        token: token.map(str::to_owned),
        admin_token: None,
        allowed_origins: vec![origin.parse().unwrap()],
        ice_servers: vec!["stun:stun.example:3478".parse().unwrap()],
        limits,
    }
}

/// Status of a request to publish in a room with this token.
fn publish(rig: &Rig, room: &str, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("content-type", "application/sdp"),
        ("authorization", &*bearer),
        ("x-forwarded-for", "192.0.2.1"),
    ];
    let line = format!("POST /whip/{room}?name=van");
    request(rig.address(), &line, &headers, "v=0").status
}

#[test]
fn a_running_server_takes_over_token_limits_origins_and_ice_servers() {
    let rig = Rig::with(ServerConfig {
        token: Some("old".to_owned()),
        ..config()
    });
    assert_eq!(
        [publish(&rig, "r", "old"), publish(&rig, "r", "new")],
        [201, 401]
    );
    let limits = Limits {
        rooms: 2,
        media: MediaLimits {
            per_address: 3,
            ..MediaLimits::default()
        },
        ..Limits::default()
    };
    let reconfigure = rig.handle.reconfigure();
    reconfigure(new(Some("new"), ORIGIN, limits)).unwrap();
    assert_eq!(
        [publish(&rig, "r", "old"), publish(&rig, "r", "new")],
        [401, 201]
    );
    assert_eq!(publish(&rig, "s", "new"), 201);
    assert_eq!(publish(&rig, "t", "new"), 429, "per address");
    let more = Limits {
        rooms: 2,
        ..Limits::default()
    };
    reconfigure(new(None, ORIGIN, more)).unwrap();
    assert_eq!(publish(&rig, "t", "new"), 503, "rooms; the token stays");
    assert_eq!(publish(&rig, "r", "new"), 201);
    let from = [("origin", ORIGIN), ("authorization", "Bearer new")];
    let answer = request(rig.address(), "GET /api/rooms/r/access", &from, "");
    assert_eq!(answer.header("access-control-allow-origin"), ORIGIN);
    let bearer = [("authorization", "Bearer new")];
    let mut ada = Events::open_with(rig.address(), "/api/rooms/r/events?name=Ada", &bearer);
    let welcome = ada.expect("welcome");
    assert_eq!(welcome["ice_servers"][0]["urls"], "stun:stun.example:3478");
}

#[test]
fn an_open_server_stays_open_to_chosen_origins_only() {
    let rig = Rig::start();
    let reconfigure = rig.handle.reconfigure();
    let refused = reconfigure(new(Some("t"), "*", Limits::default()));
    assert!(matches!(refused, Err(ServerError::OpenToAnyOrigin)));
    reconfigure(new(Some("t"), ORIGIN, Limits::default())).unwrap();
    assert_eq!(publish(&rig, "r", "none"), 201);
}
