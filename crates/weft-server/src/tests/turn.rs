//! The built-in TURN server on the HTTP port, with coturn's client.

use super::certificate::renew;
use super::client::{Events, exchange, request};
use super::security::connect_over_tls;
use super::stub::{Rig, Stub, config};
use crate::{Security, ServerConfig, TurnConfig};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft_testing::skipped;

/// Messages that a client sends and gets back.
const MESSAGES: usize = 5;

/// Server whose only media address sends every datagram back.
struct Relaying {
    rig: Rig,
    media: SocketAddr,
}

impl Relaying {
    fn start(config: ServerConfig) -> Relaying {
        let (media, _) = echo([127, 0, 0, 1]);
        let plane = Stub {
            addresses: vec![media],
            ..Stub::default()
        };
        let turn = Some(TurnConfig::default());
        let rig = Rig::with_plane(ServerConfig { turn, ..config }, plane);
        Relaying { rig, media }
    }

    /// Name and password for a client of WHIP.
    fn login(&self, stream: &mut (impl Read + Write)) -> [String; 2] {
        let answer = exchange(stream, "OPTIONS /whip/r", &[], "");
        let link = answer.header("link");
        ["username", "credential"].map(|key| {
            let (_, value) = link.split_once(&format!("{key}=\"")).expect("credentials");
            value.split('"').next().unwrap().to_owned()
        })
    }

    fn plain_login(&self) -> [String; 2] {
        self.login(&mut TcpStream::connect(self.rig.address()).unwrap())
    }

    /// Output of coturn's client, which sends to this peer.
    fn client(&self, peer: SocketAddr, [name, password]: &[String; 2], tls: bool) -> String {
        let server = self.rig.address();
        let mut client = Command::new("timeout");
        client.args([
            "8",
            "turnutils_uclient",
            "-t",
            "-s",
            "-c",
            "-n",
            &MESSAGES.to_string(),
        ]);
        client.args(["-u", name, "-w", password, "-p", &server.port().to_string()]);
        client.args(["-e", &peer.ip().to_string(), "-r", &peer.port().to_string()]);
        client.args(tls.then_some("-S"));
        let output = client.arg(server.ip().to_string()).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}

/// Starts a socket that sends everything back, as long as the process lives.
fn echo(ip: [u8; 4]) -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind((Ipv4Addr::from(ip), 0)).unwrap();
    let address = socket.local_addr().unwrap();
    let received = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&received);
    std::thread::spawn(move || {
        let mut datagram = [0; 2048];
        while let Ok((length, from)) = socket.recv_from(&mut datagram) {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = socket.send_to(&datagram[..length], from);
        }
    });
    (address, received)
}

fn has_client() -> bool {
    let client = Command::new("turnutils_uclient")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let found = client.is_ok();
    if !found {
        skipped("no turnutils_uclient (coturn)");
    }
    found
}

fn received_all(output: &str) -> bool {
    output.contains(&format!(
        "tot_send_msgs={MESSAGES}, tot_recv_msgs={MESSAGES}"
    ))
}

#[test]
fn coturns_client_reaches_the_media_address_over_the_http_port() {
    if !has_client() {
        return;
    }
    let relaying = Relaying::start(config());
    let output = relaying.client(relaying.media, &relaying.plain_login(), false);
    assert!(received_all(&output), "{output}");
    // HTTP is there, too, and a page gets the URL of its host.
    let mut events = Events::open(relaying.rig.address(), "/api/rooms/r/events?name=Kim");
    let welcome = events.expect("welcome");
    let url = "turn:127.0.0.1:80?transport=tcp";
    assert_eq!(
        welcome["ice_servers"][0]["urls"], url,
        "its Host has no port"
    );
    assert_eq!(
        request(relaying.rig.address(), "GET /healthz", &[], "").status,
        200
    );
}

#[test]
fn coturns_client_reaches_nothing_else() {
    if !has_client() {
        return;
    }
    let relaying = Relaying::start(config());
    let (other, received) = echo([127, 0, 0, 2]);
    let output = relaying.client(other, &relaying.plain_login(), false);
    assert!(!received_all(&output), "{output}");
    assert_eq!(
        received.load(Ordering::Relaxed),
        0,
        "an open relay: {output}"
    );
    let [name, _] = relaying.plain_login();
    let output = relaying.client(relaying.media, &[name, "guess".to_owned()], false);
    assert!(!received_all(&output), "{output}");
    let refused = relaying.rig.handle.hub().refusals().requests();
    let codes: Vec<u16> = refused.iter().map(|((code, _), _)| *code).collect();
    assert_eq!(codes, [401, 403], "{output}");
}

#[test]
fn with_a_certificate_both_plain_and_encrypted_clients_are_served() {
    if !has_client() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    renew(folder.path());
    let [certificate, key] = ["chain.pem", "key.pem"].map(|name| folder.path().join(name));
    let security = Security::Certificate { certificate, key };
    let relaying = Relaying::start(ServerConfig {
        security,
        ..config()
    });
    let (mut stream, _) = connect_over_tls(relaying.rig.address().port());
    let login = relaying.login(&mut stream);
    for tls in [true, false] {
        let output = relaying.client(relaying.media, &login, tls);
        assert!(received_all(&output), "TLS {tls}: {output}");
    }
}
