use super::client::request;
use super::stub::{Rig, config, wait_for};
use crate::media_plane::{Event, MediaError, ResourceId};
use crate::{
    Camera, Limits, MediaLimits, OperatorConfig, ParticipantKind, Publishing, Resident,
    ServerConfig,
};
use axum::Router;
use axum::routing::get;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

const SDP: (&str, &str) = ("content-type", "application/sdp");

/// Participant who publishes without HTTP.
fn resident(rig: &Rig) {
    let publishing = Publishing {
        cameras: vec![Camera::default()],
        audio: false,
    };
    let id = rig.handle.add_resident(&Resident {
        room: "demo",
        name: "weft",
        kind: ParticipantKind::Native,
        publishing,
    });
    assert_eq!(id.as_deref(), Ok("p1"));
}

#[test]
fn the_page_is_everywhere_where_a_person_goes() {
    let rig = Rig::start();
    for path in [
        "/",
        "/index.html",
        "/r/my-room",
        "/r/my-room/",
        "/demo",
        "/?x=1",
    ] {
        let answer = request(rig.address(), &format!("GET {path}"), &[], "");
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        assert!(
            answer
                .header("content-security-policy")
                .contains("frame-ancestors 'none'")
        );
        assert!(answer.body.contains("<title>weft</title>"));
    }
    let nowhere = request(rig.address(), "GET /nowhere", &[], "");
    assert_eq!(nowhere.status, 404);
    assert_eq!(nowhere.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(request(rig.address(), "HEAD /", &[], "").status, 200);
}

#[test]
fn other_routes_than_pages_answer_in_json() {
    let rig = Rig::start();
    for (line, status) in [
        ("GET /api/call", 404),
        ("GET /api/rooms", 404),
        ("GET /assets/none.js", 404),
        ("GET /whip/r", 405),
        ("POST /demo", 405),
        ("DELETE /whip/r/unknown", 404),
        ("DELETE /whep/r/p1/unknown", 404),
        ("GET /api/rooms/r/events", 400),
        ("GET /api/rooms/r/events?name=Ada&kind=robot", 400),
        ("GET /api/rooms/a%2Fb/events?name=Ada", 400),
    ] {
        let answer = request(rig.address(), line, &[], "");
        assert_eq!(answer.status, status, "{line}");
        assert!(!answer.error().is_empty());
    }
}

#[test]
fn whip_publishes_and_ends() {
    let rig = Rig::start();
    let made = request(rig.address(), "POST /whip/r?name=van", &[SDP], "v=0");
    assert_eq!((made.status, made.body.as_str()), (201, "the answer"));
    assert_eq!(made.header("content-type"), "application/sdp");
    let location = made.header("location").to_owned();
    assert_eq!(rig.handle.hub().counts(), (1, 1, 0));

    let fragment = [("content-type", "application/trickle-ice-sdpfrag")];
    let patch = request(
        rig.address(),
        &format!("PATCH {location}"),
        &fragment,
        "a=ice",
    );
    assert_eq!(patch.status, 204);
    let ended = request(rig.address(), &format!("DELETE {location}"), &[], "");
    assert_eq!(ended.status, 200);
    assert_eq!(rig.handle.hub().counts(), (0, 0, 0), "left at once");
    let again = request(rig.address(), &format!("DELETE {location}"), &[], "");
    assert_eq!(again.status, 404);

    let resource = location.rsplit('/').next().unwrap();
    assert_eq!(resource.len(), 32);
    let expected = [
        "publish r p1 v=0".to_owned(),
        "candidates a=ice".to_owned(),
        format!("close {resource}"),
    ];
    assert_eq!(rig.log(), expected);
}

/// RFC 9725 section 4.3: the entity tag names the ICE session.
#[test]
fn an_ice_restart_is_answered_with_the_new_session() {
    let rig = Rig::start();
    let made = request(rig.address(), "POST /whip/r?name=van", &[SDP], "v=0");
    assert_eq!(made.header("etag"), "\"first\"");
    let line = format!("PATCH {}", made.header("location"));
    let kind = ("content-type", "application/trickle-ice-sdpfrag");
    for (sent, read) in [
        ("*", "Any"),
        ("\"first\"", "Named([\"first\"])"),
        ("\"a\", W/\"b\" ,\"c\"", "Named([\"a\", \"c\"])"),
        ("first", "Named([])"),
    ] {
        let patch = request(rig.address(), &line, &[kind, ("if-match", sent)], "a=ice");
        assert_eq!((patch.status, &*patch.body), (200, read));
        assert_eq!(patch.header("etag"), "\"another\"");
        assert_eq!(patch.header("content-type"), kind.1);
    }
    for (refusal, status) in [
        (MediaError::OtherIceSession, 412),
        (MediaError::RestartUnsaid, 428),
        (MediaError::NoRestart, 422),
    ] {
        *rig.plane.refuse.lock().unwrap() = Some(refusal);
        let patch = request(rig.address(), &line, &[kind], "a=ice");
        assert_eq!(patch.status, status, "{}", patch.body);
    }
}

#[test]
fn whip_refuses_what_it_cannot_take_and_leaves_nobody_behind() {
    let rig = Rig::start();
    let post = |headers: &[(&str, &str)], body: &str| {
        request(rig.address(), "POST /whip/r?name=van", headers, body)
    };
    assert_eq!(post(&[], "v=0").status, 415);
    assert_eq!(post(&[SDP], &"x".repeat(70_000)).status, 413);
    let unknown = request(rig.address(), "POST /whip/r?participant=p7", &[SDP], "v=0");
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.error(), "No participant 'p7' in room 'r'.");

    *rig.plane.refuse.lock().unwrap() = Some(MediaError::NotBundled);
    let refused = post(&[SDP], "v=0");
    assert_eq!(refused.status, 422);
    assert!(refused.error().contains("BUNDLE"), "{}", refused.error());
    assert_eq!(rig.handle.hub().counts(), (0, 0, 0));
}

