//! Tokens for one room and a limited time, signed with a key of the server.

use crate::error::ServerError;
use crate::private_file;
use crate::secret::unguessable;
use aws_lc_rs::{digest, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use weft_rooms::JoinError;

/// Minimum length of a key: the length of the hash (RFC 7518 section 3.2).
const LEAST_KEY: usize = 32;

/// Permission in a room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum May {
    /// Enter the room and play publications.
    Watch,
    /// Also publish.
    TakePart,
    /// Also moderate.
    Moderate,
}

/// Maximum number of ancestors of a token. Chosen by us: guests can invite
/// guests, and a token stays short enough for a URL.
const LONGEST_DESCENT: usize = 4;
/// Maximum length of a token's id, in characters. Chosen by us; our own ids
/// have [`ID_DIGITS`].
const LONGEST_ID: usize = 64;
/// Hexadecimal digits of our ids: 64 bits, so that two never collide. An id
/// gives no access.
const ID_DIGITS: usize = 16;

/// Public name of a signed token: its `jti` (RFC 7519 section 4.1.7), or the start of a
/// hash for a token without one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct TokenId(String);

impl TokenId {
    fn fresh() -> TokenId {
        TokenId(unguessable()[..ID_DIGITS].to_owned())
    }

    /// Id of a token without one: a hash of everything except its signature.
    fn of_signed(signed: &str) -> TokenId {
        let hash = digest::digest(&digest::SHA256, signed.as_bytes());
        let digits = hash.as_ref().iter().map(|b| format!("{b:02x}"));
        TokenId(digits.collect::<String>()[..ID_DIGITS].to_owned())
    }

    /// Whether this id has the form of those from [`TokenKey::sign`]: other programs may
    /// sign tokens with ids of any form.
    pub(crate) fn is_ours(&self) -> bool {
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        self.0.len() == ID_DIGITS && self.0.bytes().all(is_digit)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TokenId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<TokenId, &'static str> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.:".contains(&b);
        match (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(plain) {
            true => Ok(TokenId(text)),
            false => Err("a token's id has 1 to 64 letters, digits, '-', '_', '.' or ':'"),
        }
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Permission of a token: enter one room, until a time. Participants who are in
/// the room at that time can stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    room: String,
    /// Permission in the room.
    pub may: May,
    /// End of admission, to the second.
    pub until: SystemTime,
    id: TokenId,
    /// Ancestors: tokens of the inviting participants, the first one first.
    via: Vec<TokenId>,
}

impl Grant {
    /// Permission to enter this room, with a new id.
    ///
    /// # Errors
    /// [`JoinError::BadRoomName`] if the name is invalid.
    pub fn new(room: &str, may: May, until: SystemTime) -> Result<Grant, JoinError> {
        Ok(Grant {
            room: weft_rooms::room_name(room)?,
            may,
            until,
            id: TokenId::fresh(),
            via: Vec::new(),
        })
    }

    /// Name of the room as in its URL.
    #[must_use]
    pub fn room(&self) -> &str {
        &self.room
    }

    /// Id of the token.
    #[must_use]
    pub fn id(&self) -> &TokenId {
        &self.id
    }

    /// Ids of the token and its ancestors: limits and revocation of each of
    /// them apply to it.
    pub(crate) fn line(&self) -> impl Iterator<Item = &TokenId> {
        self.via.iter().chain([&self.id])
    }

    /// Whether it is the token with this id, or a descendant of it.
    pub(crate) fn descends_from(&self, id: &TokenId) -> bool {
        self.line().any(|own| own == id)
    }

    /// Permission for a guest, at most as far and as long as this one. `None`
    /// if the token has too many ancestors.
    pub(crate) fn invite(&self, wanted: &Grant) -> Option<Grant> {
        let via: Vec<TokenId> = self.line().cloned().collect();
        (via.len() <= LONGEST_DESCENT).then(|| Grant {
            room: self.room.clone(),
            may: self.may.min(wanted.may),
            until: self.until.min(wanted.until),
            id: wanted.id.clone(),
            via,
        })
    }
}

/// Claims of a token (RFC 7519 section 4).
#[derive(Serialize, Deserialize)]
struct Claims {
    room: String,
    may: May,
    /// Seconds since 1970.
    exp: u64,
    /// Missing in tokens of earlier versions; other programs that use our key may write
    /// any value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jti: Option<String>,
    /// Ancestors of the token; a private claim.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    via: Vec<TokenId>,
}

/// Signature header of a token (RFC 7515 section 4).
#[derive(Serialize, Deserialize)]
struct Header {
    alg: Cow<'static, str>,
}

impl Header {
    const OURS: Header = Header {
        alg: Cow::Borrowed("HS256"),
    };
}

/// Reason why a token is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rejected {
    /// It is not signed with this key.
    NotOurs,
    /// It is signed, but expired.
    Expired,
    /// It is signed, but revoked.
    Revoked,
}

/// Signing key of tokens. Anyone who has it can grant access.
#[derive(Clone)]
pub struct TokenKey(String);

impl TokenKey {
    /// Reads a key from a file: a line of at least 32 characters.
    ///
    /// # Errors
    /// If the file cannot be read, or the key is too short.
    pub fn read(path: &Path) -> Result<TokenKey, ServerError> {
        let unreadable = |reason: String| ServerError::KeyUnreadable {
            path: path.to_owned(),
            reason,
        };
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(e.to_string()))?;
        let key = text.trim();
        match key.len() < LEAST_KEY {
            true => Err(unreadable(format!(
                "it has fewer than {LEAST_KEY} characters"
            ))),
            false => Ok(TokenKey(key.to_owned())),
        }
    }

