use super::client::{exchange, request};
use super::stub::{Rig, Stub, config};
use crate::media_plane::events;
use crate::{Admitted, Security, Server, ServerConfig, ServerError};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_rustls::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use tokio_rustls::rustls::crypto::aws_lc_rs::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme, StreamOwned,
};

/// Verifier of a person who accepts the browser's warning: accepts any
/// certificate, and records it.
#[derive(Debug, Default)]
pub(super) struct Trusting(std::sync::Mutex<Vec<u8>>);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        *self.0.lock().unwrap() = certificate.to_vec();
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Status of the start page over TLS, and the certificate.
pub(super) fn page_over_tls(port: u16) -> (u16, Vec<u8>) {
    let (mut stream, seen) = connect_over_tls(port);
    let status = exchange(&mut stream, "GET /", &[], "").status;
    let certificate = seen.0.lock().unwrap().clone();
    (status, certificate)
}

/// Connection with the certificate that it has seen.
pub(super) fn connect_over_tls(
    port: u16,
) -> (StreamOwned<ClientConnection, TcpStream>, Arc<Trusting>) {
    let seen = Arc::new(Trusting::default());
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&seen) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let tls = ClientConnection::new(Arc::new(config), name).unwrap();
    let tcp = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    (StreamOwned::new(tls, tcp), seen)
}

fn start(config: ServerConfig) -> Result<crate::ServerHandle, ServerError> {
    Server::start_with(config, Arc::new(Stub::default()), events().1)
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("weft-server-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn beyond_loopback_it_makes_itself_a_certificate() {
    let rig = Rig::secure(Security::Auto, SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
    let port = rig.address().port();
    assert_eq!(rig.handle.url, format!("https://127.0.0.1:{port}/"));
    let elsewhere = &rig.handle.urls_elsewhere;
    let whole = |url: &String| url.starts_with("https://") && url.ends_with(&format!(":{port}/"));
    assert!(elsewhere.iter().all(whole), "{elsewhere:?}");
    let own = weft_net::machine_addresses().unwrap();
    let outside = own.iter().filter(|ip| ip.is_ipv4() && !ip.is_loopback());
    assert_eq!(elsewhere.len(), outside.count());
    assert_eq!(page_over_tls(port).0, 200);
    let plain = request(
        SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        "GET /",
        &[],
        "",
    );
    assert_eq!(plain.status, 400);
}

#[test]
fn its_own_certificate_is_kept_for_the_next_start() {
    let folder = Folder::new("state");
    let state = folder.0.join("weft");
    let start = || {
        start(ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            state: Some(state.clone()),
            ..config()
        })
        .unwrap()
    };
    let first = start();
    let (_, certificate) = page_over_tls(first.local_addr.port());
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &certificate);
    let told = first.fingerprint.clone().unwrap();
    let told: Vec<u8> = told
        .split(':')
        .map(|octet| u8::from_str_radix(octet, 16).unwrap())
        .collect();
    assert_eq!(told, hash.as_ref());
    let mode = |name: &str| {
        use std::os::unix::fs::PermissionsExt;
        let meta = std::fs::metadata(state.join(name)).unwrap();
        meta.permissions().mode() & 0o777
    };
    assert_eq!((mode(""), mode("key.pem")), (0o700, 0o600));
    first.shutdown();
    let again = start();
    assert_eq!(page_over_tls(again.local_addr.port()).1, certificate);
}

#[test]
fn a_certificate_that_cannot_be_kept_is_an_error_with_a_place() {
    let folder = Folder::new("no-state");
    let file = folder.file("taken", "");
    let error = start(ServerConfig {
        listen: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        state: Some(file.clone()),
        ..config()
    });
    let error = error.err().unwrap();
    assert!(
        error.to_string().contains(&*file.to_string_lossy()),
        "{error}"
    );
    assert!(error.remedy().contains("XDG_STATE_HOME"));
}

#[test]
fn on_loopback_and_where_asked_for_it_is_plain() {
    let rig = Rig::start();
    assert_eq!(rig.handle.url, format!("http://{}/", rig.address()));
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let rig = Rig::secure(Security::InsecureHttp, any);
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, rig.address().port()));
    assert_eq!(request(to, "GET /", &[], "").status, 200);
}

#[test]
fn a_given_certificate_is_the_one_that_is_shown() {
    let made = rcgen::generate_simple_self_signed(["example.org".to_owned()]).unwrap();
    let folder = Folder::new("given");
    let security = Security::Certificate {
        certificate: folder.file("cert.pem", &made.cert.pem()),
        key: folder.file("key.pem", &made.signing_key.serialize_pem()),
    };
    let rig = Rig::secure(security, config().listen);
    let (status, shown) = page_over_tls(rig.address().port());
    assert_eq!(status, 200);
    assert_eq!(shown, made.cert.der().to_vec());
}

