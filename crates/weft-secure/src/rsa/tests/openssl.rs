//! Handshakes with a peer by other authors: `openssl s_client` over loopback. It uses
//! real time and sockets, so none of this is in the core.

#![allow(clippy::disallowed_methods)]

use crate::dtls::{Handshake, Wanted};
use crate::{Certificate, DtlsRole, FailReason, Fingerprint, Keying};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration as StdDuration, Instant as StdInstant};
use weft_units::{Duration, Instant};

/// Maximum duration of a handshake in these tests.
const PATIENCE: StdDuration = StdDuration::from_secs(10);

const SRTP: &[&str] = &["-use_srtp", "SRTP_AES128_CM_SHA1_80"];
const P256: &[&str] = &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"];

/// Creates `name.key` and `name.der`; false if OpenSSL is missing.
fn make_certificate(folder: &Path, name: &str, key: &[&str]) -> bool {
    let path = |ending: &str| folder.join(format!("{name}.{ending}"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-nodes", "-subj", "/CN=peer", "-newkey"]);
    openssl
        .args(key)
        .args(["-outform", "der", "-keyout"])
        .arg(path("key"));
    openssl.arg("-out").arg(path("der"));
    let made = openssl.stderr(Stdio::null()).status();
    made.is_ok_and(|status| status.success())
}

fn connect_client(folder: &Path, name: &str, options: &[&str], to: SocketAddr) -> Child {
    let mut client = Command::new("openssl");
    client.args(["s_client", "-dtls1_2", "-cipher", "DEFAULT@SECLEVEL=0"]);
    client.args(["-certform", "der"]).args(options);
    client.arg("-connect").arg(to.to_string());
    client.arg("-cert").arg(folder.join(format!("{name}.der")));
    client.arg("-key").arg(folder.join(format!("{name}.key")));
    client
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    client.spawn().expect("openssl ran before")
}

/// Runs a handshake of our server with an `s_client` that has this certificate.
fn shake_hands(folder: &Path, name: &str, options: &[&str]) -> Result<(), FailReason> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("socket");
    let at = socket.local_addr().expect("address");
    let mut client = connect_client(folder, name, options, at);
    let result = run(&socket, None, DtlsRole::Server, fingerprint(folder, name));
    client.kill().expect("ends");
    client.wait().expect("ends");
    result
}

/// Runs a handshake of our client with an `s_server` that has this certificate.
fn shake_hands_with_server(folder: &Path, name: &str) -> Result<(), FailReason> {
    let free = UdpSocket::bind("127.0.0.1:0").expect("socket");
    let at = free.local_addr().expect("address");
    drop(free);
    let mut server = Command::new("openssl");
    server.args(["s_server", "-dtls1_2", "-verify", "1", "-certform", "der"]);
    server.args(SRTP).arg("-accept").arg(at.to_string());
    server.arg("-cert").arg(folder.join(format!("{name}.der")));
    server.arg("-key").arg(folder.join(format!("{name}.key")));
    server
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut server = server.spawn().expect("openssl ran before");
    let socket = UdpSocket::bind("127.0.0.1:0").expect("socket");
    let result = run(
        &socket,
        Some(at),
        DtlsRole::Client,
        fingerprint(folder, name),
    );
    server.kill().expect("ends");
    server.wait().expect("ends");
    result
}

fn fingerprint(folder: &Path, name: &str) -> Fingerprint {
    Fingerprint::of(&std::fs::read(folder.join(format!("{name}.der"))).expect("certificate"))
}

/// Runs our side of a handshake with the peer at this address, or with the first sender.
fn run(
    socket: &UdpSocket,
    mut peer: Option<SocketAddr>,
    role: DtlsRole,
    expected: Fingerprint,
) -> Result<(), FailReason> {
    let wait = StdDuration::from_millis(10);
    socket.set_read_timeout(Some(wait)).expect("timeout");
    let own = Certificate::generate().expect("certificate");
    let epoch = StdInstant::now();
    let now = || Instant::ZERO + Duration::from(epoch.elapsed());
    let mut ours = Handshake::new(now(), epoch, own, Keying::Dtls { seed: None });
    ours.start(now(), role, expected);
    let mut buffer = [0; 2048];
    loop {
        assert!(epoch.elapsed() < PATIENCE, "neither connected nor refused");
        while let Some(wanted) = peer.and_then(|_| ours.poll(now())) {
            match (wanted, peer) {
                (Wanted::Send(datagram), Some(peer)) => {
                    // Refused until the peer has opened its socket.
                    let _ = socket.send_to(&datagram, peer);
                }
                (Wanted::Connected(..), _) => return Ok(()),
                (Wanted::Failed(reason), _) => return Err(reason),
                (Wanted::Send(_), None) | (Wanted::Data(_), _) => {}
            }
        }
        if let Ok((len, from)) = socket.recv_from(&mut buffer) {
            peer = Some(from);
            ours.handle_packet(now(), &buffer[..len]);
        }
        ours.handle_timeout(now());
        if let Some(reason) = ours.poll_failure() {
            return Err(reason);
        }
    }
}

#[test]
fn clients_with_any_good_certificate_connect() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, key) in [
        ("rsa2048", &["rsa:2048", "-sha256"][..]),
        ("rsa3072", &["rsa:3072", "-sha384"]),
        ("p256", P256),
    ] {
        if !make_certificate(folder.path(), name, key) {
            weft_testing::skipped("openssl is missing");
            return;
        }
        assert_eq!(shake_hands(folder.path(), name, SRTP), Ok(()), "{name}");
    }
}

#[test]
fn others_are_refused_in_words() {
    let folder = tempfile::tempdir().expect("folder");
    if !make_certificate(folder.path(), "rsa1024", &["rsa:1024", "-sha256"]) {
        weft_testing::skipped("openssl is missing");
        return;
    }
    let refused = shake_hands(folder.path(), "rsa1024", SRTP).expect_err("a short key");
    let words = "its key is malformed, or RSA of less than 2,048 bits";
    assert_eq!(refused, FailReason::Certificate(words.to_owned()));
    assert!(make_certificate(folder.path(), "p256", P256));
    let refused = shake_hands(folder.path(), "p256", &[]).expect_err("no SRTP");
    assert_eq!(refused, FailReason::Profile);
    // As a client, we do not support RSA, and the error explains the peer's alert.
    assert_eq!(shake_hands_with_server(folder.path(), "p256"), Ok(()));
    assert!(make_certificate(folder.path(), "rsa2048", &["rsa:2048"]));
    let refused = shake_hands_with_server(folder.path(), "rsa2048").expect_err("RSA");
    let role = DtlsRole::Client;
    assert_eq!(refused, FailReason::Alert { code: 40, role });
}
