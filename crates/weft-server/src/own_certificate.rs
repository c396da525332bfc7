//! Self-signed certificate of a server, stored and reused while it is valid.

use crate::error::ServerError;
use crate::pem;
use crate::private_file;
use rcgen::{
    Certificate, CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd,
};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;

/// Files of a stored certificate.
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// Margin for clients whose clock is behind ours; chosen by us.
const BEFORE: Duration = DAY;
/// Longest validity that Safari accepts, also for private authorities
/// (<https://support.apple.com/en-us/103769>).
const LIFETIME: Duration = Duration::from_secs(825 * 24 * 60 * 60);
/// A certificate that ends sooner than this is replaced at the start; chosen by
/// us.
const SPARE: Duration = Duration::from_secs(60 * 24 * 60 * 60);

/// Reason why a stored certificate was replaced. Its key stays the same, so
/// clients that trust the old certificate still accept the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewal {
    /// It lacks these present names of the machine.
    Names(Vec<String>),
    /// It is not valid now, or expires soon.
    Ending,
    /// It was valid for longer than browsers accept.
    Endless,
}

impl fmt::Display for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Renewal::Names(names) => write!(f, "did not name {}", names.join(", ")),
            Renewal::Ending => f.write_str("had expired, or was about to"),
            Renewal::Endless => f.write_str("was valid for longer than browsers accept"),
        }
    }
}

/// Paths of a stored certificate.
pub(crate) struct Kept {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) renewal: Option<Renewal>,
}

/// Creates a certificate for this start alone.
pub(crate) fn made(ip: IpAddr, now: UnixTime) -> Result<(Certificate, KeyPair), ServerError> {
    let key = KeyPair::generate().map_err(refused)?;
    Ok((signed(&names(ip), &key, now)?, key))
}

/// Returns the stored certificate, or creates and stores one: a browser that accepted it
/// does not warn again while the certificate has the machine's names.
pub(crate) fn kept(ip: IpAddr, state: &Path, now: UnixTime) -> Result<Kept, ServerError> {
    keep(&names(ip), state, now)
}

pub(crate) fn keep(names: &Names, state: &Path, now: UnixTime) -> Result<Kept, ServerError> {
    let (certificate, key) = (state.join(CERTIFICATE), state.join(KEY));
    let write = |path: &Path, content: String| {
        private_file::replace(path, &content).map_err(|error| not_kept(path, &error))
    };
    // Two servers that start together must not write different files.
    let _alone = private_file::lock(state).map_err(|error| not_kept(state, &error))?;
    let mut renewal = None;
    if !(certificate.exists() && key.exists()) {
        let new = KeyPair::generate().map_err(refused)?;
        write(&key, new.serialize_pem())?;
        write(&certificate, signed(names, &new, now)?.pem())?;
    } else {
        let chain = pem::chain_of(&certificate)?;
        renewal = chain.first().and_then(|old| due(old, names, now));
        if renewal.is_some() {
            let unreadable = |error: String| ServerError::unreadable(&key, error);
            let pem = std::fs::read_to_string(&key).map_err(|e| unreadable(e.to_string()))?;
            let same = KeyPair::from_pem(&pem).map_err(|e| unreadable(e.to_string()))?;
            write(&certificate, signed(names, &same, now)?.pem())?;
        }
    }
    Ok(Kept {
        certificate,
        key,
        renewal,
    })
}

fn not_kept(path: &Path, error: &io::Error) -> ServerError {
    ServerError::not_kept("certificate of its own", path, error)
}

/// Names that a certificate must have.
pub(crate) struct Names {
    /// Required names.
    pub(crate) needed: Vec<String>,
    /// Names of which one is enough: a machine has a stable IPv6 address and
    /// others that change every day (RFC 8981).
    pub(crate) one_of: Vec<String>,
}

impl Names {
    fn all(&self) -> impl Iterator<Item = &String> {
        self.needed.iter().chain(&self.one_of)
    }

    /// Names that the certificate should have, but lacks.
    fn missing(&self, certificate: &ParsedCertificate<'_>) -> Vec<String> {
        let is_named = |name: &&String| {
            ServerName::try_from(name.as_str())
                .is_ok_and(|name| verify_server_name(certificate, &name).is_ok())
        };
        let needed = self.needed.iter().filter(|name| !is_named(name));
        let has_one = self.one_of.iter().any(|name| is_named(&name));
        let others = self.one_of.iter().filter(|_| !has_one);
        needed.chain(others).cloned().collect()
    }
}

/// Names that clients may use to reach a server that listens on `ip`.
fn names(ip: IpAddr) -> Names {
    let present = match ip.is_unspecified() {
        true => weft_net::machine_addresses().unwrap_or_default(),
        false => vec![ip],
    };
    let loopback = [
        IpAddr::from(Ipv4Addr::LOCALHOST),
        Ipv6Addr::LOCALHOST.into(),
    ];
    let addresses: BTreeSet<IpAddr> = present.into_iter().chain(loopback).collect();
    let changing = |it: &IpAddr| ip.is_unspecified() && it.is_ipv6() && !it.is_loopback();
    let (one_of, fixed): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().partition(changing);
    let mut needed = vec!["localhost".to_owned()];
    needed.extend(host_name());
    needed.extend(fixed.iter().map(IpAddr::to_string));
    // A server on 0.0.0.0 is not reachable over IPv6.
    let one_of = one_of.iter().filter(|_| ip.is_ipv6());
    Names {
        needed,
        one_of: one_of.map(IpAddr::to_string).collect(),
    }
}

/// Host name of the machine, if it fits into a certificate.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    (!name.is_empty() && name != "localhost" && name.chars().all(plain)).then(|| name.to_owned())
}

/// Reason to replace the certificate, if there is one. Verifies it like a
/// client that trusts it and nothing else.
fn due(certificate: &CertificateDer<'_>, names: &Names, now: UnixTime) -> Option<Renewal> {
    // An unreadable certificate is reported where it is used.
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone().into_owned()).ok()?;
    let known = aws_lc_rs::default_provider().signature_verification_algorithms;
    let valid_in = |ahead: Duration| {
        let then = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + ahead);
        verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], then, known.all).is_ok()
    };
    let missing = names.missing(&parsed);
    if !missing.is_empty() {
        Some(Renewal::Names(missing))
    } else if !(valid_in(Duration::ZERO) && valid_in(SPARE)) {
        Some(Renewal::Ending)
    } else if valid_in(LIFETIME) {
        Some(Renewal::Endless)
    } else {
        None
    }
}

fn signed(names: &Names, key: &KeyPair, now: UnixTime) -> Result<Certificate, ServerError> {
    let all: Vec<String> = names.all().cloned().collect();
    let mut params = CertificateParams::new(all).map_err(refused)?;
    let from = Duration::from_secs(now.as_secs()).saturating_sub(BEFORE);
    params.not_before = date_time_ymd(1970, 1, 1) + from;
    // The validity includes both ends (RFC 5280 section 4.1.2.5).
    params.not_after = params.not_before + LIFETIME - Duration::from_secs(1);
    params.distinguished_name.push(DnType::CommonName, "weft");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.self_signed(key).map_err(refused)
}

fn refused(error: rcgen::Error) -> ServerError {
    ServerError::System {
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
