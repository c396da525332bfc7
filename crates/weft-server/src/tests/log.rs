//! Content of the operator's log, and secrets that it must not contain.

use super::client::{Events, request};
use super::stub::{Rig, config, wait_for};
use crate::media_plane::{Event, ResourceId};
use crate::{Level, Log, ServerConfig, ServerEvent};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Written = Arc<Mutex<Vec<ServerEvent>>>;

fn logged(token: Option<&str>) -> (Rig, Written) {
    let written = Written::default();
    let paper = Arc::clone(&written);
    let rig = Rig::with(ServerConfig {
        token: token.map(str::to_owned),
        log: Log::new(move |event| paper.lock().unwrap().push(event.clone())),
        ..config()
    });
    (rig, written)
}

fn lines(written: &Written) -> Vec<String> {
    written
        .lock()
        .unwrap()
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn arrivals_departures_and_refusals_are_logged_without_secrets() {
    let (rig, written) = logged(Some("s3cret"));
    let bearer = ("authorization", "Bearer s3cret");
    let mut ada = Events::open_with(rig.address(), "/api/rooms/r/events?name=Ada", &[bearer]);
    let secret = ada.expect("welcome")["secret"].as_str().unwrap().to_owned();
    let headers = [("content-type", "application/sdp"), bearer];
    let made = request(
        rig.address(),
        "POST /whip/r?name=van",
        &headers,
        "v=0 of van",
    );
    let resource = ResourceId(
        made.header("location")
            .rsplit('/')
            .next()
            .unwrap()
            .to_owned(),
    );
    rig.tell(Event::Connected {
        resource: resource.clone(),
    });
    rig.tell(Event::Ended {
        resource: resource.clone(),
        reason: "no path is left".to_owned(),
    });
    wait_for("it ended", || written.lock().unwrap().len() == 4);
    let ended = format!("DELETE /whip/r/{}", resource.0);
    request(rig.address(), &ended, &[bearer], "");
    let wrong = [
        ("authorization", "Bearer guessed"),
        ("x-forwarded-for", "192.0.2.7"),
    ];
    request(rig.address(), "POST /whip/r?name=eve", &wrong, "v=0");
    let expected = [
        r#"r: p1 joined as "Ada""#,
        r#"r: p2 joined as "van""#,
        "r: p2 began publishing",
        "r: p2 ended publishing: no path is left",
        "refused with 401 to 192.0.2.7: The token is wrong for this server.",
    ];
    assert_eq!(lines(&written), expected);
    let json = serde_json::to_string(&*written.lock().unwrap()).unwrap();
    for hidden in ["s3cret", "guessed", "v=0", &*secret, &*resource.0] {
        assert!(!json.contains(hidden), "{hidden} in {json}");
    }
    let levels: Vec<Level> = written
        .lock()
        .unwrap()
        .iter()
        .map(ServerEvent::level)
        .collect();
    assert_eq!(levels[2..], [Level::Debug, Level::Info, Level::Info]);
}

#[test]
fn a_long_request_makes_a_short_line_of_the_log() {
    let (rig, written) = logged(None);
    let sdp = [("content-type", "application/sdp")];
    let line = format!("POST /whep/r/{}?name=eve", "x".repeat(10_000));
    assert_eq!(request(rig.address(), &line, &sdp, "v=0").status, 404);
    wait_for("it is written", || !written.lock().unwrap().is_empty());
    assert!(lines(&written)[0].len() < 400);
}

#[test]
fn one_that_is_about_to_stop_waits_for_those_there_and_lets_nobody_in() {
    let (rig, written) = logged(None);
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    ada.expect("welcome");
    rig.handle.drain(Duration::ZERO);
    assert_eq!(ada.expect("stopping")["seconds"], 0);
    let sdp = [("content-type", "application/sdp")];
    let refused = request(rig.address(), "POST /whip/r?name=van", &sdp, "v=0");
    assert_eq!((refused.status, refused.header("retry-after")), (503, "10"));
    assert_eq!(rig.handle.hub().counts().1, 1, "Ada may stay");
    drop(ada);
    let hub = rig.handle.hub();
    wait_for("her stream is gone", || hub.poll_timeout().is_some());
    rig.advance(weft_units::Duration::from_secs(10));
    // Without participants, it does not wait.
    rig.handle.drain(Duration::from_secs(3600));
    assert!(
        lines(&written)
            .iter()
            .any(|line| line.contains("admitting no newcomers"))
    );
}

#[test]
fn participants_of_a_draining_server_may_reconnect_and_publish() {
    let (rig, _) = logged(None);
    let mut ada = Events::open(rig.address(), "/api/rooms/r/events?name=Ada");
    let secret = ada.expect("welcome")["secret"].as_str().unwrap().to_owned();
    rig.handle.drain(Duration::ZERO);
    let headers = [
        ("content-type", "application/sdp"),
        ("weft-secret", &*secret),
    ];
    let line = "POST /whip/r?participant=p1";
    assert_eq!(request(rig.address(), line, &headers, "v=0").status, 201);
}

#[test]
fn a_flood_of_refusals_is_a_few_lines_and_a_number() {
    let (rig, written) = logged(Some("s3cret"));
    let mut stream = std::net::TcpStream::connect(rig.address()).unwrap();
    for n in 0..2000 {
        let line = format!("POST /whip/room{n}?name=eve");
        let answer = super::client::exchange(&mut stream, &line, &[], "");
        assert_eq!(answer.status, 401);
    }
    assert_eq!(lines(&written).len(), 10);
    let hub = rig.handle.hub();
    hub.refusals().end_interval();
    let last = lines(&written).pop().unwrap();
    assert_eq!(
        last,
        "refused with 401 (token_missing) 1990 more times in 10 s"
    );
    let figures = [("authorization", "Bearer s3cret")];
    let metrics = request(rig.address(), "GET /metrics", &figures, "").body;
    let row = "\nweft_requests_refused_total{status=\"401\",kind=\"token_missing\"} 2000\n";
    assert!(metrics.contains(row), "{metrics}");
    // The next one is logged again.
    request(rig.address(), "GET /metrics", &[], "");
    assert_eq!(lines(&written).len(), 12);
}
