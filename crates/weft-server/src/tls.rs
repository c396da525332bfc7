use crate::config::Security;
use crate::error::ServerError;
use ::aws_lc_rs::digest;
use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

/// What a server shows to prove who it is.
pub(crate) struct Tls {
    pub(crate) acceptor: TlsAcceptor,
    pub(crate) fingerprint: String,
}

/// The files of a certificate that the server has made for itself.
const CERTIFICATE: &str = "certificate.pem";
const KEY: &str = "key.pem";

/// The TLS side of a server that listens on `ip`; `None` for plain HTTP.
pub(crate) fn prepare(
    security: &Security,
    ip: IpAddr,
    state: Option<&Path>,
) -> Result<Option<Tls>, ServerError> {
    match security {
        Security::InsecureHttp => Ok(None),
        Security::Auto if ip.is_loopback() => Ok(None),
        Security::Auto => match state {
            Some(state) => kept(ip, state).map(Some),
            None => made(&self_signed(ip)?).map(Some),
        },
        Security::Certificate { certificate, key } => from_files(certificate, key).map(Some),
    }
}

/// The certificate that an earlier start has made, or one that later starts
/// will find: who has accepted it once is not asked again.
fn kept(ip: IpAddr, state: &Path) -> Result<Tls, ServerError> {
    let (certificate, key) = (state.join(CERTIFICATE), state.join(KEY));
    let refused = |path: &Path, error: io::Error| ServerError::NotKept {
        path: path.to_owned(),
        reason: error.to_string(),
    };
    // Two servers that start together must not each write one of the files.
    let _alone = lock(state).map_err(|error| refused(state, error))?;
    if certificate.exists() && key.exists() {
        return from_files(&certificate, &key);
    }
    let new = self_signed(ip)?;
    for (path, content) in [
        (&key, new.signing_key.serialize_pem()),
        (&certificate, new.cert.pem()),
    ] {
        write_private(path, &content).map_err(|error| refused(path, error))?;
    }
    made(&new)
}

/// Makes the folder, for this user alone, and holds it until the file goes.
fn lock(folder: &Path) -> io::Result<File> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)?;
    let lock = File::create(folder.join("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// A file for this user alone.
fn write_private(path: &Path, content: &str) -> io::Result<()> {
    let _ = std::fs::remove_file(path);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(content.as_bytes())
}

fn from_files(certificate: &Path, key: &Path) -> Result<Tls, ServerError> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect)
        .map_err(|error| ServerError::unreadable(certificate, pem_words(error)))?;
    if chain.is_empty() {
        return Err(ServerError::unreadable(
            certificate,
            "it holds no certificate",
        ));
    }
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| ServerError::unreadable(key, pem_words(error)))?;
    accept_with(chain, key).map_err(|error| ServerError::CertificateUnusable {
        path: certificate.to_owned(),
        reason: error.to_string(),
    })
}

fn pem_words(error: rustls::pki_types::pem::Error) -> String {
    use rustls::pki_types::pem::Error;
    match error {
        Error::Io(error) => error.to_string(),
        Error::NoItemsFound => "it holds no such PEM section".to_owned(),
        other => other.to_string(),
    }
}

type SelfSigned = rcgen::CertifiedKey<rcgen::KeyPair>;

/// A certificate for every name and address that this machine has now.
fn self_signed(ip: IpAddr) -> Result<SelfSigned, ServerError> {
    let loopback = [
        IpAddr::from(Ipv4Addr::LOCALHOST),
        Ipv6Addr::LOCALHOST.into(),
    ];
    let others = match ip.is_unspecified() {
        true => weft_net::machine_addresses().unwrap_or_default(),
        false => vec![ip],
    };
    let addresses: BTreeSet<IpAddr> = loopback.into_iter().chain(others).collect();
    let mut names = vec!["localhost".to_owned()];
    names.extend(host_name());
    names.extend(addresses.iter().map(IpAddr::to_string));
    rcgen::generate_simple_self_signed(names).map_err(|e| ServerError::System {
        reason: e.to_string(),
    })
}

/// The machine's name, if it can stand in a certificate.
fn host_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
    (!name.is_empty() && name != "localhost" && name.chars().all(plain)).then(|| name.to_owned())
}

fn made(new: &SelfSigned) -> Result<Tls, ServerError> {
    let refused = |reason: String| ServerError::System { reason };
    let key = PrivateKeyDer::try_from(new.signing_key.serialize_der())
        .map_err(|reason| refused(reason.to_owned()))?;
    accept_with(vec![new.cert.der().clone()], key).map_err(|e| refused(e.to_string()))
}

/// SHA-256 of a certificate, as browsers show it.
fn fingerprint_of(certificate: &CertificateDer<'_>) -> String {
    let hash = digest::digest(&digest::SHA256, certificate);
    let octets: Vec<String> = hash.as_ref().iter().map(|b| format!("{b:02X}")).collect();
    octets.join(":")
}

fn accept_with(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Tls, rustls::Error> {
    let fingerprint = chain.first().map(fingerprint_of).unwrap_or_default();
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Tls {
        acceptor: TlsAcceptor::from(Arc::new(config)),
        fingerprint,
    })
}
