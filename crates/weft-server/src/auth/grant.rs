//! Tokens for one room and a time, signed with a key that the server has too.

use crate::error::ServerError;
use crate::private_file;
use crate::secret::unguessable;
use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use weft_rooms::JoinError;

/// Least length of a key: as long as the hash (RFC 7518 section 3.2).
const LEAST_KEY: usize = 32;

/// What somebody may do in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum May {
    /// Be there and play what others publish.
    Watch,
    /// Publish, too.
    TakePart,
}

/// What a token lets its bearer do: enter one room, until then. Who is in the
/// room at that time stays until they go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    room: String,
    /// What they may do there.
    pub may: May,
    /// Until when they may come in, to the second.
    pub until: SystemTime,
}

impl Grant {
    /// To enter this room.
    ///
    /// # Errors
    /// [`JoinError::BadRoomName`] if that is no name of a room.
    pub fn new(room: &str, may: May, until: SystemTime) -> Result<Grant, JoinError> {
        let room = weft_rooms::room_name(room)?;
        Ok(Grant { room, may, until })
    }

    /// The room's name as addresses have it.
    #[must_use]
    pub fn room(&self) -> &str {
        &self.room
    }
}

/// The claims of a token (RFC 7519 section 4).
#[derive(Serialize, Deserialize)]
struct Claims {
    room: String,
    may: May,
    /// Seconds since 1970.
    exp: u64,
}

/// How a token is signed (RFC 7515 section 4).
#[derive(Serialize, Deserialize)]
struct Header {
    alg: Cow<'static, str>,
}

impl Header {
    const OURS: Header = Header {
        alg: Cow::Borrowed("HS256"),
    };
}

/// Why a token lets nobody in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rejected {
    /// Not signed with this key.
    NotOurs,
    /// Signed, and its time is over.
    Expired,
}

/// What tokens are signed with: who has it can let everybody in.
#[derive(Clone)]
pub struct TokenKey(String);

impl TokenKey {
    /// Reads a key from a file: a line of at least 32 characters.
    ///
    /// # Errors
    /// If it cannot be read, or is too short.
    pub fn read(path: &Path) -> Result<TokenKey, ServerError> {
        let unreadable = |reason: String| ServerError::KeyUnreadable {
            path: path.to_owned(),
            reason,
        };
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
        let key = text.trim();
        match key.len() < LEAST_KEY {
            true => Err(unreadable(format!(
                "it has less than {LEAST_KEY} characters"
            ))),
            false => Ok(TokenKey(key.to_owned())),
        }
    }

    /// Reads a key, or makes one that later starts will find.
    ///
    /// # Errors
    /// If it cannot be read or written, or is too short.
    pub fn read_or_make(path: &Path) -> Result<TokenKey, ServerError> {
        let made = TokenKey::made();
        match private_file::create(path, &format!("{}\n", made.0)) {
            Ok(()) => Ok(made),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => TokenKey::read(path),
            Err(error) => Err(ServerError::not_kept("key of tokens", path, &error)),
        }
    }

    /// A new one, 256 bits.
    fn made() -> TokenKey {
        TokenKey(unguessable() + &unguessable())
    }

    /// A token that grants this: a JWT, signed by HMAC with SHA-256 (RFC 7515
    /// section 3.1, RFC 7519).
    #[must_use]
    pub fn sign(&self, grant: &Grant) -> String {
        let exp = grant.until.duration_since(UNIX_EPOCH);
        let claims = Claims {
            room: grant.room.clone(),
            may: grant.may,
            exp: exp.unwrap_or_default().as_secs(),
        };
        let signed = format!("{}.{}", written(&Header::OURS), written(&claims));
        let tag = hmac::sign(&self.hmac(), signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag))
    }

    /// What this token grants at this time. Nothing of it is believed, nor
    /// parsed, before its signature is known to be ours.
    pub(crate) fn verify(&self, token: &str, now: SystemTime) -> Result<Grant, Rejected> {
        let (signed, tag) = token.rsplit_once('.').ok_or(Rejected::NotOurs)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| Rejected::NotOurs)?;
        hmac::verify(&self.hmac(), signed.as_bytes(), &tag).map_err(|_| Rejected::NotOurs)?;
        let (header, claims) = signed.split_once('.').ok_or(Rejected::NotOurs)?;
        let Header { alg } = read(header)?;
        if alg != Header::OURS.alg {
            return Err(Rejected::NotOurs);
        }
        let Claims { room, may, exp } = read(claims)?;
        let until = UNIX_EPOCH.checked_add(Duration::from_secs(exp));
        let until = until.ok_or(Rejected::NotOurs)?;
        if now >= until {
            return Err(Rejected::Expired);
        }
        Grant::new(&room, may, until).map_err(|_| Rejected::NotOurs)
    }

    fn hmac(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes())
    }
}

/// A part of a token: JSON in base64url.
fn written(part: &impl Serialize) -> String {
    // Words and numbers can always be written.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(part).unwrap_or_default())
}

fn read<T: DeserializeOwned>(part: &str) -> Result<T, Rejected> {
    let json = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| Rejected::NotOurs)?;
    serde_json::from_slice(&json).map_err(|_| Rejected::NotOurs)
}

/// Nobody is told the key by accident.
impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey")
    }
}

#[cfg(test)]
mod tests;
