//! WHIP and WHEP endpoints of other servers.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::super::{MediaEndpoint, SdpRole, Server, SignallingError, Trust};
use super::hostile::serving;

const CREATED: &str = "HTTP/1.1 201 Created\r\ncontent-type: application/sdp\r\n\
    location: session/1\r\ncontent-length: 5\r\nconnection: close\r\n\r\nv=0\r\n";

fn endpoint_at(url: &str) -> MediaEndpoint {
    let server = Server {
        url: url.to_owned(),
        token: Some("token-of-ours".to_owned()),
        trust: Trust::Public,
    };
    MediaEndpoint::new(&server, Vec::new()).expect("an address")
}

fn answering(answer: String) -> impl Fn(&mut TcpStream) + Send + Sync + 'static {
    move |stream| {
        let _ = stream.write_all(answer.as_bytes());
    }
}

fn redirect(to: &str) -> String {
    format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\ncontent-length: 0\r\n\
         connection: close\r\n\r\n"
    )
}

#[test]
fn an_offer_goes_to_the_whole_address_with_the_token() {
    let (url, requests) = serving(answering(CREATED.to_owned()));
    let whip = endpoint_at(&format!("{url}/live/whip?key=k1"));
    let created = whip.publish("v=0\r\n").expect("201");
    assert_eq!(created.sdp, "v=0\r\n");
    assert_eq!(created.location, format!("{url}/live/session/1"));
    let request = requests.recv().expect("asked").to_lowercase();
    assert!(
        request.starts_with("post /live/whip?key=k1 http/1.1"),
        "{request}"
    );
    assert!(
        request.contains("authorization: bearer token-of-ours"),
        "{request}"
    );
    assert!(!whip.shown_url().contains("k1"), "{}", whip.shown_url());
}

#[test]
fn a_redirect_is_followed_on_the_same_server_only() {
    let (other, asked) = serving(answering(CREATED.to_owned()));
    let (url, _) = serving(answering(redirect(&format!("{other}/whip"))));
    let refused = endpoint_at(&format!("{url}/whip")).publish("v=0\r\n");
    let error = refused.err().expect("another server");
    assert!(
        matches!(error, SignallingError::Redirected { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains(&other) && !error.is_passing(),
        "{error}"
    );
    assert!(
        asked.try_recv().is_err(),
        "nothing may go to the other server"
    );

    let is_first = AtomicBool::new(true);
    let (url, requests) = serving(move |stream| {
        let answer = match is_first.swap(false, Ordering::Relaxed) {
            true => redirect("/b"),
            false => CREATED.to_owned(),
        };
        let _ = stream.write_all(answer.as_bytes());
    });
    let created = endpoint_at(&format!("{url}/a")).publish("v=0\r\n");
    assert_eq!(
        created.expect("followed").location,
        format!("{url}/session/1")
    );
    let lines: Vec<String> = requests.try_iter().map(|r| r[..7].to_owned()).collect();
    assert_eq!(lines, ["POST /a", "POST /b"]);
}

#[test]
fn only_addresses_of_http_are_endpoints() {
    for url in ["ftp://host/whip", "host:8889/whip", "/whip", ""] {
        let server = Server {
            url: url.to_owned(),
            ..Server::default()
        };
        let error = MediaEndpoint::new(&server, Vec::new()).err().expect(url);
        assert!(matches!(error, SignallingError::Url(_)), "{error}");
    }
}

#[test]
fn a_player_takes_the_answer_or_the_offer_of_a_server() {
    let refused = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let counter = CREATED.replace("201 Created", "406 Not Acceptable");
    for (answers, role, posts) in [
        (&[CREATED, ""][..], SdpRole::Answer, 1),
        (&[&counter, ""], SdpRole::Offer, 1),
        (&[refused, CREATED], SdpRole::Offer, 2),
    ] {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let asked = AtomicUsize::new(0);
        let (url, requests) = serving(move |stream| {
            let answer = &answers[asked.fetch_add(1, Ordering::Relaxed)];
            let _ = stream.write_all(answer.as_bytes());
        });
        let played = endpoint_at(&format!("{url}/whep")).play("v=0\r\n");
        let created = played.expect("a description");
        assert_eq!((created.role, created.sdp.as_str()), (role, "v=0\r\n"));
        assert_eq!(created.location, format!("{url}/session/1"));
        assert_eq!(requests.try_iter().count(), posts);
    }
}

#[test]
fn a_server_without_a_stream_says_when_to_ask_again() {
    let (url, _) = serving(answering(
        "HTTP/1.1 409 Conflict\r\nretry-after: 7\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            .to_owned(),
    ));
    let error = endpoint_at(&url).play("v=0\r\n").err().expect("refused");
    assert!(
        error.is_passing() && error.to_string().contains("publish there"),
        "{error}"
    );
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
}

#[test]
fn a_redirect_within_a_cluster_is_followed_once_with_the_token() {
    let to_other = |to: &str| {
        let head = redirect(to);
        head.replace("content-length", "weft-node: two\r\ncontent-length")
    };
    let (other, asked) = serving(answering(CREATED.to_owned()));
    let (url, _) = serving(answering(to_other(&format!("{other}/whip/r?stay"))));
    let endpoint = endpoint_at(&format!("{url}/whip/r"));
    let created = endpoint.publish("v=0\r\n").expect("followed");
    assert_eq!(created.location, format!("{other}/whip/session/1"));
    let request = asked.recv().expect("asked").to_lowercase();
    assert!(
        request.starts_with("post /whip/r?stay http/1.1"),
        "{request}"
    );
    assert!(
        request.contains("authorization: bearer token-of-ours"),
        "{request}"
    );
    endpoint
        .delete(&created.location)
        .expect("its own resource");
    let request = asked.recv().expect("asked");
    assert!(request.starts_with("DELETE /whip/session/1 "), "{request}");

    // The second redirect would be a loop.
    let (last, reached) = serving(answering(CREATED.to_owned()));
    let (middle, _) = serving(answering(to_other(&format!("{last}/whip"))));
    let (first, _) = serving(answering(to_other(&format!("{middle}/whip"))));
    let refused = endpoint_at(&format!("{first}/whip")).publish("v=0\r\n");
    let error = refused.err().expect("two redirects");
    assert!(
        matches!(error, SignallingError::OtherServer { .. }),
        "{error}"
    );
    assert!(reached.try_recv().is_err());
}

#[test]
fn a_request_beyond_a_limit_is_repeated_and_a_refusal_names_its_remedy() {
    for (status, remedy, is_passing) in [
        ("429 Too Many Requests", "the server limits", true),
        (
            "503 Service Unavailable",
            "the fault is at the server",
            true,
        ),
        ("403 Forbidden", "does the token allow it?", true),
        ("405 Method Not Allowed", "is the address right?", false),
    ] {
        let (url, _) = serving(answering(format!(
            "HTTP/1.1 {status}\r\nretry-after: 3\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )));
        let error = endpoint_at(&url).publish("v=0\r\n").err().expect("refused");
        assert!(error.to_string().contains(remedy), "{status}: {error}");
        assert_eq!(error.is_passing(), is_passing, "{status}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(3)));
    }
}