#[test]
fn errors_of_certificates_differ() {
    let folder = Folder::new("unusable");
    let make = || rcgen::generate_simple_self_signed(["example.org".to_owned()]).unwrap();
    let (one, other) = (make(), make());
    let good = folder.file("cert.pem", &one.cert.pem());
    let attempt = |certificate: &PathBuf, key: PathBuf| {
        let security = Security::Certificate {
            certificate: certificate.clone(),
            key,
        };
        let error = start(ServerConfig {
            security,
            ..config()
        });
        let error = error.err().expect("does not start");
        assert!(!error.remedy().is_empty());
        error
    };
    let missing = attempt(&folder.0.join("none.pem"), folder.0.join("key.pem"));
    assert!(
        matches!(&missing, ServerError::CertificateUnreadable { path, reason }
            if path.ends_with("none.pem") && reason.contains("No such file")),
        "{missing}"
    );
    let empty = attempt(
        &folder.file("empty.pem", "nothing"),
        folder.0.join("key.pem"),
    );
    assert!(
        matches!(empty, ServerError::CertificateUnreadable { .. }),
        "{empty}"
    );
    let no_key = attempt(&good, good.clone());
    assert!(
        matches!(&no_key, ServerError::CertificateUnreadable { reason, .. }
            if reason.contains("no such PEM section")),
        "{no_key}"
    );
    let wrong = attempt(
        &good,
        folder.file("key.pem", &other.signing_key.serialize_pem()),
    );
    assert!(
        matches!(wrong, ServerError::CertificateUnusable { .. }),
        "{wrong}"
    );
}

#[test]
fn a_taken_port_is_reported_with_the_remedy() {
    let first = start(config()).unwrap();
    let taken = ServerConfig {
        listen: first.local_addr,
        ..config()
    };
    let error = start(taken).err().expect("does not start");
    assert_eq!(
        error.to_string(),
        format!("another program uses {}", first.local_addr)
    );
    let shows = format!("sport = :{}", first.local_addr.port());
    assert!(error.remedy().contains(&shows), "{}", error.remedy());
}

#[test]
fn an_address_of_another_machine_is_reported() {
    // Address of TEST-NET-1 (RFC 5737), which no machine has.
    let elsewhere = ServerConfig {
        listen: "192.0.2.1:0".parse().unwrap(),
        ..config()
    };
    let error = start(elsewhere).err().expect("does not start");
    assert!(
        matches!(error, ServerError::AddressUnavailable { .. }),
        "{error}"
    );
}

#[test]
fn a_token_is_required_where_one_is_set() {
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        ..config()
    });
    let post = |headers: &[(&str, &str)]| {
        let mut all = vec![("content-type", "application/sdp")];
        all.extend_from_slice(headers);
        request(rig.address(), "POST /whip/r?name=van", &all, "v=0")
    };
    let refused = post(&[]);
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), "Bearer");
    assert_eq!(refused.error(), "This server requires a token.");
    assert_eq!(post(&[("authorization", "Bearer s3cre")]).status, 401);
    assert_eq!(post(&[("authorization", "Basic s3cret")]).status, 401);
    assert_eq!(post(&[("cookie", "weft_token_80=wrong")]).status, 401);
    assert_eq!(post(&[("authorization", "bearer s3cret")]).status, 201);
    assert_eq!(post(&[("cookie", "a=b; weft_token_80=s3cret")]).status, 201);
    for guarded in ["GET /api/rooms/r/events?name=Ada", "POST /whep/r/van"] {
        assert_eq!(
            request(rig.address(), guarded, &[], "").status,
            401,
            "{guarded}"
        );
    }
    for open in ["GET /", "GET /healthz"] {
        assert_eq!(request(rig.address(), open, &[], "").status, 200, "{open}");
    }
    let shown = [("authorization", "Bearer s3cret")];
    let metrics = |headers| request(rig.address(), "GET /metrics", headers, "").status;
    assert_eq!((metrics(&[]), metrics(&shown)), (401, 200));
}

#[test]
fn the_page_takes_its_token_from_the_address_into_a_cookie() {
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        ..config()
    });
    let opened = request(rig.address(), "GET /r/room?name=Ada&token=s3cret", &[], "");
    assert_eq!(opened.status, 303);
    assert_eq!(opened.header("location"), "/r/room?name=Ada");
    let cookie = opened.header("set-cookie");
    assert_eq!(
        cookie,
        "weft_token_80=s3cret; Path=/; HttpOnly; SameSite=Strict"
    );
    let wrong = request(rig.address(), "GET /?token=wrong", &[], "");
    assert_eq!((wrong.status, wrong.header("set-cookie")), (200, ""));
}

