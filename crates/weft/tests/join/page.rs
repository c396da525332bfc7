//! `weft join --page`: its contents, its switches, and access to it.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weft_testing::where_the_machine_keeps_up;

use super::fixture::{PATIENCE, Program, free_ports, server_at, weft};

/// Page of a call, with its token.
struct Page {
    address: String,
    token: String,
}

impl Page {
    /// Returns the page whose address the program prints.
    fn of(program: &Program) -> Page {
        let url = program.told.recv_timeout(PATIENCE).expect("an address");
        let (address, token) = url.split_once("/?token=").expect("a token");
        Page {
            address: address.replace("http://", ""),
            token: token.to_owned(),
        }
    }

    /// Returns status and body of the response to a request with these additional
    /// headers.
    fn ask(&self, request: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a page");
        let length = body.len();
        let request = format!(
            "{request} HTTP/1.0\r\n{headers}content-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.expect("a status"), body.to_owned())
    }

    fn headers(&self) -> String {
        let Page { address, token } = self;
        format!("host: {address}\r\nauthorization: Bearer {token}\r\n")
    }

    fn order(&self, order: &Value) -> u16 {
        self.ask("POST /api/join", &self.headers(), &order.to_string())
            .0
    }

    /// Waits for a state that satisfies the predicate.
    fn shows(&self, what: &str, satisfies: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let (_, body) = self.ask("GET /api/call", &self.headers(), "");
            let state: Value = serde_json::from_str(&body).expect("JSON");
            if satisfies(&state) {
                return state;
            }
            assert!(began.elapsed() < PATIENCE, "never {what}: {state}");
            thread::sleep(Duration::from_millis(200));
        }
    }
}

#[test]
fn the_page_switches_links_and_sources_for_those_with_its_token() {
    where_the_machine_keeps_up(|| {
        let (http, media) = free_ports();
        let folder = tempfile::tempdir().expect("a folder");
        let _server = server_at((http, media), &folder.path().join("none"));
        let url = format!("http://127.0.0.1:{http}");
        let links = ["--link", "a=127.0.0.1", "--link", "b=127.0.0.2"];
        let page = ["--page=127.0.0.1:0", "--mic", "tone"];
        let call = ["join", &url, "--room", "ride", "--name", "Van"];
        let mut program = weft(&[&call[..], &links, &page].concat());
        let page = Page::of(&program);
        let link = |state: &Value, at: usize| state["links"][at].clone();
        let state = page.shows("both links", |s| {
            link(s, 0)["state"] == "up" && link(s, 1)["state"] == "up"
        });
        assert_eq!(
            (&state["title"], &state["command"]),
            (&json!("ride"), &json!("join"))
        );
        assert_eq!(
            (&state["microphone"], &state["cameras"]),
            (&json!("on"), &json!("none"))
        );

        let order = |name: &str, usage: &str| {
            let order = json!({ "do": "link", "name": name, "use": usage });
            assert_eq!(page.order(&order), 204, "{order}");
        };
        order("b", "off");
        page.shows("one link", |s| {
            link(s, 1)["state"] == "down"
                && link(s, 1)["use"] == "off"
                && link(s, 0)["state"] == "up"
        });
        order("b", "backup");
        page.shows("a backup", |s| {
            link(s, 1)["state"] == "up" && link(s, 1)["backup"] == true
        });
        order("b", "use");
        page.shows("both links again", |s| {
            link(s, 1)["backup"] != true && link(s, 1)["use"] == "use"
        });
        order("a", "off");
        order("b", "off");
        page.shows("no link", |s| {
            link(s, 0)["state"] == "down" && link(s, 1)["state"] == "down"
        });
        order("a", "use");
        order("b", "use");
        page.shows("links after none", |s| {
            link(s, 0)["state"] == "up" && link(s, 1)["state"] == "up" && s["connected"] == true
        });
        let unknown = json!({ "do": "link", "name": "c", "use": "off" });
        assert_eq!(page.order(&unknown), 404);
        assert_eq!(page.order(&json!({ "do": "microphone", "on": false })), 204);
        page.shows("a muted microphone", |s| s["microphone"] == "off");
        assert_eq!(page.order(&json!({ "do": "microphone", "on": true })), 204);
        page.shows("a microphone", |s| s["microphone"] == "on");

        // Access to the page.
        let leave = json!({ "do": "leave" }).to_string();
        let host = format!("host: {}\r\n", page.address);
        let (status, body) = page.ask("GET /api/call", &host, "");
        assert_eq!((status, body.as_str()), (200, r#"{"mode":"join"}"#));
        assert_eq!(page.ask("POST /api/join", &host, &leave).0, 401);
        let foreign = format!("{}sec-fetch-site: cross-site\r\n", page.headers());
        assert_eq!(page.ask("POST /api/join", &foreign, &leave).0, 403);
        // DNS rebinding: the browser does not send our cookie to another name.
        let rebound = "host: evil.example\r\n";
        assert_eq!(page.ask("POST /api/join", rebound, &leave).0, 401);
        page.shows("the call", |s| s["connected"] == true);

        assert_eq!(page.order(&json!({ "do": "leave" })), 204);
        assert_eq!(program.status(), Some(0));
    });
}

#[test]
fn the_page_starts_and_stops_the_recording() {
    where_the_machine_keeps_up(|| {
        let (http, media) = free_ports();
        let folder = tempfile::tempdir().expect("a folder");
        let _server = server_at((http, media), &folder.path().join("none"));
        let url = format!("http://127.0.0.1:{http}");
        let join = ["join", &url, "--room", "ride", "--link", "127.0.0.1"];
        let kim = ["--name", "Kim", "--camera", "clip:360p", "--mic", "tone"];
        let _kim = weft(&[&join[..], &kim].concat());
        let file = folder.path().join("ride.webm");
        let record = ["--record", file.to_str().expect("a name")];
        let demand = ["--record-on-demand", "--page=127.0.0.1:0"];
        let mut program = weft(&[&join[..], &record, &demand].concat());
        let page = Page::of(&program);
        let record = |on: bool| page.order(&json!({ "do": "recording", "on": on }));
        let size = |name: &str| fs::metadata(folder.path().join(name)).map_or(0, |m| m.len());
        let grows = |name: &str| {
            let (began, before) = (Instant::now(), size(name));
            while size(name) < before + 50_000 {
                assert!(
                    began.elapsed() < PATIENCE,
                    "{name} has {} bytes",
                    size(name)
                );
                thread::sleep(Duration::from_millis(100));
            }
        };
        page.shows("Kim", |s| {
            !s["pictures"].as_array().is_none_or(Vec::is_empty)
        });
        assert!(!file.exists());
        assert_eq!(record(true), 204);
        // There was no keyframe for a while, so the switch requests one.
        grows("ride.webm");
        page.shows("a recording", |s| {
            s["recording"] == "on" && s["recording_error"].is_null()
        });
        assert_eq!(record(false), 204);
        page.shows("no recording", |s| s["recording"] == "off");
        let first = size("ride.webm");
        assert_eq!(record(true), 204);
        grows("ride-2.webm");
        assert_eq!(size("ride.webm"), first);
        assert_eq!(page.order(&json!({ "do": "leave" })), 204);
        assert_eq!(program.status(), Some(0));
        program.says("ride-2.webm");

        let without = weft(&[&join[..], &["--page=127.0.0.1:0"]].concat());
        let page = Page::of(&without);
        page.shows("nothing to record to", |s| s["recording"] == "none");
        assert_eq!(page.order(&json!({ "do": "recording", "on": true })), 404);
    });
}
