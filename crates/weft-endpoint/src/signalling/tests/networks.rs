//! Requests over two links, the first of which is faulty. The server distinguishes the
//! links by address.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::signalling::{
    CertificateFault, LinkFault, MediaEndpoint, Room, Server, SignallingError, Stall, Trust,
};

/// Limit for connecting a call over a working second link.
const CONNECTED: Duration = Duration::from_secs(5);

const CREATED: &str = "HTTP/1.1 201 Created\r\nlocation: /whip/r/1\r\n\
    content-type: application/sdp\r\ncontent-length: 3\r\n\r\nv=0";

const WELCOME: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
    event: welcome\ndata: {\"id\":\"1\",\"secret\":\"s\",\"participants\":[]}\n\n";

/// Treatment of connections over the first link.
#[derive(Clone, Copy, Debug)]
enum First {
    Answers(&'static str),
    /// Reads the request and never answers.
    Stalls,
    /// Sends the head of an event stream, and then nothing.
    StallsAfterHead,
    /// Closes the connection.
    Breaks,
}

/// Starts a server that treats 127.0.0.2 in this way and answers all other addresses.
/// Returns its URL and the requests by address.
fn serve(first: First) -> (String, Receiver<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let (asked, requests) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let asked = asked.clone();
            thread::spawn(move || {
                let from = stream.peer_addr().expect("a peer").ip().to_string();
                let asked = |line: &str| asked.send((from.clone(), line.to_owned()));
                match from.as_str() {
                    "127.0.0.2" => mistreat(stream, first, asked),
                    _ => answer(stream, asked),
                }
            });
        }
    });
    (format!("http://{address}"), requests)
}

fn mistreat<E>(mut stream: TcpStream, first: First, asked: impl Fn(&str) -> Result<(), E>) {
    let mut line = String::new();
    let _ = BufReader::new(&stream).read_line(&mut line);
    let _ = asked(&line);
    match first {
        First::Breaks => return,
        First::Answers(answer) => stream.write_all(answer.as_bytes()).expect("it listens"),
        First::StallsAfterHead => {
            let (head, _) = WELCOME.split_once("event: ").expect("a head and a body");
            stream.write_all(head.as_bytes()).expect("it listens");
        }
        First::Stalls => {}
    }
    // Until the other end closes it.
    let _ = stream.read_to_end(&mut Vec::new());
}

fn answer<E>(mut stream: TcpStream, asked: impl Fn(&str) -> Result<(), E>) {
    let mut reader = BufReader::new(stream.try_clone().expect("another"));
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|length| length > 0) {
        let _ = asked(&line);
        let mut length = 0;
        let mut header = String::new();
        while reader.read_line(&mut header).is_ok_and(|l| l > 2) {
            if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            header.clear();
        }
        reader.read_exact(&mut vec![0; length]).expect("a body");
        let told = if line.contains("/events") {
            WELCOME
        } else {
            CREATED
        };
        let _ = stream.write_all(told.as_bytes());
        line.clear();
    }
}

fn room(url: &str, links: &[&str], trust: Trust) -> Room {
    let server = Server {
        url: url.to_owned(),
        token: Some("secret".to_owned()),
        trust,
    };
    let links = links.iter().map(|l| l.parse().expect("a link")).collect();
    Room::new(&server, links, "r").expect("an address")
}

const BOTH: &[&str] = &["a=127.0.0.2", "b=127.0.0.3"];

const TO_A_LOGIN: &str = "HTTP/1.1 302 Found\r\nlocation: http://192.0.2.1/login\r\n\
    content-length: 0\r\n\r\n";
const A_PAGE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 9\r\n\r\n\
    <p>Hello!";
const A_TEXT: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 6\r\n\r\n\
    Hello!";
const NO_TYPE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nHello!";
const FORBIDDEN: &str = "HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\n\
    content-length: 6\r\n\r\nLogin!";
const NEEDS_LOGIN: &str = "HTTP/1.1 511 Network Authentication Required\r\n\
    content-length: 0\r\n\r\n";

