//! WHIP endpoints that are not weft's.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::{Server, SignallingError, Trust, Whip};
use super::hostile::serving;

const CREATED: &str = "HTTP/1.1 201 Created\r\ncontent-type: application/sdp\r\n\
    location: session/1\r\ncontent-length: 5\r\nconnection: close\r\n\r\nv=0\r\n";

fn whip_at(url: &str) -> Whip {
    let server = Server {
        url: url.to_owned(),
        token: Some("token-of-ours".to_owned()),
        trust: Trust::Public,
    };
    Whip::new(&server, Vec::new()).expect("an address")
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
    let whip = whip_at(&format!("{url}/live/whip?key=k1"));
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
    let refused = whip_at(&format!("{url}/whip")).publish("v=0\r\n");
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
    let created = whip_at(&format!("{url}/a")).publish("v=0\r\n");
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
        let error = Whip::new(&server, Vec::new()).err().expect(url);
        assert!(matches!(error, SignallingError::Url(_)), "{error}");
    }
}
