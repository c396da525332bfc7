//! Redirects of newcomers to other servers of a cluster.

use super::client::{Answer, Events, request};
use super::cluster::{Node, in_cluster, try_start};
use super::nats::Nats;
use super::stub::wait_for;
use crate::{ServerConfig, TokenKey};
use std::time::Duration;

/// Server in this region, with a URL for clients unless `url` is empty.
fn config(nats: &Nats, name: &str, url: &str, region: &str) -> ServerConfig {
    let mut config = in_cluster(&nats.url(), name);
    let cluster = config.cluster.as_mut().unwrap();
    cluster.public_url = url.parse().ok();
    cluster.region = region.parse().ok();
    config
}

fn start(nats: &Nats, name: &str, url: &str, region: &str) -> Node {
    try_start(config(nats, name, url, region)).unwrap()
}

fn publish(node: &Node, query: &str) -> Answer {
    let sdp = [("content-type", "application/sdp")];
    request(
        node.address(),
        &format!("POST /whip/r?{query}"),
        &sdp,
        "v=0",
    )
}

/// Whether the first server redirects newcomers to one with this name.
fn sends_to(node: &Node, name: &str) -> bool {
    let answer = publish(node, "name=Eve");
    answer.status == 307 && answer.header("weft-node") == name
}

#[test]
fn a_draining_server_sends_newcomers_to_its_region_and_then_elsewhere() {
    let Some(nats) = Nats::start() else { return };
    let one = start(&nats, "one", "http://one.example", "eu");
    let near = start(&nats, "near", "http://near.example:81/", "eu");
    let far = start(&nats, "far", "http://far.example", "us");
    let _nameless = start(&nats, "nameless", "", "eu");
    let ada = one.join("Ada");
    let _bob = far.join("Bob");
    one.sees(&["Ada", "Bob"]);
    let answer = publish(&one, "name=Cyd");
    assert_ne!(answer.status, 307, "a server that has room keeps newcomers");
    request(
        one.address(),
        &format!("DELETE {}", answer.header("location")),
        &[],
        "",
    );

    one.handle.drain(Duration::ZERO);
    wait_for("newcomers go to the same region", || sends_to(&one, "near"));
    let answer = publish(&one, "name=Cyd&kind=whip");
    let location = "http://near.example:81/whip/r?name=Cyd&kind=whip&stay";
    assert_eq!(answer.header("location"), location);
    assert_eq!(answer.header("cache-control"), "no-store");
    let get = |path: &str| request(one.address(), &format!("GET {path}"), &[], "");
    let post = |path: &str| {
        let sdp = [("content-type", "application/sdp")];
        request(one.address(), &format!("POST {path}"), &sdp, "v=0")
    };
    for (answer, location) in [
        (post("/whep/r/Ada"), "/whep/r/Ada?stay"),
        (
            get("/api/rooms/r/events?name=Eve&kind=native"),
            "/api/rooms/r/events?name=Eve&kind=native&stay",
        ),
        (get("/r/r?token=a.b"), "/r/r?token=a.b&stay"),
    ] {
        assert_eq!(answer.status, 307, "{answer:?}");
        let expected = format!("http://near.example:81{location}");
        assert_eq!(answer.header("location"), expected);
    }
    // Scripts of a page cannot follow; a redirected request is not redirected again.
    assert_eq!(get("/api/rooms/r/events?name=Eve").status, 503);
    assert_eq!(publish(&one, "name=Eve&stay").status, 503);
    assert_eq!(get("/r/r?stay").status, 200);
    assert_eq!(get("/").status, 200);
    // Participants return to the server that has them.
    let path = format!("/api/rooms/r/events?name=Ada&kind=native&id={}", ada.id);
    let secret = [("weft-secret", &*ada.secret)];
    let mut back = Events::open_with(one.address(), &path, &secret);
    assert_eq!(back.expect("welcome")["id"], ada.id);

    near.handle.drain(Duration::ZERO);
    wait_for("newcomers go to another region", || sends_to(&one, "far"));
    far.handle.drain(Duration::ZERO);
    wait_for("no server has room", || {
        publish(&one, "name=Eve").status == 503
    });
}

#[test]
fn a_full_server_sends_newcomers_away_and_not_to_a_dead_one() {
    let Some(nats) = Nats::start() else { return };
    let mut full = config(&nats, "one", "", "");
    full.limits.media.all = 0;
    let one = try_start(full).unwrap();
    let two = start(&nats, "two", "https://two.example", "");
    wait_for("newcomers go to the other", || sends_to(&one, "two"));
    drop(two);
    wait_for("nobody is sent to a dead server", || {
        publish(&one, "name=Eve").status == 503
    });
}

