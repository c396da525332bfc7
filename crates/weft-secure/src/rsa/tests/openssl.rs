//! A peer that nobody here wrote: `openssl s_client` over loopback. Real time and
//! sockets, so none of this is in the core.

#![allow(clippy::disallowed_methods)]

use crate::dtls::{Handshake, Wanted};
use crate::{Certificate, DtlsRole, FailReason, Fingerprint};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration as StdDuration, Instant as StdInstant};
use weft_units::{Duration, Instant};

/// The longest that a handshake may take here.
const PATIENCE: StdDuration = StdDuration::from_secs(10);

/// Makes `name.key` and `name.der`; false where OpenSSL is missing.
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

fn connect_client(folder: &Path, name: &str, to: SocketAddr) -> Child {
    let mut client = Command::new("openssl");
    client.args(["s_client", "-dtls1_2", "-cipher", "DEFAULT@SECLEVEL=0"]);
    client.args(["-use_srtp", "SRTP_AES128_CM_SHA1_80", "-certform", "der"]);
    client.arg("-connect").arg(to.to_string());
    client.arg("-cert").arg(folder.join(format!("{name}.der")));
    client.arg("-key").arg(folder.join(format!("{name}.key")));
    client
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    client.spawn().expect("openssl ran before")
}

/// The handshake of our server with `s_client` that has this certificate.
fn shake_hands(folder: &Path, name: &str) -> Result<(), FailReason> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("socket");
    let wait = StdDuration::from_millis(10);
    socket.set_read_timeout(Some(wait)).expect("timeout");
    let own = Certificate::generate().expect("certificate");
    let epoch = StdInstant::now();
    let now = || Instant::ZERO + Duration::from(epoch.elapsed());
    let mut server = Handshake::new(now(), epoch, own, None);
    let der = std::fs::read(folder.join(format!("{name}.der"))).expect("certificate");
    server.start(now(), DtlsRole::Server, Fingerprint::of(&der));
    let mut client = connect_client(folder, name, socket.local_addr().expect("address"));
    let mut buffer = [0; 2048];
    let result = loop {
        assert!(epoch.elapsed() < PATIENCE, "neither connected nor refused");
        let Ok((len, from)) = socket.recv_from(&mut buffer) else {
            server.handle_timeout(now());
            continue;
        };
        server.handle_packet(now(), &buffer[..len]);
        let wanted = std::iter::from_fn(|| server.poll(now())).find_map(|wanted| match wanted {
            Wanted::Send(datagram) => {
                socket.send_to(&datagram, from).expect("sends");
                None
            }
            Wanted::Connected(..) => Some(Ok(())),
            Wanted::Failed(reason) => Some(Err(reason)),
        });
        if let Some(result) = wanted {
            break result;
        }
    };
    client.kill().expect("ends");
    client.wait().expect("ends");
    result
}

#[test]
fn clients_with_any_good_certificate_connect() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, key) in [
        ("rsa2048", &["rsa:2048", "-sha256"][..]),
        ("rsa3072", &["rsa:3072", "-sha384"]),
        ("p256", &["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]),
    ] {
        if !make_certificate(folder.path(), name, key) {
            weft_testing::skipped("openssl is missing");
            return;
        }
        assert_eq!(shake_hands(folder.path(), name), Ok(()), "{name}");
    }
}
