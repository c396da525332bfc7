//! A running server reloads a renewed certificate.

use super::client::exchange;
use super::security::{connect_over_tls, page_over_tls};
use super::stub::{Rig, config, wait_for};
use crate::{Log, Security, ServerConfig, ServerEvent};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Writes a new certificate and its key into a folder; returns the DER form.
pub(super) fn renew(folder: &Path) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(["example.org".to_owned()]).unwrap();
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    std::fs::write(folder.join("chain.pem"), made.cert.pem()).unwrap();
    made.cert.der().to_vec()
}

type Written = Arc<Mutex<Vec<ServerEvent>>>;

fn start(folder: &Path) -> (Rig, Written) {
    let written = Written::default();
    let paper = Arc::clone(&written);
    let rig = Rig::with(ServerConfig {
        security: Security::Certificate {
            certificate: folder.join("chain.pem"),
            key: folder.join("key.pem"),
        },
        log: Log::new(move |event| paper.lock().unwrap().push(event.clone())),
        ..config()
    });
    (rig, written)
}

fn shown(rig: &Rig) -> Vec<u8> {
    page_over_tls(rig.address().port()).1
}

#[test]
fn a_renewed_certificate_is_shown_on_request_and_connections_go_on() {
    let folder = TempDir::new().unwrap();
    let first = renew(folder.path());
    let (rig, written) = start(folder.path());
    let (mut open, _) = connect_over_tls(rig.address().port());
    assert_eq!(exchange(&mut open, "GET /", &[], "").status, 200);
    assert_eq!(shown(&rig), first);
    let second = renew(folder.path());
    let read = rig.handle.read_certificate();
    read();
    assert_eq!(shown(&rig), second);
    assert_eq!(exchange(&mut open, "GET /", &[], "").status, 200);

    std::fs::write(folder.path().join("chain.pem"), "broken").unwrap();
    read();
    assert_eq!(shown(&rig), second, "the last good one");
    let written = written.lock().unwrap();
    assert!(
        matches!(&written[..], [ServerEvent::CertificateRead { .. }, ServerEvent::CertificateNotRead { error }]
            if error.contains("chain.pem")),
        "{written:?}"
    );
}

#[test]
fn a_certificate_behind_links_is_read_when_they_lead_elsewhere() {
    let folder = TempDir::new().unwrap();
    let (root, at) = (folder.path(), |name: &str| folder.path().join(name));
    let first = renew(&at("first"));
    let second = renew(&at("second"));
    // Layout of Kubernetes: files lead through a folder that is a symbolic
    // link.
    symlink("first", at("..data")).unwrap();
    for file in ["chain.pem", "key.pem"] {
        symlink(Path::new("..data").join(file), at(file)).unwrap();
    }
    let (rig, _) = start(root);
    assert_eq!(shown(&rig), first);
    symlink("second", at("..data_new")).unwrap();
    std::fs::rename(at("..data_new"), at("..data")).unwrap();
    wait_for_long("the second", || shown(&rig) == second);
    // Layout of certbot: each file is a symbolic link, and one is replaced
    // after the other.
    let third = renew(&at("third"));
    for file in ["key.pem", "chain.pem"] {
        symlink(Path::new("third").join(file), at("new")).unwrap();
        std::fs::rename(at("new"), at(file)).unwrap();
    }
    wait_for_long("the third", || shown(&rig) == third);
}

/// Waits longer than usual, because the files are checked every two seconds.
fn wait_for_long(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..4 {
        let began = std::time::Instant::now();
        while began.elapsed().as_secs() < 4 {
            if done() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
    }
    wait_for(what, done);
}
