//! Permissions of recordings, over the real media plane.

use super::client::{Answer, Events, request};
use super::cluster::in_cluster;
use super::nats::Nats;
use super::stub::{config, wait_for};
use crate::webhook::tests::{target, to};
use crate::{
    Grant, May, MediaConfig, OperatorConfig, Server, ServerConfig, ServerHandle, TokenKey,
};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

struct Place {
    server: ServerHandle,
    key: TokenKey,
    folder: tempfile::TempDir,
}

fn with(recordings: Option<PathBuf>) -> MediaConfig {
    MediaConfig {
        recordings,
        ..MediaConfig::default()
    }
}

/// Server with signed tokens that records into `recordings`.
fn place() -> Place {
    place_with(OperatorConfig::default())
}

fn place_with(operator: OperatorConfig) -> Place {
    let folder = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&folder.path().join("key")).unwrap();
    let recordings = folder.path().join("recordings");
    std::fs::create_dir(&recordings).unwrap();
    let server = Server::start(ServerConfig {
        token_key: Some(key.clone()),
        media: with(Some(recordings)),
        operator,
        ..config()
    });
    Place {
        server: server.unwrap(),
        key,
        folder,
    }
}

impl Place {
    /// Joins a room; returns the event stream, the participant's query, and their headers.
    fn join(&self, room: &str, may: May) -> (Events, String, [(&'static str, String); 2]) {
        let until = SystemTime::now() + Duration::from_secs(3600);
        let token = self.key.sign(&Grant::new(room, may, until).unwrap());
        let bearer = format!("Bearer {token}");
        let path = format!("/api/rooms/{room}/events?name=Ada");
        let headers = [("authorization", &*bearer)];
        let mut events = Events::open_with(self.server.local_addr, &path, &headers);
        let welcome = events.expect("welcome");
        assert_eq!(welcome["recordable"], true);
        let text = |key: &str| welcome[key].as_str().unwrap().to_owned();
        let query = format!("participant={}", text("id"));
        let headers = [("authorization", bearer), ("weft-secret", text("secret"))];
        (events, query, headers)
    }

    fn ask(&self, line: &str, headers: &[(&'static str, String)]) -> Answer {
        let headers: Vec<_> = headers.iter().map(|(n, v)| (*n, &**v)).collect();
        request(self.server.local_addr, line, &headers, "")
    }

    fn recordings(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.path().join("recordings"));
        entries.unwrap().count()
    }
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap()
}

#[test]
fn moderators_alone_record_and_fetch_and_only_their_room() {
    let place = place();
    let (mut ada, own, host) = place.join("r", May::Moderate);
    let (mut bob, query, guest) = place.join("r", May::TakePart);
    ada.expect("joined");
    let put = |query: &str, headers| {
        let line = format!("PUT /api/rooms/r/recording?{query}");
        place.ask(&line, headers)
    };
    assert_eq!(put(&query, &guest).status, 403);
    assert_eq!(put(&own, &host[..1]).status, 403, "without the secret");
    assert_eq!(place.recordings(), 0);
    // A second request changes nothing.
    assert_eq!(put(&own, &host).status, 204);
    assert_eq!(put(&own, &host).status, 204);
    assert_eq!(place.recordings(), 1);
    for events in [&mut ada, &mut bob] {
        assert_eq!(events.expect("settings")["recorded"], true);
    }
    let line = format!("DELETE /api/rooms/r/recording?{own}");
    assert_eq!(place.ask(&line, &host).status, 204);
    assert_eq!(ada.expect("settings")["recorded"], false);

    let list = "GET /api/rooms/r/recordings";
    assert_eq!(place.ask(list, &guest).status, 403);
    let listed = json(&place.ask(list, &host));
    let id = listed["recordings"][0]["id"].as_str().unwrap();
    assert!(listed["recordings"][0]["index"]["length_ms"].is_u64());
    let index = place.ask(&format!("{list}/{id}/index.json"), &host);
    assert_eq!(
        (index.status, index.header("cache-control")),
        (200, "no-store")
    );
    assert_eq!(json(&index), listed["recordings"][0]["index"]);
    // Neither other files in the folder nor other folders.
    std::fs::write(place.folder.path().join(format!("recordings/{id}/x")), "x").unwrap();
    for path in [
        &format!("{id}/x"),
        &format!("{id}/..%2f..%2fkey"),
        "..%2f/key",
        "../key",
        "%2e%2e/key",
        &format!("..%2frecordings%2f{id}/index.json"),
    ] {
        assert_eq!(
            place.ask(&format!("{list}/{path}"), &host).status,
            404,
            "{path}"
        );
    }
    // A moderator of another room.
    let (_eve, _, other) = place.join("q", May::Moderate);
    assert_eq!(place.ask(list, &other).status, 403);
    let of_q = "GET /api/rooms/q/recordings";
    assert_eq!(
        json(&place.ask(of_q, &other))["recordings"],
        serde_json::json!([])
    );
    let foreign = place.ask(&format!("{of_q}/{id}/index.json"), &other);
    assert_eq!(foreign.status, 404);
}

#[test]
fn a_recording_ends_with_its_room() {
    let place = place();
    let (ada, own, host) = place.join("r", May::Moderate);
    let line = format!("PUT /api/rooms/r/recording?{own}");
    assert_eq!(place.ask(&line, &host).status, 204);
    let id = own.strip_prefix("participant=").unwrap();
    place.ask(&format!("DELETE /api/rooms/r/events?id={id}"), &host);
    drop(ada);
    let recordings = place.folder.path().join("recordings");
    let ends = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("index.json")).unwrap();
        !serde_json::from_str::<Value>(&text).unwrap()["length_ms"].is_null()
    };
    let folder = std::fs::read_dir(&recordings).unwrap().next();
    let folder = folder.unwrap().unwrap().path();
    let began = std::time::Instant::now();
    while !ends(&folder) {
        assert!(began.elapsed() < Duration::from_secs(20), "it never ends");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_webhook_is_called_when_the_files_are_complete() {
    let (address, received) = target(&[200]);
    let place = place_with(OperatorConfig {
        webhook: Some(to(address)),
        ..OperatorConfig::default()
    });
    let (_ada, own, host) = place.join("r", May::Moderate);
    for method in ["PUT", "DELETE"] {
        let line = format!("{method} /api/rooms/r/recording?{own}");
        assert_eq!(place.ask(&line, &host).status, 204);
    }
    let data = loop {
        let event = received.recv_timeout(Duration::from_secs(20));
        let event = event.expect("an event").json();
        if event["type"] == "recording.ready" {
            break event["data"].clone();
        }
    };
    let listed = json(&place.ask("GET /api/rooms/r/recordings", &host));
    let recording = &listed["recordings"][0];
    assert_eq!(
        data,
        serde_json::json!({
            "room": "r",
            "id": recording["id"],
            "length_ms": recording["index"]["length_ms"],
            "tracks": [],
        })
    );
}

#[test]
fn a_server_without_tokens_records_and_gives_its_recordings_to_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let open = |recordings| {
        let config = ServerConfig {
            media: with(recordings),
            ..config()
        };
        Server::start(config).unwrap()
    };
    let kind = |server: &ServerHandle, line: &str| {
        let answer = request(server.local_addr, line, &[], "");
        (
            answer.status,
            json(&answer)["kind"].as_str().map(str::to_owned),
        )
    };
    let list = "GET /api/rooms/r/recordings";
    let server = open(Some(folder.path().to_owned()));
    let refused = (403, Some("recordings_need_a_token".to_owned()));
    assert_eq!(kind(&server, list), refused);
    assert_eq!(kind(&server, &format!("{list}/a/index.json")), refused);
    let server = open(None);
    let none = (404, Some("no_recordings".to_owned()));
    assert_eq!(kind(&server, list), none);
}

#[test]
fn a_server_of_a_cluster_names_the_server_that_has_a_recording() {
    let Some(nats) = Nats::start() else { return };
    let place = place();
    let start = |name: &str, recordings: Option<PathBuf>| {
        let mut config = in_cluster(&nats.url(), name);
        let cluster = config.cluster.as_mut().unwrap();
        cluster.public_url = format!("https://{name}.example").parse().ok();
        config.token_key = Some(place.key.clone());
        config.media = with(recordings);
        config.operator.admin_token = Some("an admin token".to_owned());
        Server::start(config).unwrap()
    };
    let folder = place.folder.path().join("recordings");
    let (_ada, own, host) = place.join("r", May::Moderate);
    for method in ["PUT", "DELETE"] {
        let line = format!("{method} /api/rooms/r/recording?{own}");
        assert_eq!(place.ask(&line, &host).status, 204);
    }
    let listed = json(&place.ask("GET /api/rooms/r/recordings", &host));
    let id = listed["recordings"][0]["id"].as_str().unwrap().to_owned();

    let (_one, two) = (start("one", Some(folder)), start("two", None));
    let bearer = [("authorization", "Bearer an admin token")];
    let get = |path: &str| {
        let answer = request(two.local_addr, &format!("GET {path}"), &bearer, "");
        (answer.status, json(&answer))
    };
    let path = format!("/api/admin/recordings/{id}/index.json");
    wait_for("it knows the other server", || {
        get(&path).1["kind"] == "recording_elsewhere"
    });
    let (status, problem) = get(&path);
    assert_eq!(
        (status, &problem["error"]),
        (404, &"The server one has this recording.".into())
    );
    let remedy = problem["remedy"].as_str().unwrap();
    assert!(
        remedy.contains(&format!("https://one.example{path}")),
        "{remedy}"
    );
    let (status, problem) = get("/api/admin/recordings/none/index.json");
    assert_eq!((status, &problem["kind"]), (404, &Value::Null));
}