#[test]
fn whep_plays_in_both_forms() {
    let rig = Rig::start();
    resident(&rig);
    let answered = request(rig.address(), "POST /whep/demo/weft", &[SDP], "their offer");
    assert_eq!(
        (answered.status, answered.body.as_str()),
        (201, "the answer")
    );

    let offered = request(rig.address(), "POST /whep/demo/weft", &[], "");
    assert_eq!((offered.status, offered.body.as_str()), (201, "our offer"));
    let location = offered.header("location").to_owned();
    assert!(location.starts_with("/whep/demo/weft/"));
    let patch = request(
        rig.address(),
        &format!("PATCH {location}"),
        &[SDP],
        "their answer",
    );
    assert_eq!(patch.status, 204);
    let ended = request(rig.address(), &format!("DELETE {location}"), &[], "");
    assert_eq!(ended.status, 200);
    let resource = location.rsplit('/').next().unwrap();
    let expected = [
        "play demo p1 Some(\"their offer\")".to_owned(),
        "play demo p1 None".to_owned(),
        "answer their answer".to_owned(),
        format!("close {resource}"),
    ];
    assert_eq!(rig.log(), expected);
}

#[test]
fn whep_names_participants_that_are_absent_or_publish_nothing() {
    let rig = Rig::start();
    let nobody = request(rig.address(), "POST /whep/demo/weft", &[], "");
    assert_eq!(nobody.status, 404);
    assert_eq!(nobody.error(), "No participant 'weft' in room 'demo'.");
    request(rig.address(), "POST /whip/demo?name=weft", &[SDP], "v=0");
    let silent = request(rig.address(), "POST /whep/demo/weft", &[], "");
    assert_eq!(silent.status, 409, "not connected yet");
}

#[test]
fn a_playback_ends_with_its_connection_or_its_publisher() {
    let rig = Rig::start();
    let published = request(rig.address(), "POST /whip/r?name=van", &[SDP], "v=0");
    let publication = published.header("location").to_owned();
    let id = |location: &str| ResourceId(location.rsplit('/').next().unwrap().to_owned());
    rig.tell(Event::Connected {
        resource: id(&publication),
    });
    let play = || {
        let mut location = String::new();
        wait_for("the publication shows", || {
            let played = request(rig.address(), "POST /whep/r/van", &[], "");
            location = played.header("location").to_owned();
            played.status == 201
        });
        location
    };
    let broken = play();
    rig.tell(Event::Ended {
        resource: id(&broken),
        reason: "silence".to_owned(),
    });
    wait_for("the resource goes", || {
        request(rig.address(), &format!("DELETE {broken}"), &[], "").status == 404
    });
    let playback = play();
    request(rig.address(), &format!("DELETE {publication}"), &[], "");
    assert_eq!(
        rig.log().last().unwrap(),
        &format!("close {}", id(&playback).0)
    );
    assert_eq!(
        request(rig.address(), &format!("DELETE {playback}"), &[], "").status,
        404
    );
}