#[test]
fn behind_a_proxy_that_does_tls_the_cookie_is_for_tls_only() {
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        ..config()
    });
    let cookie = |proto: &str| {
        let headers = [("x-forwarded-proto", proto)];
        let opened = request(rig.address(), "GET /?token=s3cret", &headers, "");
        opened.header("set-cookie").to_owned()
    };
    assert_eq!(
        cookie("https"),
        "__Host-weft_token_443=s3cret; Path=/; HttpOnly; SameSite=Strict; Secure"
    );
    assert!(cookie("http, https").ends_with("; Secure"));
    assert!(!cookie("https, http").contains("Secure"));
    // A page over plain HTTP cannot plant a cookie for the one over TLS.
    let access = |name: &str| {
        let cookie = format!("{name}=s3cret");
        let headers = [("x-forwarded-proto", "https"), ("cookie", &*cookie)];
        request(rig.address(), "GET /api/rooms/r/access", &headers, "").status
    };
    assert_eq!(access("__Host-weft_token_443"), 200);
    assert_eq!(access("weft_token_443"), 401);
}

/// Page of another site, in the browser of a visitor who can reach this server.
#[test]
fn pages_of_other_sites_may_lead_here_and_ask_for_nothing() {
    let rig = Rig::start();
    let asked = |line: &str, site: &str, dest: &str| {
        let headers = [("sec-fetch-site", site), ("sec-fetch-dest", dest)];
        let headers = [&headers[..], &[("content-type", "application/sdp")]].concat();
        request(rig.address(), line, &headers, "v=0").status
    };
    let publish = "POST /whip/r?name=van";
    assert_eq!(asked(publish, "cross-site", "empty"), 403);
    assert_eq!(asked(publish, "cross-site", "document"), 403);
    assert_eq!(asked("GET /api/rooms/r", "cross-site", "iframe"), 403);
    assert!(rig.log().is_empty(), "nothing reached the media");
    assert_eq!(asked("GET /", "cross-site", "document"), 200);
    assert_eq!(asked(publish, "same-origin", "empty"), 201);
}

/// Page on the internet whose name points to loopback (DNS rebinding).
#[test]
fn on_loopback_without_a_token_other_names_are_refused() {
    let asked = |rig: &Rig, host: &str| {
        let line = "POST /whip/r?name=van";
        let headers = [("content-type", "application/sdp"), ("host", host)];
        request(rig.address(), line, &headers, "v=0").status
    };
    let rig = Rig::start();
    assert_eq!(asked(&rig, "evil.example"), 421);
    assert!(rig.log().is_empty(), "nothing reached the media");
    assert_eq!(asked(&rig, "127.0.0.1:8080"), 201);
    let page = request(rig.address(), "GET /", &[("host", "evil.example")], "");
    assert_eq!(page.status, 421);
    // The cookie of a token belongs to another name, and a proxy has its own
    // names.
    let with_token = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        ..config()
    });
    assert_eq!(asked(&with_token, "evil.example"), 401);
    let behind = Rig::secure(Security::InsecureHttp, config().listen);
    assert_eq!(asked(&behind, "calls.example"), 201);
}

#[test]
fn further_routes_know_the_requester() {
    let told = |axum::Extension(Admitted(admitted)): axum::Extension<Admitted>| async move {
        admitted.to_string()
    };
    let rig = Rig::with(ServerConfig {
        token: Some("s3cret".to_owned()),
        extra: Some(axum::Router::new().route("/api/call", axum::routing::get(told))),
        ..config()
    });
    let ask = |headers: &[(&str, &str)]| request(rig.address(), "GET /api/call", headers, "").body;
    assert_eq!(ask(&[]), "false");
    assert_eq!(ask(&[("authorization", "Bearer s3cret")]), "true");
}

#[test]
fn the_end_of_the_media_side_is_reported() {
    let rig = Rig::start();
    let (told, hears) = std::sync::mpsc::channel();
    rig.handle.when_media_ends(move || {
        let _ = told.send(());
    });
    let waits = std::time::Duration::from_millis(0);
    assert!(hears.recv_timeout(waits).is_err());
    let handle = rig.lose_media();
    let limit = std::time::Duration::from_secs(5);
    hears.recv_timeout(limit).expect("it is told");
    drop(handle);
}
