mod grant;

use crate::problem::Problem;
use aws_lc_rs::{constant_time, digest};
use axum::http::{HeaderMap, StatusCode, header};
use grant::Rejected;
pub use grant::{Grant, May, TokenId, TokenKey};
use std::time::SystemTime;

/// The cookie that carries the token for the page, which opens streams and
/// sends requests without headers of its own.
const COOKIE: &str = "weft_token";

/// What a request wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish<'a> {
    /// This, in this room.
    In(&'a str, May),
    /// To see what operators see.
    Figures,
}

/// What somebody may do who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// All that there is: the server's own token was shown, or it has none.
    Everywhere,
    /// What a signed token grants.
    Granted(Grant),
}

/// Who may come in: whoever shows the operator's token, of which only the hash
/// is kept, or one that was signed with the key. Everybody, if there is neither.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    token: Option<digest::Digest>,
    key: Option<TokenKey>,
}

impl Gate {
    pub(crate) fn new(token: Option<&str>, key: Option<TokenKey>) -> Gate {
        let token = token.map(hash);
        Gate { token, key }
    }

    /// Whether a request with these headers may go on.
    pub(crate) fn check(&self, headers: &HeaderMap, wish: Wish<'_>) -> Result<Access, Problem> {
        if self.is_open() {
            return Ok(Access::Everywhere);
        }
        let given = bearer(headers).or_else(|| cookie(headers));
        let grant = match self.read(given.ok_or_else(missing)?) {
            Ok(Access::Granted(grant)) => grant,
            Ok(Access::Everywhere) => return Ok(Access::Everywhere),
            Err(Rejected::Expired) => return Err(expired()),
            Err(Rejected::NotOurs) => return Err(wrong()),
        };
        match wish {
            Wish::In(room, _) if room != grant.room() => Err(other_room(grant.room(), room)),
            Wish::In(_, may) if may > grant.may => Err(watch_only()),
            Wish::Figures => Err(other_room(grant.room(), "the server's figures")),
            Wish::In(..) => Ok(Access::Granted(grant)),
        }
    }

    /// A token for a guest of somebody who was let in: no more and no longer
    /// than they may themselves. None where everybody may come in.
    pub(crate) fn invite(&self, host: &Access, wanted: Grant) -> Result<Option<String>, Problem> {
        if self.is_open() {
            return Ok(None);
        }
        let key = self.key.as_ref().ok_or_else(no_key)?;
        let grant = match host {
            Access::Everywhere => wanted,
            Access::Granted(own) => own.invite(&wanted).ok_or_else(no_descent)?,
        };
        Ok(Some(key.sign(&grant)))
    }

    /// The `Set-Cookie` header for a page that was opened with `?token=`, if
    /// this server gave it. One whose time is over is, so that its bearer is
    /// told that.
    pub(crate) fn cookie_for(&self, given: &str, secure: bool) -> Option<String> {
        // A right token that cannot stand in a cookie is for other clients.
        let plain = given
            .bytes()
            .all(|b| b.is_ascii_graphic() && !b";,\"\\".contains(&b));
        let known = plain && !matches!(self.read(given), Err(Rejected::NotOurs));
        known.then(|| {
            let secure = if secure { "; Secure" } else { "" };
            format!("{COOKIE}={given}; Path=/; HttpOnly; SameSite=Strict{secure}")
        })
    }

    /// Whether there is no token to ask for.
    pub(crate) fn is_open(&self) -> bool {
        self.token.is_none() && self.key.is_none()
    }

    fn read(&self, given: &str) -> Result<Access, Rejected> {
        if self
            .token
            .as_ref()
            .is_some_and(|wanted| same(wanted, given))
        {
            return Ok(Access::Everywhere);
        }
        let key = self.key.as_ref().ok_or(Rejected::NotOurs)?;
        key.verify(given, SystemTime::now()).map(Access::Granted)
    }
}

fn missing() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "This server asks for a token.",
        "Open the link with ?token=… that you were given; other clients send it as `Authorization: Bearer`.",
    )
    .of_kind("token_missing")
}

fn wrong() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "The token is not the one that this server asks for.",
        "Check that it was copied whole, or ask for another one.",
    )
    .of_kind("token_wrong")
}

fn expired() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "The time of this token is over.",
        "Ask for another one from whoever invited you.",
    )
    .of_kind("token_expired")
}

fn other_room(good_for: &str, wanted: &str) -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        format!("The token is for the room '{good_for}', not for {wanted}."),
        "Open the link that you were given for what you want to see.",
    )
    .of_kind("token_other_room")
}

fn watch_only() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "The token is for watching: it does not let you publish.",
        "Join without camera and microphone, or ask for a token to take part.",
    )
    .of_kind("token_watch_only")
}

fn no_key() -> Problem {
    Problem::new(
        StatusCode::CONFLICT,
        "This server has no key to sign invitations with.",
        "Start it with --token-key FILE, or tell your guests the token that you have.",
    )
    .of_kind("no_token_key")
}

fn no_descent() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "The token was passed on too often to invite others with.",
        "Ask somebody for an invitation who was invited earlier.",
    )
    .of_kind("token_invites_nobody")
}

fn hash(token: &str) -> digest::Digest {
    digest::digest(&digest::SHA256, token.as_bytes())
}

/// Hashes first, so that the time tells neither content nor length.
fn same(wanted: &digest::Digest, given: &str) -> bool {
    constant_time::verify_slices_are_equal(wanted.as_ref(), hash(given).as_ref()).is_ok()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let values = headers.get_all(header::COOKIE).into_iter();
    let mut pairs = values
        .filter_map(|v| v.to_str().ok())
        .flat_map(|v| v.split(';'));
    pairs.find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        (name == COOKIE).then_some(value)
    })
}
