//! Pages of other sites: allowed ones may send requests with a token.

use super::client::{Answer, request};
use super::stub::{Rig, config};
use crate::{Server, ServerConfig, ServerError};

const STUDIO: (&str, &str) = ("origin", "https://studio.example");
const SDP: (&str, &str) = ("content-type", "application/sdp");
const BEARER: (&str, &str) = ("authorization", "Bearer secret");
const ELSEWHERE: (&str, &str) = ("sec-fetch-site", "cross-site");

fn allowing(origins: &[&str]) -> ServerConfig {
    ServerConfig {
        token: Some("secret".to_owned()),
        allowed_origins: origins.iter().map(|o| o.parse().unwrap()).collect(),
        ..config()
    }
}

fn preflight(rig: &Rig, path: &str, origin: (&str, &str)) -> Answer {
    let asks = [
        origin,
        ELSEWHERE,
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type",
        ),
    ];
    request(rig.address(), &format!("OPTIONS {path}"), &asks, "")
}

#[test]
fn a_page_of_an_allowed_origin_publishes_and_reads_where() {
    let rig = Rig::with(allowing(&[
        "https://studio.example",
        "http://127.0.0.1:3000",
    ]));
    for path in [
        "/whip/r",
        "/whip/r/x",
        "/whep/r/van",
        "/whep/r/van/x",
        "/api/rooms/r/events",
    ] {
        let asked = preflight(&rig, path, STUDIO);
        assert_eq!(asked.status, 204, "{path}");
        assert_eq!(asked.header("access-control-allow-origin"), STUDIO.1);
        assert!(
            asked
                .header("access-control-allow-methods")
                .contains("PATCH")
        );
        let headers = asked.header("access-control-allow-headers").to_lowercase();
        assert!(headers.contains("authorization") && headers.contains("content-type"));
        assert!(asked.header("access-control-allow-credentials").is_empty());
    }
    let headers = [STUDIO, ELSEWHERE, BEARER, SDP];
    let made = request(rig.address(), "POST /whip/r?name=x", &headers, "v=0");
    assert_eq!(made.status, 201);
    assert_eq!(made.header("access-control-allow-origin"), STUDIO.1);
    let exposed = made.header("access-control-expose-headers");
    assert!(
        ["Location", "Link", "ETag"]
            .iter()
            .all(|name| exposed.contains(name))
    );
    let refused = request(rig.address(), "POST /whip/r?name=x", &headers[..2], "v=0");
    assert_eq!(refused.status, 401, "a page without a token");
    assert_eq!(
        refused.header("access-control-allow-origin"),
        STUDIO.1,
        "it may read why"
    );
}

/// A page on another site cannot use the token of its visitor's own visit.
#[test]
fn a_cookie_opens_nothing_for_a_page_elsewhere() {
    let rig = Rig::with(allowing(&["https://studio.example"]));
    let cookie = ("cookie", "weft_token_80=secret");
    let line = "POST /whip/r?name=x";
    let post = |headers: &[(&str, &str)]| request(rig.address(), line, headers, "v=0").status;
    assert_eq!(post(&[STUDIO, ELSEWHERE, SDP, cookie]), 401);
    assert_eq!(
        post(&[STUDIO, ("sec-fetch-site", "same-site"), SDP, cookie]),
        401
    );
    assert_eq!(post(&[("sec-fetch-site", "same-origin"), SDP, cookie]), 201);
}

#[test]
fn nothing_changes_for_other_origins_and_other_paths() {
    let rig = Rig::with(allowing(&["https://studio.example"]));
    let other = ("origin", "https://evil.example");
    let asked = preflight(&rig, "/whip/r", other);
    assert!(asked.header("access-control-allow-origin").is_empty());
    let headers = [other, ELSEWHERE, BEARER, SDP];
    assert_eq!(
        request(rig.address(), "POST /whip/r?name=x", &headers, "v=0").status,
        403
    );
    for path in ["/metrics", "/", "/api/call"] {
        let headers = [STUDIO, BEARER];
        let read = request(rig.address(), &format!("GET {path}"), &headers, "");
        assert!(
            read.header("access-control-allow-origin").is_empty(),
            "{path}"
        );
    }
    let rig = Rig::start();
    let asked = preflight(&rig, "/whip/r", STUDIO);
    assert!(asked.header("access-control-allow-origin").is_empty());
    assert!(asked.header("vary").is_empty());
    for path in ["/whip/r/x", "/whep/r/van/x"] {
        let asked = request(rig.address(), &format!("OPTIONS {path}"), &[], "");
        assert_eq!(asked.status, 204, "{path}");
        assert_eq!(asked.header("allow"), "PATCH, DELETE, OPTIONS");
    }
}

#[test]
fn every_origin_needs_a_token_and_the_own_page_keeps_its_cookie() {
    let open = ServerConfig {
        token: None,
        ..allowing(&["*"])
    };
    let refused = Server::start(open).err().expect("everybody could ask");
    assert!(matches!(refused, ServerError::OpenToAnyOrigin));
    assert!(refused.remedy().contains("--token"), "{}", refused.remedy());
    let rig = Rig::with(allowing(&["*"]));
    assert_eq!(preflight(&rig, "/whip/r", STUDIO).status, 204);
    let host = rig.address().to_string();
    let own = format!("http://{host}");
    let cookie = format!("weft_token_{}=secret", rig.address().port());
    let cookie = ("cookie", &*cookie);
    let headers = [("host", &*host), ("origin", &*own), cookie, SDP];
    let made = request(rig.address(), "POST /whip/r?name=x", &headers, "v=0");
    assert_eq!(made.status, 201, "{}", made.body);
}