#[test]
fn the_token_of_a_cookie_goes_with_the_page_if_it_is_valid() {
    let Some(nats) = Nats::start() else { return };
    let with_token = |name, url| {
        let token = Some("s3cret".to_owned());
        let config = config(&nats, name, url, "");
        try_start(ServerConfig { token, ..config }).unwrap()
    };
    let one = with_token("one", "");
    let _two = with_token("two", "https://two.example");
    one.handle.drain(Duration::ZERO);
    let visit = |cookie: &str| {
        let cookie = [("cookie", cookie)];
        let answer = request(one.address(), "GET /r/Ride?name=Kim", &cookie, "");
        answer.header("location").to_owned()
    };
    wait_for("the page goes to the other", || !visit("a=b").is_empty());
    let page = "https://two.example/r/Ride?name=Kim";
    assert_eq!(
        visit("a=b; weft_token_80=s3cret"),
        format!("{page}&token=s3cret&stay")
    );
    assert_eq!(visit("weft_token_80=wrong"), format!("{page}&stay"));
}

#[test]
fn a_draining_server_gives_its_pages_a_token_with_which_the_other_one_admits_them() {
    let Some(nats) = Nats::start() else { return };
    let key = tempfile::tempdir().unwrap();
    let key = TokenKey::read_or_make(&key.path().join("token.key")).unwrap();
    let with_token = |name, url| {
        let config = ServerConfig {
            token: Some("s3cret".to_owned()),
            token_key: Some(key.clone()),
            ..config(&nats, name, url, "")
        };
        try_start(config).unwrap()
    };
    let one = with_token("one", "http://one.example");
    let two = with_token("two", "http://two.example");
    wait_for("the servers know each other", || {
        let page = request(one.address(), "GET /r/r", &[], "");
        let policy = page.header("content-security-policy");
        policy.ends_with("; connect-src 'self' http://one.example http://two.example")
    });
    // The policy of a document that a page loads when it moves.
    let frame = request(one.address(), "GET /frame", &[], "");
    assert_eq!(
        frame.header("content-security-policy"),
        "default-src 'none'; connect-src 'self' http://one.example http://two.example; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    );
    assert_eq!(frame.header("cache-control"), "no-store");
    assert!(!frame.body.contains("script"), "{}", frame.body);
    let bearer = [("authorization", "Bearer s3cret")];
    let enter = |kind: &str| {
        let path = format!("/api/rooms/r/events?name={kind}&kind={kind}");
        Events::open_with(one.address(), &path, &bearer)
    };
    let (mut page, mut native) = (enter("browser"), enter("native"));
    let welcome = page.expect("welcome");
    let asked = std::thread::scope(|scope| {
        scope.spawn(|| one.handle.drain(Duration::from_millis(500)));
        [&mut page, &mut native].map(|events| events.until("move"))
    });
    assert_eq!(asked[1]["token"], serde_json::Value::Null, "it has its own");
    let token = format!("Bearer {}", asked[0]["token"].as_str().unwrap());
    // Even after the server that the page came from is gone.
    drop((page, native, one));
    let origin = ("origin", "http://one.example");
    let elsewhere = ("sec-fetch-site", "cross-site");
    let asks = [
        origin,
        elsewhere,
        ("access-control-request-method", "GET"),
        (
            "access-control-request-headers",
            "authorization,weft-secret",
        ),
    ];
    let line = format!(
        "/api/rooms/r/events?name=browser&id={}",
        welcome["id"].as_str().unwrap()
    );
    let preflight = request(two.address(), &format!("OPTIONS {line}"), &asks, "");
    assert_eq!(preflight.status, 204);
    let secret = ("weft-secret", welcome["secret"].as_str().unwrap());
    let headers = [origin, elsewhere, ("authorization", &*token), secret];
    let mut there = Events::open_with(two.address(), &line, &headers);
    assert_eq!(there.expect("welcome")["room"], "r");
    let other = [("authorization", &*token)];
    let refused = request(two.address(), "GET /api/rooms/s/access", &other, "");
    assert_eq!(refused.status, 403, "it is for one room");
    let stranger = [("origin", "http://evil.example"), elsewhere];
    let refused = request(two.address(), &format!("GET {line}"), &stranger, "");
    assert_eq!(refused.status, 403);
    assert!(refused.header("access-control-allow-origin").is_empty());
}
