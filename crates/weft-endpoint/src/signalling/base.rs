//! Server of a cluster to which requests are sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::SignallingError;

/// Consecutive failures of a server to which the configured one has redirected, after
/// which requests return to the configured one. Chosen by us: a single failure may be a
/// broken connection.
const FAILURES: u32 = 2;

/// URL of the configured server, or of another one of its cluster to which it has
/// redirected.
#[derive(Clone)]
pub(super) struct Base {
    named: String,
    /// Shared by all clients of the call.
    other: Arc<Mutex<Option<Other>>>,
}

struct Other {
    url: String,
    failures: u32,
}

impl Base {
    pub fn new(named: String) -> Base {
        Base {
            named,
            other: Arc::default(),
        }
    }

    fn other(&self) -> MutexGuard<'_, Option<Other>> {
        self.other.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn url(&self) -> String {
        let other = self.other();
        let other = other.as_ref().map(|other| other.url.clone());
        other.unwrap_or_else(|| self.named.clone())
    }

    /// Returns the base of another server of the cluster, at the root of this URL. Its
    /// requests return to the configured server when it fails.
    ///
    /// # Errors
    /// Errors of [`Base::follow`].
    pub fn elsewhere(&self, url: &str) -> Result<Base, SignallingError> {
        let base = Base::new(self.url());
        base.follow_to_root(url)?;
        let named = self.named.clone();
        Ok(Base { named, ..base })
    }

    /// Returns to the configured server.
    pub fn reset(&self) {
        *self.other() = None;
    }

    /// Sends requests to another server of the cluster from now on. The token goes there,
    /// so a server reached over TLS may redirect only to servers with TLS.
    ///
    /// # Errors
    /// [`SignallingError::OtherServer`] if the redirect is not followed.
    pub fn follow(&self, url: &str) -> Result<(), SignallingError> {
        let is_secure = |url: &str| url.starts_with("https://");
        let is_http = is_secure(url) || url.starts_with("http://");
        if !is_http || is_secure(&self.url()) && !is_secure(url) {
            return Err(SignallingError::OtherServer {
                url: self.url(),
                to: url.to_owned(),
            });
        }
        *self.other() = Some(Other {
            url: url.split(['?', '#']).next().unwrap_or_default().to_owned(),
            failures: 0,
        });
        Ok(())
    }

    /// Follows a redirect to the root of another server.
    ///
    /// # Errors
    /// Errors of [`Base::follow`].
    pub fn follow_to_root(&self, url: &str) -> Result<(), SignallingError> {
        self.follow(origin(url))
    }

    /// Records whether the server has answered.
    pub fn answered(&self, does: bool) {
        let mut other = self.other();
        if let Some(known) = other.as_mut() {
            known.failures = if does { 0 } else { known.failures + 1 };
            if known.failures >= FAILURES {
                *other = None;
            }
        }
    }
}

/// Returns scheme, host and port, as written in a URL with a scheme.
pub(super) fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |i| i + 3);
    let path = url[host..].find(['/', '?', '#']);
    &url[..path.map_or(url.len(), |i| host + i)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_never_leaves_tls() {
        let base = Base::new("https://one.example".to_owned());
        assert!(base.follow_to_root("http://two.example/whip/r").is_err());
        assert!(base.follow_to_root("ftp://two.example").is_err());
        assert_eq!(base.url(), "https://one.example");
        base.follow_to_root("https://two.example:8443/r?stay")
            .expect("TLS");
        assert_eq!(base.url(), "https://two.example:8443");
    }

    #[test]
    fn a_server_that_fails_twice_is_left_for_the_named_one() {
        let base = Base::new("http://one.example".to_owned());
        base.follow_to_root("http://two.example/").expect("HTTP");
        base.answered(false);
        base.answered(true);
        base.answered(false);
        assert_eq!(base.url(), "http://two.example");
        base.answered(false);
        assert_eq!(base.url(), "http://one.example");
    }
}