#[test]
fn a_request_that_fails_over_one_link_is_answered_over_the_next() {
    for first in [
        First::Answers(TO_A_LOGIN),
        First::Answers(A_PAGE),
        First::Answers(A_TEXT),
        First::Answers(NEEDS_LOGIN),
        First::Answers(NO_TYPE),
        First::Answers(FORBIDDEN),
        First::Breaks,
        First::Stalls,
        First::StallsAfterHead,
    ] {
        let (url, requests) = serve(first);
        let room = room(&url, BOTH, Trust::Public);
        let began = Instant::now();
        let mut welcomed = false;
        let read = room.events("", None, |_| {
            welcomed = true;
            false
        });
        read.unwrap_or_else(|error| panic!("{first:?}: {error}"));
        assert!(welcomed, "{first:?}");
        let created = room
            .publish("name=a", None, "v=0")
            .map_err(|e| e.to_string());
        let location = created.expect("a publication").location;
        assert!(location.ends_with("/whip/r/1"), "{first:?}: {location}");
        assert!(
            began.elapsed() < CONNECTED,
            "{first:?}: {:?}",
            began.elapsed()
        );

        let faults = room.link_faults();
        let fault = faults
            .get("a")
            .unwrap_or_else(|| panic!("{first:?}: {faults:?}"));
        let is_portal = matches!(fault, LinkFault::Portal { .. });
        assert_eq!(is_portal, matches!(first, First::Answers(_)), "{fault:?}");
        assert!(!faults.contains_key("b"), "{faults:?}");
        // The link is avoided after its failure.
        drop(room);
        let over_first = requests.try_iter().filter(|(from, _)| from == "127.0.0.2");
        assert_eq!(over_first.count(), 1, "{first:?}");
    }
}

/// A server other than weft's may redirect to another host, but so may a captive portal.
#[test]
fn a_redirect_over_one_link_to_another_host_is_tried_over_the_next() {
    let (url, requests) = serve(First::Answers(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://192.0.2.1/login\r\n\
         content-length: 0\r\n\r\n",
    ));
    let server = Server {
        url: format!("{url}/live/whip"),
        ..Server::default()
    };
    let links = |all: &[&str]| all.iter().map(|l| l.parse().expect("a link")).collect();
    let whip = MediaEndpoint::new(&server, links(BOTH)).expect("an address");
    let created = whip.publish("v=0").expect("201 over the second link");
    assert_eq!(created.location, format!("{url}/whip/r/1"));
    assert_eq!(requests.try_iter().count(), 2);
    // If all links get the same answer, it is the server's.
    let both_first = MediaEndpoint::new(&server, links(&["a=127.0.0.2", "c=127.0.0.2"]));
    let refused = both_first.expect("an address").publish("v=0");
    let error = refused.err().expect("another server");
    assert!(
        matches!(error, SignallingError::Redirected { .. }),
        "{error}"
    );
}

#[test]
fn the_error_page_of_a_proxy_is_not_a_captive_portal() {
    let page = |status| {
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: 9\r\n\r\n<p>Sorry!"
        )
    };
    for (status, is_portal) in [
        ("501 Not Implemented", false),
        ("502 Bad Gateway", false),
        ("404 Not Found", false),
        ("403 Forbidden", true),
    ] {
        let (url, _requests) = serve(First::Answers(page(status).leak()));
        let room = room(&url, BOTH, Trust::Public);
        let created = room.publish("name=a", None, "v=0");
        created.unwrap_or_else(|error| panic!("{status}: {error}"));
        let fault = room.link_faults().remove("a").expect("a fault");
        let is_named = matches!(fault, LinkFault::Portal { .. });
        assert_eq!(is_named, is_portal, "{status}: {fault}");
        assert!(fault.to_string().contains(&status[..3]), "{fault}");
    }
}

#[test]
fn a_captive_portal_on_every_link_is_named_with_a_link() {
    for answer in [TO_A_LOGIN, A_PAGE, NEEDS_LOGIN] {
        let (url, _requests) = serve(First::Answers(answer));
        let room = room(&url, &["a=127.0.0.2"], Trust::Public);
        let error = room.events("", None, |_| true).expect_err("a portal");
        let words = error.to_string();
        assert!(
            matches!(error, SignallingError::CaptivePortal { .. }),
            "{words}"
        );
        assert!(
            words.contains("link `a`: ") && words.contains("captive portal"),
            "{words}"
        );
        assert!(!words.contains("that the server is running"), "{words}");
    }
}

#[test]
fn a_connection_without_an_answer_is_named_as_what_it_is() {
    let (url, _requests) = serve(First::Stalls);
    for url in [url.clone(), url.replace("http:", "https:")] {
        let links = ["a=127.0.0.2", "b=127.0.0.2", "c=127.0.0.2"];
        let room = room(&url, &links, Trust::Public);
        let error = room.play("p", "v=0").err().expect("no answer");
        let words = error.to_string();
        let stalled = SignallingError::Stalled {
            url,
            links: ["a", "b", "c"].map(str::to_owned).to_vec(),
            stall: Stall::Unanswered,
        };
        assert_eq!(words, stalled.to_string());
        assert!(
            words.contains("over a, b and c open, but no answer"),
            "{words}"
        );
        assert!(error.is_passing());
    }
}

#[test]
fn the_servers_own_refusal_is_not_asked_for_again() {
    let refused = "HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\n\
        content-length: 28\r\n\r\n{\"error\":\"A token is needed\"}";
    let (url, requests) = serve(First::Answers(refused));
    let room = room(&url, BOTH, Trust::Public);
    let error = room.play("p", "v=0").err().expect("refused");
    assert!(
        matches!(error, SignallingError::Refused { status: 401, .. }),
        "{error}"
    );
    drop(room);
    assert_eq!(requests.try_iter().count(), 1);
}

