//! ICE servers that clients get over HTTP.

use super::client::{Events, request};
use super::stub::{Rig, config};
use crate::{IceServer, ServerConfig};
use std::io::Write as _;

const SDP: (&str, &str) = ("content-type", "application/sdp");

fn relayed(token: Option<&str>) -> Rig {
    let mut secret = tempfile::NamedTempFile::new().unwrap();
    secret.write_all(b"north").unwrap();
    let turn = format!("turn:turn.example,secret={}", secret.path().display());
    let ice_servers: Vec<IceServer> = vec![turn.parse().unwrap()];
    Rig::with(ServerConfig {
        token: token.map(str::to_owned),
        ice_servers,
        ..config()
    })
}

#[test]
fn a_page_gets_the_servers_with_its_welcome() {
    let rig = relayed(None);
    let mut events = Events::open(rig.address(), "/api/rooms/r/events?name=Kim");
    let welcome = events.expect("welcome");
    let servers = &welcome["ice_servers"];
    assert_eq!(servers[0]["urls"], "turn:turn.example");
    let username = servers[0]["username"].as_str().unwrap();
    let (until, _) = username.split_once(':').expect("an expiry");
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let left = until.parse::<u64>().unwrap() - now;
    assert!((86_390..=86_400).contains(&left), "valid for {left} s");
    // Another participant has another name.
    let mut events = Events::open(rig.address(), "/api/rooms/r/events?name=Lee");
    assert_ne!(
        events.expect("welcome")["ice_servers"][0]["username"],
        username
    );
}

#[test]
fn whip_and_whep_name_the_servers_to_those_with_the_token() {
    let rig = relayed(Some("secret"));
    let bearer = ("authorization", "Bearer secret");
    let published = request(
        rig.address(),
        "POST /whip/r?name=OBS",
        &[bearer, SDP],
        "offer",
    );
    assert_eq!(published.status, 201);
    for answer in [
        published,
        request(rig.address(), "OPTIONS /whip/r", &[bearer], ""),
        request(rig.address(), "OPTIONS /whep/r/OBS", &[bearer], ""),
    ] {
        let link = answer.header("link");
        assert!(
            link.starts_with("<turn:turn.example>; rel=\"ice-server\"; username=\""),
            "{link}"
        );
        assert!(link.contains("credential=\"") && answer.header("cache-control") == "no-store");
    }
    for (line, body) in [("OPTIONS /whip/r", ""), ("POST /whip/r", "offer")] {
        let refused = request(rig.address(), line, &[SDP], body);
        assert_eq!(refused.status, 401);
        assert_eq!(refused.header("link"), "", "credentials for a stranger");
    }
}

#[test]
fn without_servers_nothing_is_said_of_them() {
    let rig = Rig::start();
    let mut events = Events::open(rig.address(), "/api/rooms/r/events?name=Kim");
    assert!(events.expect("welcome").get("ice_servers").is_none());
    let published = request(rig.address(), "POST /whip/r?name=OBS", &[SDP], "offer");
    assert_eq!((published.status, published.header("link")), (201, ""));
}
