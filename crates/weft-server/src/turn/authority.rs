//! Credentials and nonces: a client is identified by a name with an expiry and its
//! password, and nothing is stored about strangers.

use crate::ice_servers::password_of;
use crate::secret::unguessable;
use aws_lc_rs::{constant_time, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use turn_types::stun::message::{IntegrityAlgorithm, IntegrityKey, LongTermKeyCredentials};

/// Realm (RFC 8489 section 9.2).
pub(super) const REALM: &str = "weft";
/// Minimum validity of a nonce; at most twice as long. Chosen by us: a new one costs a
/// client a round trip.
const NONCE: Duration = Duration::from_secs(3600);
/// Length in bytes of the part of a nonce's signature that is sent: 96 bits, which nobody
/// can guess while it is valid.
const NONCE_LENGTH: usize = 12;

/// Check of credentials and nonces.
pub(super) struct Authority {
    secret: String,
    nonces: hmac::Key,
    start: Instant,
}

/// Time of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub(super) instant: Instant,
    pub(super) wall: SystemTime,
}

impl Now {
    pub(super) fn machine() -> Now {
        Now {
            instant: tokio::time::Instant::now().into_std(),
            wall: SystemTime::now(),
        }
    }
}

/// Reason why a name has no password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadName {
    /// It has expired.
    Expired,
    /// This server did not create it.
    Foreign,
}

impl Authority {
    pub(super) fn new(secret: String) -> Authority {
        Authority {
            secret,
            nonces: hmac::Key::new(hmac::HMAC_SHA256, unguessable().as_bytes()),
            start: Now::machine().instant,
        }
    }

    /// Key of a name that is still valid.
    pub(super) fn key(&self, name: &str, now: SystemTime) -> Result<IntegrityKey, BadName> {
        let until = name.split_once(':').map(|(until, _)| until.parse::<u64>());
        let Some(Ok(until)) = until else {
            return Err(BadName::Foreign);
        };
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        if now.as_secs() >= until {
            return Err(BadName::Expired);
        }
        let password = password_of(&self.secret, name);
        let credentials = LongTermKeyCredentials::new(name.to_owned(), password, REALM.to_owned());
        Ok(credentials.make_key(IntegrityAlgorithm::Sha1))
    }

    /// Nonce for this client.
    pub(super) fn nonce(&self, client: SocketAddr, now: Instant) -> String {
        self.nonce_of(client, self.period(now))
    }

    /// Whether the nonce is one for this client that is still valid.
    pub(super) fn accepts(&self, nonce: &str, client: SocketAddr, now: Instant) -> bool {
        let period = self.period(now);
        [Some(period), period.checked_sub(1)]
            .into_iter()
            .flatten()
            .any(|period| {
                let valid = self.nonce_of(client, period);
                constant_time::verify_slices_are_equal(valid.as_bytes(), nonce.as_bytes()).is_ok()
            })
    }

    fn period(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.start).as_secs() / NONCE.as_secs()
    }

    fn nonce_of(&self, client: SocketAddr, period: u64) -> String {
        let signature = hmac::sign(&self.nonces, format!("{client} {period}").as_bytes());
        STANDARD_NO_PAD.encode(&signature.as_ref()[..NONCE_LENGTH])
    }
}