    /// Reads a key, or creates one and stores it for later starts.
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

    /// Creates a new key of 256 bits.
    fn made() -> TokenKey {
        TokenKey(unguessable() + &unguessable())
    }

    /// Hash of the key.
    pub(super) fn mark(&self) -> Vec<u8> {
        let hash = digest::digest(&digest::SHA256, self.0.as_bytes());
        hash.as_ref().to_vec()
    }

    /// Signs a token with this grant: a JWT with HMAC and SHA-256 (RFC 7515
    /// section 3.1, RFC 7519).
    #[must_use]
    pub fn sign(&self, grant: &Grant) -> String {
        let exp = grant.until.duration_since(UNIX_EPOCH);
        let claims = Claims {
            room: grant.room.clone(),
            may: grant.may,
            exp: exp.unwrap_or_default().as_secs(),
            jti: Some(grant.id.0.clone()),
            via: grant.via.clone(),
        };
        let signed = format!("{}.{}", written(&Header::OURS), written(&claims));
        let tag = hmac::sign(&self.hmac(), signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag))
    }

    /// Returns the permission of a token at this time.
    pub(crate) fn verify(&self, token: &str, now: SystemTime) -> Result<Grant, Rejected> {
        let grant = self.open(token)?;
        match now < grant.until {
            true => Ok(grant),
            false => Err(Rejected::Expired),
        }
    }

    /// Returns the permission of a token, even if it has expired. Verifies the
    /// signature before it parses any part.
    pub(crate) fn open(&self, token: &str) -> Result<Grant, Rejected> {
        let (signed, tag) = token.rsplit_once('.').ok_or(Rejected::NotOurs)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| Rejected::NotOurs)?;
        hmac::verify(&self.hmac(), signed.as_bytes(), &tag).map_err(|_| Rejected::NotOurs)?;
        let (header, claims) = signed.split_once('.').ok_or(Rejected::NotOurs)?;
        let Header { alg } = read(header)?;
        if alg != Header::OURS.alg {
            return Err(Rejected::NotOurs);
        }
        let Claims {
            room,
            may,
            exp,
            jti,
            via,
        } = read(claims)?;
        let until = UNIX_EPOCH.checked_add(Duration::from_secs(exp));
        let until = until.ok_or(Rejected::NotOurs)?;
        Ok(Grant {
            room: weft_rooms::room_name(&room).map_err(|_| Rejected::NotOurs)?,
            may,
            until,
            id: jti
                .and_then(|jti| TokenId::try_from(jti).ok())
                .unwrap_or_else(|| TokenId::of_signed(signed)),
            via,
        })
    }

    fn hmac(&self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, self.0.as_bytes())
    }
}

/// Part of a token: JSON in base64url.
fn written(part: &impl Serialize) -> String {
    // Strings and numbers always serialise.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(part).unwrap_or_default())
}

fn read<T: DeserializeOwned>(part: &str) -> Result<T, Rejected> {
    let json = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| Rejected::NotOurs)?;
    serde_json::from_slice(&json).map_err(|_| Rejected::NotOurs)
}

/// Hides the key.
impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey")
    }
}

#[cfg(test)]
mod tests;
