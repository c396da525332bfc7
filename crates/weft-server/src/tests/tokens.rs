use super::client::request;
use super::stub::{Rig, config};
use crate::{Grant, May, ServerConfig, TokenKey};
use std::time::{Duration, SystemTime};

fn key() -> TokenKey {
    let folder = tempfile::tempdir().unwrap();
    TokenKey::read_or_make(&folder.path().join("token.key")).unwrap()
}

/// Server whose room `r` requires a token, and a function that signs tokens.
fn guarded() -> (Rig, impl Fn(&str, May, i64) -> String) {
    let key = key();
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        token_key: Some(key.clone()),
        ..config()
    });
    let token = move |room: &str, may, seconds: i64| {
        let until = match u64::try_from(seconds) {
            Ok(ahead) => SystemTime::now() + Duration::from_secs(ahead),
            Err(_) => SystemTime::now() - Duration::from_secs(seconds.unsigned_abs()),
        };
        key.sign(&Grant::new(room, may, until).unwrap())
    };
    (rig, token)
}

/// Response to a request with this token: the status and the kind of a problem.
fn asked(rig: &Rig, line: &str, token: &str, body: &str) -> (u16, String) {
    let bearer = format!("Bearer {token}");
    let kind = match line.contains("/invitation") {
        true => "application/json",
        false => "application/sdp",
    };
    let headers = [("content-type", kind), ("authorization", &*bearer)];
    let answer = request(rig.address(), line, &headers[..], body);
    let value: serde_json::Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let kind = value["kind"].as_str().unwrap_or_default().to_owned();
    (answer.status, kind)
}

#[test]
fn tokens_of_a_room_open_it_and_no_other_and_say_why_not() {
    let (rig, token) = guarded();
    let publish = "POST /whip/r?name=van";
    let asked = |line: &str, token: &str| asked(&rig, line, token, "v=0");
    let part = token("R", May::TakePart, 60);
    assert_eq!(asked(publish, &part).0, 201);
    assert_eq!(asked(publish, "s3cret").0, 201, "the shared one stays");
    let watch = token("r", May::Watch, 60);
    let problem = |status, kind: &str| (status, kind.to_owned());
    assert_eq!(asked(publish, &watch), problem(403, "token_watch_only"));
    // Allowed, but the participant does not exist.
    assert_eq!(asked("POST /whep/R/nobody", &watch).0, 404);
    let other = token("other", May::TakePart, 60);
    let elsewhere = problem(403, "token_other_room");
    for line in [
        publish,
        "POST /whep/r/van",
        "GET /api/rooms/r/events?name=Ada",
        "GET /metrics",
    ] {
        assert_eq!(asked(line, &other), elsewhere, "{line}");
    }
    let over = token("r", May::TakePart, -1);
    assert_eq!(asked(publish, &over), problem(401, "token_expired"));
    assert_eq!(asked(publish, "s3cre"), problem(401, "token_wrong"));
    let none = request(rig.address(), "GET /api/rooms/r/access", &[], "");
    assert_eq!(none.status, 401);
    assert!(none.body.contains("token_missing"));
}

#[test]
fn a_page_learns_the_rights_of_its_token() {
    let (rig, token) = guarded();
    let access = |cookie: &str| {
        let cookie = format!("weft_token_80={cookie}");
        let answer = request(
            rig.address(),
            "GET /api/rooms/r/access",
            &[("cookie", &cookie)],
            "",
        );
        serde_json::from_str::<serde_json::Value>(&answer.body).unwrap()
    };
    let shared = serde_json::json!({"may": "moderate", "until": null});
    assert_eq!(access("s3cret"), shared);
    let watch = token("r", May::Watch, 60);
    assert_eq!(access(&watch)["may"], "watch");
    assert!(access(&watch)["until"].as_u64().is_some());
    for (given, kept) in [
        (watch, true),
        (token("r", May::Watch, -1), true),
        ("forged.token.x".to_owned(), false),
    ] {
        let opened = request(rig.address(), &format!("GET /r/r?token={given}"), &[], "");
        let cookie = opened.header("set-cookie");
        assert_eq!(cookie.contains(&given), kept, "{cookie}");
    }
}

