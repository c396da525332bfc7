//! Reloads the certificate of a running server when its files change.

use crate::error::ServerError;
use crate::log::{Log, ServerEvent};
use crate::tls::{Source, Tls};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio_rustls::TlsAcceptor;

/// Interval of checks for changed files. Chosen by us: a check is two system
/// calls, and a certificate is renewed days before the old one ends.
pub(crate) const LOOK: Duration = Duration::from_secs(2);

/// Certificate for new connections.
pub(crate) struct Certificate {
    source: Source,
    acceptor: RwLock<TlsAcceptor>,
    /// State of the files when they were read, and at the last check.
    seen: Mutex<Seen>,
    log: Log,
}

#[derive(Default)]
struct Seen {
    read: Option<State>,
    last: Option<State>,
}

/// Identity of both files, which changes when one is replaced, also behind a
/// symbolic link (certbot, Kubernetes).
type State = [Option<Identity>; 2];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl Certificate {
    /// Reads the certificate for the first time.
    pub(crate) fn read(source: Source, log: Log) -> Result<Option<(Arc<Self>, Tls)>, ServerError> {
        let now = state(&source);
        let Some(tls) = source.read()? else {
            return Ok(None);
        };
        let seen = Seen {
            read: now,
            last: now,
        };
        let certificate = Certificate {
            source,
            acceptor: RwLock::new(tls.acceptor.clone()),
            seen: Mutex::new(seen),
            log,
        };
        Ok(Some((Arc::new(certificate), tls)))
    }

    /// Returns the acceptor for new connections.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let acceptor = self.acceptor.read();
        acceptor.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks the files, and reloads them when they have changed and then stayed the same
    /// for a while: certificate and key are replaced one after the other.
    pub(crate) fn look(&self) {
        let now = state(&self.source);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = now != seen.read;
        let settled = now == seen.last;
        seen.last = now;
        drop(seen);
        if changed && settled {
            self.read_again();
        }
    }

    /// Reloads the files now. If they cannot be used, the previous certificate
    /// stays.
    pub(crate) fn read_again(&self) {
        if !self.source.lasts() {
            return;
        }
        let now = state(&self.source);
        match self.source.read() {
            Ok(Some(tls)) => {
                *self
                    .acceptor
                    .write()
                    .unwrap_or_else(PoisonError::into_inner) = tls.acceptor;
                self.log.emit(|| ServerEvent::CertificateRead {
                    fingerprint: tls.fingerprint,
                });
            }
            Ok(None) => {}
            Err(error) => self.log.emit(|| ServerEvent::CertificateNotRead {
                error: error.to_string(),
            }),
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = Seen {
            read: now,
            last: now,
        };
    }
}

fn state(source: &Source) -> Option<State> {
    let files = source.files()?;
    Some(files.map(identity))
}

/// Identity of the file behind all symbolic links; `None` if there is no file.
fn identity(file: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(file).ok()?;
    Some(Identity {
        device: found.dev(),
        inode: found.ino(),
        length: found.len(),
        modified: found.modified().ok(),
    })
}