#[test]
fn connections_are_bounded() {
    let rig = Rig::with_limits(Limits {
        media: MediaLimits {
            all: 1,
            ..MediaLimits::default()
        },
        ..Limits::default()
    });
    let post = |name| {
        request(
            rig.address(),
            &format!("POST /whip/r?name={name}"),
            &[SDP],
            "v=0",
        )
    };
    assert_eq!(post("a").status, 201);
    let refused = post("b");
    assert_eq!(refused.status, 503);
    assert_eq!(
        refused.error(),
        "The server has no room for another media connection."
    );
    assert_eq!(refused.header("retry-after"), "10");
}

#[test]
fn operators_get_figures() {
    let rig = Rig::start();
    resident(&rig);
    let metrics = request(rig.address(), "GET /metrics", &[], "").body;
    assert!(metrics.contains("\nweft_participants 1\n"), "{metrics}");
    assert!(metrics.contains(
        "# TYPE weft_packets_forwarded_total counter\nweft_packets_forwarded_total 17\n"
    ));
    assert_eq!(request(rig.address(), "GET /healthz", &[], "").body, "ok\n");
}

#[test]
fn a_server_that_takes_nobody_is_not_ready() {
    let rig = Rig::start();
    let ready = || request(rig.address(), "GET /readyz", &[], "").status;
    assert_eq!(ready(), 200);
    rig.plane.busy.store(950, SeqCst);
    rig.advance(weft_units::Duration::from_secs(1));
    assert_eq!(ready(), 503);
    rig.plane.busy.store(800, SeqCst);
    rig.advance(weft_units::Duration::from_secs(1));
    assert_eq!(ready(), 200);
    rig.handle.hub().drain(Duration::from_secs(60));
    assert_eq!(ready(), 503);
    // It is healthy the whole time.
    assert_eq!(request(rig.address(), "GET /healthz", &[], "").status, 200);
}

#[test]
fn an_address_of_the_operators_gives_figures_without_a_token() {
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        operator: OperatorConfig {
            metrics: Some(config().listen),
            ..OperatorConfig::default()
        },
        ..config()
    });
    let own = rig.handle.metrics_addr.expect("an address");
    for (path, status) in [("/metrics", 200), ("/healthz", 200), ("/", 404)] {
        let answer = request(own, &format!("GET {path}"), &[], "");
        assert_eq!(answer.status, status, "{path}");
    }
}

#[test]
fn however_many_ask_the_media_side_counts_once_a_second() {
    let rig = Rig::start();
    let asked = || rig.plane.figures.load(std::sync::atomic::Ordering::SeqCst);
    for _ in 0..20 {
        for path in ["/healthz", "/metrics"] {
            let answer = request(rig.address(), &format!("GET {path}"), &[], "");
            assert_eq!(answer.status, 200);
        }
    }
    assert_eq!(asked(), 1);
    rig.advance(weft_units::Duration::from_secs(1));
    request(rig.address(), "GET /healthz", &[], "");
    assert_eq!(asked(), 2);
}

#[test]
fn more_routes_can_be_added() {
    let extra = Router::new().route("/api/demo/ping", get(async || "pong"));
    let rig = Rig::with(ServerConfig {
        extra: Some(extra),
        ..config()
    });
    assert_eq!(
        request(rig.address(), "GET /api/demo/ping", &[], "").body,
        "pong"
    );
    assert_eq!(
        request(rig.address(), "GET /api/demo/none", &[], "").status,
        404
    );
    assert_eq!(request(rig.address(), "GET /", &[], "").status, 200);
}

#[test]
fn everything_but_the_page_has_a_policy_that_allows_nothing() {
    let rig = Rig::start();
    let get = |path: &str| request(rig.address(), &format!("GET {path}"), &[], "");
    let index = get("/").body;
    let script = index
        .split("src=\"")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    for path in [
        script.expect("the page has a script"),
        "/metrics",
        "/healthz",
        "/api/rooms/r/access",
        "/api/nothing",
        "/whip/r/1/links",
    ] {
        let policy = get(path).header("content-security-policy").to_owned();
        assert_eq!(
            policy, "default-src 'none'; frame-ancestors 'none'",
            "{path}"
        );
    }
    let refused = request(rig.address(), "POST /whip/r?name=OBS", &[], "");
    assert_eq!(refused.status, 415);
    assert!(
        refused
            .header("content-security-policy")
            .starts_with("default-src 'none'")
    );
    for path in ["/", "/frame"] {
        let policy = get(path).header("content-security-policy").to_owned();
        assert!(
            !policy.starts_with("default-src 'none'; frame-ancestors 'none'"),
            "{path}"
        );
    }
}