/// A browser sends the cookies of a host to all ports, and those of a server to all rooms.
#[test]
fn rooms_and_servers_on_one_host_keep_their_tokens() {
    let (one, token_one) = guarded();
    let (two, token_two) = guarded();
    let open = |rig: &Rig, room: &str, token: &str| {
        let host = format!("localhost:{}", rig.address().port());
        let line = format!("GET /r/{room}?token={token}");
        let opened = request(rig.address(), &line, &[("host", &*host)], "");
        let cookie = opened.header("set-cookie");
        cookie.split(';').next().unwrap_or_default().to_owned()
    };
    let cookies = [
        open(&one, "a", &token_one("a", May::Watch, 60)),
        open(&one, "b", &token_one("b", May::TakePart, 60)),
        open(&two, "a", &token_two("a", May::Moderate, 60)),
    ];
    let names = cookies
        .iter()
        .map(|c| c.split('=').next().unwrap_or_default());
    let names: std::collections::BTreeSet<&str> = names.collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let all = cookies.join("; ");
    let may = |rig: &Rig, room: &str| {
        let host = format!("localhost:{}", rig.address().port());
        let line = format!("GET /api/rooms/{room}/access");
        let headers = [("host", &*host), ("cookie", &*all)];
        let answer = request(rig.address(), &line, &headers, "");
        let body: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        body["may"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(may(&one, "a"), "watch");
    assert_eq!(may(&one, "b"), "take_part");
    assert_eq!(may(&two, "a"), "moderate");
}

#[test]
fn every_token_fits_into_the_address_and_the_cookie() {
    let token = "a+b/c== ü;";
    let rig = Rig::with(ServerConfig {
        token: Some(token.to_owned()),
        ..config()
    });
    let opened = request(
        rig.address(),
        "GET /r/r?token=a%2Bb/c%3D%3D%20%C3%BC%3B",
        &[],
        "",
    );
    let cookie = opened.header("set-cookie").split(';').next();
    let headers = [("cookie", cookie.unwrap_or_default())];
    let access = request(rig.address(), "GET /api/rooms/r/access", &headers, "");
    assert_eq!(access.status, 200, "{cookie:?}");
    let forgets = request(rig.address(), "GET /r/r?name=Ada&token=", &headers, "");
    assert_eq!(forgets.header("location"), "/r/r?name=Ada");
    assert!(forgets.header("set-cookie").ends_with("; Max-Age=0"));
}

#[test]
fn invitations_grant_no_more_and_last_no_longer_than_their_makers() {
    let (rig, token) = guarded();
    let invite = |token: &str, body: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("content-type", "application/json"),
            ("authorization", &*bearer),
        ];
        let answer = request(
            rig.address(),
            "POST /api/rooms/r/invitation",
            &headers,
            body,
        );
        assert_eq!(answer.status, 200, "{}", answer.body);
        let value: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        value["token"].as_str().unwrap().to_owned()
    };
    let part = r#"{"may": "take_part", "hours": 2}"#;
    let guest = invite("s3cret", part);
    assert_eq!(asked(&rig, "POST /whip/r?name=van", &guest, "v=0").0, 201);
    assert_eq!(asked(&rig, "POST /whip/x?name=van", &guest, "v=0").0, 403);
    let watcher = invite(&token("r", May::Watch, 60), part);
    assert_eq!(asked(&rig, "POST /whip/r?name=van", &watcher, "v=0").0, 403);
    let until = |token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", &*bearer)];
        let answer = request(rig.address(), "GET /api/rooms/r/access", &headers, "");
        let value: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        value["until"].as_u64().unwrap()
    };
    assert!(until(&watcher) + 3600 < until(&guest));
}

#[test]
fn a_key_alone_keeps_others_out() {
    let rig = Rig::with(ServerConfig {
        token_key: Some(key()),
        ..config()
    });
    let answer = request(rig.address(), "GET /api/rooms/r/access", &[], "");
    assert_eq!(answer.status, 401);
    let open = Rig::start();
    let headers = [("content-type", "application/json")];
    let body = r#"{"may": "watch", "hours": 1}"#;
    let none = request(
        open.address(),
        "POST /api/rooms/r/invitation",
        &headers,
        body,
    );
    assert_eq!(none.body, r#"{"token":null}"#);
}

#[test]
fn guesses_are_slowed_and_those_with_a_token_at_the_same_address_are_not() {
    use std::io::{Read, Write};
    let (rig, token) = guarded();
    let ask = |from: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("x-forwarded-for", from), ("authorization", &*bearer)];
        request(rig.address(), "GET /api/rooms/r/access", &headers, "").status
    };
    let mut guesses: Vec<_> = (0..200)
        .map(|n| {
            let mut stream = std::net::TcpStream::connect(rig.address()).unwrap();
            let half_a_second = Some(Duration::from_millis(500));
            stream.set_read_timeout(half_a_second).unwrap();
            write!(
                stream,
                "GET /api/rooms/r/access HTTP/1.1\r\nhost: localhost\r\n\
                 x-forwarded-for: 192.0.2.1\r\nauthorization: Bearer guess{n}\r\n\r\n"
            )
            .unwrap();
            stream
        })
        .collect();
    let mut answered = [0; 12];
    let answers = guesses
        .iter_mut()
        .map(|stream| stream.read_exact(&mut answered).map(|()| answered));
    let answers: Vec<_> = answers.collect();
    let count = |words: &[u8]| {
        answers
            .iter()
            .flatten()
            .filter(|a| a.ends_with(words))
            .count()
    };
    // Eight wait for a turn; the first of them have had it in the meantime.
    assert!((20..=28).contains(&count(b"401")));
    assert_eq!(count(b"429"), 172);
    // A signed token cannot be guessed.
    assert_eq!(ask("192.0.2.1", &token("r", May::Watch, 60)), 200);
    assert_eq!(ask("192.0.2.2", "s3cret"), 200);
    rig.advance(weft_units::Duration::from_secs(10));
    assert_eq!(ask("192.0.2.1", "s3cret"), 200);
    let more: Vec<u16> = (0..100).map(|_| ask("192.0.2.1", "wrong")).collect();
    assert_eq!(more, [401; 100], "an office that has shown the right one");
    assert_eq!(ask("192.0.2.1", "s3cret"), 200);
}
