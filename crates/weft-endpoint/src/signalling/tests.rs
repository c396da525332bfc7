mod hostile;
mod media_endpoint;
mod networks;

use std::time::{Duration, SystemTime};

use super::{CertificateFault, Room, Server, SignallingError, Trust, UrlPart, escaped};

fn room_at(url: &str, trust: Trust) -> Result<Room, SignallingError> {
    let server = Server {
        url: url.to_owned(),
        trust,
        ..Server::default()
    };
    Room::new(&server, Vec::new(), "a b/?#")
}

#[test]
fn names_survive_a_query() {
    assert_eq!(escaped("Zoë & Bob"), "Zo%C3%AB%20%26%20Bob");
}

#[test]
fn a_location_is_on_the_server_that_was_asked() {
    let room = room_at("https://host:8443/weft/", Trust::Anybody).expect("an address");
    let asked = "https://host:8443/weft/whip/r?kind=native";
    for (location, resource) in [
        ("/whip/r/1", "https://host:8443/whip/r/1"),
        ("1", "https://host:8443/weft/whip/1"),
        ("https://HOST:8443/whip/r/1", "https://host:8443/whip/r/1"),
        ("//host:8443/x?y", "https://host:8443/x?y"),
        ("https://user:word@host:8443/x", "https://host:8443/x"),
        (
            "?http://other/",
            "https://host:8443/weft/whip/?http://other/",
        ),
    ] {
        let resolved = room.resources.resolve(asked, location).expect(location);
        assert_eq!(resolved, resource, "{location}");
        assert_eq!(
            room.resources
                .resolve("https://host:8443/weft", &resolved)
                .ok(),
            Some(resolved)
        );
    }
    for foreign in [
        "https://other:8443/x",
        "https://host/x",
        "http://host:8443/x",
        "//other:8443/x",
        "https://host:8443@other/x",
        "file:///etc/passwd",
        "https:other/x",
        "mailto:a@b",
    ] {
        let error = room.resources.resolve(asked, foreign).expect_err(foreign);
        assert!(
            matches!(error, SignallingError::ForeignLocation { .. }),
            "{error}"
        );
        assert!(!error.is_passing(), "{error}");
        assert!(room.delete(foreign).is_err() && room.put_links(foreign, &[]).is_err());
    }
}

#[test]
fn an_address_without_scheme_is_refused_with_an_example() {
    let error = room_at("host:8080", Trust::Public).err();
    assert!(matches!(&error, Some(SignallingError::Url(_))), "{error:?}");
    assert!(error.is_some_and(|e| e.to_string().contains("http://127.0.0.1:8080")));
}

#[test]
fn an_address_out_of_a_browser_is_refused_with_what_is_too_much() {
    for (url, too_much) in [
        ("https://host/?token=abc", UrlPart::Query),
        ("https://host:8443/#x", UrlPart::Query),
        ("https://host/r/ride", UrlPart::Room),
    ] {
        let error = room_at(url, Trust::Anybody).err().expect(url);
        assert!(
            matches!(&error, SignallingError::UrlParts { part, .. } if *part == too_much),
            "{error}"
        );
        assert!(!error.is_passing(), "{error}");
    }
    for root in ["https://host/weft/", "http://r/"] {
        assert!(room_at(root, Trust::Anybody).is_ok(), "{root}");
    }
}

/// A Raspberry Pi has no battery-backed clock.
#[test]
fn a_wrong_clock_is_looked_at_before_the_certificate() {
    use rustls::CertificateError::{Expired, ExpiredContext, NotValidYet, NotValidYetContext};
    use rustls::pki_types::UnixTime;
    let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
    let (in_1973, in_2026, in_2040) = (at(100_000_000), at(1_780_000_000), at(2_220_000_000));
    let early = NotValidYetContext {
        time: in_1973,
        not_before: in_2026,
    };
    let late = ExpiredContext {
        time: in_2040,
        not_after: in_2026,
    };
    for (error, seconds, words) in [
        (NotValidYet, 100_000_000, "is in the year 1973"),
        (early, 100_000_000, "is in the year 1973"),
        (Expired, 2_220_000_000, "is in the year 2040"),
        (late, 2_220_000_000, "is in the year 2040"),
    ] {
        let error = rustls::Error::InvalidCertificate(error);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let fault = CertificateFault::of(&error, now);
        let error = error.to_string();
        let url = "https://h".to_owned();
        let text = SignallingError::Certificate { url, error, fault }.to_string();
        assert!(text.contains(words) && text.contains("clock"), "{text}");
        assert!(!text.contains("trust"), "{text}");
    }
}

#[test]
fn nobody_listening_is_worth_another_try() {
    // Port 9 (discard) is privileged and unused on loopback.
    let room = room_at("http://127.0.0.1:9", Trust::Public).expect("an address");
    let error = room
        .publish("name=a", None, "v=0")
        .err()
        .expect("nobody listens");
    assert!(error.is_passing(), "{error}");
    assert!(
        error.to_string().contains("that the server is running"),
        "{error}"
    );
}

/// Starts a server that gives this answer to one request.
fn answering(answer: &str) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let answer = answer.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn a_refusal_is_reported_with_the_servers_words_and_the_culprit() {
    let refusing = answering(
        "HTTP/1.1 400 Bad Request\r\ncontent-length: 54\r\n\r\n\
         {\"error\":\"A name is missing.\",\"remedy\":\"Give a name.\"}",
    );
    let room = room_at(&refusing, Trust::Public).expect("an address");
    let error = room.events("", None, |_| true).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "the server refuses to join: A name is missing; give a name"
    );
    assert!(!error.is_passing());
    assert!(error.is_of_asker(), "{error}");

    let other = answering("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
    let room = room_at(&other, Trust::Public).expect("an address");
    let error = room.play("p1", "v=0").err().expect("refused");
    assert!(error.to_string().contains("404"), "{error}");
    assert!(!error.is_of_asker(), "{error}");
}

#[test]
fn a_token_that_will_never_do_is_not_tried_again() {
    let refused = |body: &str| {
        let length = body.len();
        let answer = format!("HTTP/1.1 403 Forbidden\r\ncontent-length: {length}\r\n\r\n{body}");
        let room = room_at(&answering(&answer), Trust::Public).expect("an address");
        room.play("p1", "v=0").err().expect("refused")
    };
    let watching = refused(r#"{"error":"It is for watching.","kind":"token_watch_only"}"#);
    assert!(!watching.is_passing());
    // A restarted server does not know us yet.
    assert!(refused(r#"{"error":"There is another."}"#).is_passing());
}

#[test]
fn a_server_without_tls_differs_from_one_with_a_bad_certificate() {
    let plain = answering("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    let url = plain.replace("http:", "https:");
    let room = room_at(&url, Trust::Public).expect("an address");
    let error = room.play("p1", "v=0").err().expect("no TLS");
    assert!(error.to_string().contains("try http://"), "{error}");
}

#[test]
fn a_file_without_certificate_is_refused_with_its_name() {
    let error = room_at("https://h", Trust::File("/nowhere.pem".into())).err();
    let words = error.expect("no file").to_string();
    assert!(words.starts_with("/nowhere.pem: "), "{words}");
    let here = Trust::File(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into());
    let words = room_at("https://h", here)
        .err()
        .expect("no PEM")
        .to_string();
    assert!(words.contains("no certificate"), "{words}");
}