#[test]
fn a_redirect_is_reported_with_the_new_address() {
    let (url, _requests) = serve(First::Answers(
        "HTTP/1.1 308 Permanent Redirect\r\nlocation: https://127.0.0.1/\r\n\
         content-length: 0\r\n\r\n",
    ));
    let room = room(&url, &["a=127.0.0.2"], Trust::Public);
    let error = room.events("", None, |_| true).expect_err("a redirect");
    let words = error.to_string();
    assert!(
        words.contains("redirects to `https://127.0.0.1/`"),
        "{words}"
    );
}

/// Creates a certificate for this name, and a server configuration with it.
fn certificate(name: &str) -> (String, Arc<ServerConfig>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    // Another test may have installed it.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key);
    (made.cert.pem(), Arc::new(config.expect("they fit")))
}

/// Starts a server that shows its own certificate to 127.0.0.3, and a foreign one to all
/// other addresses, including the system's routes.
fn serve_tls(others: Arc<ServerConfig>, own: Arc<ServerConfig>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let from = stream.peer_addr().expect("a peer").ip().to_string();
            let config = if from == "127.0.0.3" { &own } else { &others };
            let tls = ServerConnection::new(Arc::clone(config)).expect("a connection");
            thread::spawn(move || {
                let mut stream = StreamOwned::new(tls, stream);
                if stream.read(&mut [0; 8192]).is_ok() {
                    let _ = stream.write_all(CREATED.as_bytes());
                    let _ = stream.read(&mut [0; 8192]);
                }
            });
        }
    });
    format!("https://{address}")
}

#[test]
fn a_certificate_of_somebody_elses_over_one_link_is_a_captive_portals() {
    let (_, portals) = certificate("login.portal.example");
    let (pem, own) = certificate("127.0.0.1");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), pem).expect("it is written");
    let url = serve_tls(portals, own);
    let trust = Trust::File(file.path().to_owned());

    let over_both = room(&url, BOTH, trust.clone());
    let began = Instant::now();
    let created = over_both
        .publish("name=a", None, "v=0")
        .map_err(|e| e.to_string());
    assert_eq!(created.expect("a publication").sdp, "v=0");
    assert!(began.elapsed() < CONNECTED, "{:?}", began.elapsed());
    let faults = over_both.link_faults();
    let portal = faults.get("a").map(ToString::to_string).unwrap_or_default();
    assert!(portal.contains("captive portal"), "{faults:?}");

    // With a single link, the error suggests a wrong address, but the certificate is not
    // the server's.
    let alone = room(&url, &["a=127.0.0.2"], trust);
    let error = alone
        .publish("name=a", None, "v=0")
        .err()
        .expect("no server");
    let words = error.to_string();
    let names = CertificateFault::OtherNames;
    assert!(
        matches!(&error, SignallingError::Certificate { fault, .. } if *fault == names),
        "{words}"
    );
    assert!(words.contains("captive portal"), "{words}");
    assert!(!words.contains("accept any certificate"), "{words}");
}

#[test]
fn untrusted_certificates_differ_from_those_with_other_names() {
    let (_, own) = certificate("127.0.0.1");
    let url = serve_tls(Arc::clone(&own), own);
    let error = room(&url, BOTH, Trust::Public).publish("name=a", None, "v=0");
    let error = error.err().expect("nobody vouches for it");
    let unknown = CertificateFault::Unknown;
    assert!(
        matches!(&error, SignallingError::Certificate { fault, .. } if *fault == unknown),
        "{error}"
    );
    let trusting = room(&url, BOTH, Trust::Anybody);
    assert!(trusting.publish("name=a", None, "v=0").is_ok());
}

#[test]
fn a_link_whose_events_fall_silent_is_left() {
    let (url, _requests) = serve(First::Answers(WELCOME));
    let room = room(&url, BOTH, Trust::Public);
    let (heard, events) = channel();
    let listener = room.clone();
    let listening = thread::spawn(move || {
        let read = listener.events("", None, |_| heard.send(()).is_ok());
        read.is_ok()
    });
    let patience = Duration::from_secs(10);
    events
        .recv_timeout(patience)
        .expect("a welcome over the first");
    room.on_silence();
    listening.join().expect("it ends, and does not panic");
    let created = room
        .publish("name=a", None, "v=0")
        .map_err(|e| e.to_string());
    let location = created.expect("over the second").location;
    assert!(location.ends_with("/whip/r/1"), "{location}");
    assert_eq!(room.link_faults().get("a"), Some(&LinkFault::Stalled));
}
