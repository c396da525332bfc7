mod admin;
mod compare;
mod cookie;
mod grant;
mod guesses;
mod pass;
mod revoked;

use crate::live::Live;
use crate::problem::Problem;
pub(crate) use admin::AdminGate;
use aws_lc_rs::digest;
use axum::http::{HeaderMap, StatusCode};
use compare::{TokenHash, bearer};
use cookie::Cookies;
use grant::Rejected;
pub use grant::{Grant, May, TokenId, TokenKey};
use guesses::Guesses;
pub(crate) use pass::Pass;
pub(crate) use revoked::Revoked;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::SystemTime;
use weft_units::Instant;

/// Access that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequiredAccess<'a> {
    /// This permission in this room.
    In(&'a str, May),
    /// Access to the operator's statistics.
    Figures,
}

impl<'a> RequiredAccess<'a> {
    fn room(self) -> Option<&'a str> {
        match self {
            RequiredAccess::In(room, _) => Some(room),
            RequiredAccess::Figures => None,
        }
    }
}

/// Access of an admitted request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    /// Full access to a server that requires no token.
    Open,
    /// Full access with the server's own token.
    Everywhere,
    /// Access granted by a signed token.
    Granted(Grant),
}

/// Access control: admits the operator's token, of which only the hash is
/// stored, and tokens signed with the key. Without either, it admits every
/// request.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    token: Live<Option<TokenHash>>,
    key: Option<TokenKey>,
    pub(crate) revoked: Revoked,
    guesses: Arc<Guesses>,
    does_tls: bool,
}

impl Gate {
    pub(crate) fn new(token: Option<&str>, key: Option<TokenKey>, revoked: Revoked) -> Gate {
        Gate {
            token: Live::new(token.map(TokenHash::of)),
            key,
            revoked,
            guesses: Arc::default(),
            does_tls: false,
        }
    }

    /// Records whether the server itself does TLS; its cookies are then for TLS only.
    pub(crate) fn with_tls(self, does_tls: bool) -> Gate {
        Gate { does_tls, ..self }
    }

    /// Mark of the operator's token and the signing key, which are the same on all
    /// servers of a cluster. Reveals neither.
    pub(crate) fn mark(&self) -> String {
        let mut all = digest::Context::new(&digest::SHA256);
        let token = self.token.get();
        for part in [
            (*token).as_ref().map_or(&[][..], TokenHash::octets),
            &self.key.as_ref().map(TokenKey::mark).unwrap_or_default(),
        ] {
            all.update(&[u8::from(!part.is_empty())]);
            all.update(part);
        }
        let digits = all.finish();
        let digits = digits.as_ref()[..8].iter().map(|b| format!("{b:02x}"));
        digits.collect()
    }

    /// Checks whether a request with these headers from this address is
    /// admitted.
    pub(crate) async fn check(
        &self,
        (now, from): (Instant, Option<IpAddr>),
        headers: &HeaderMap,
        required: RequiredAccess<'_>,
    ) -> Result<Access, Problem> {
        if self.is_open() {
            return Ok(Access::Open);
        }
        let given = match bearer(headers) {
            Some(given) => given.to_owned(),
            None => self
                .cookies(headers)
                .token(required.room())
                .ok_or_else(missing)?,
        };
        self.check_token((now, from), &given, required).await
    }

    async fn check_token(
        &self,
        asker: (Instant, Option<IpAddr>),
        given: &str,
        required: RequiredAccess<'_>,
    ) -> Result<Access, Problem> {
        let grant = match self.read(asker, given).await? {
            Ok(Access::Granted(grant)) => grant,
            Ok(full @ (Access::Open | Access::Everywhere)) => return Ok(full),
            Err(Rejected::Expired) => return Err(expired()),
            Err(Rejected::Revoked) => return Err(revoked()),
            Err(Rejected::NotOurs) => return Err(wrong()),
        };
        match required {
            RequiredAccess::In(room, _) if room != grant.room() => {
                Err(other_room(grant.room(), room))
            }
            RequiredAccess::In(_, May::Moderate) if grant.may < May::Moderate => {
                Err(no_moderator())
            }
            RequiredAccess::In(_, may) if may > grant.may => Err(watch_only()),
            RequiredAccess::Figures => Err(other_room(grant.room(), "the server's figures")),
            RequiredAccess::In(..) => Ok(Access::Granted(grant)),
        }
    }

    /// Returns the token in the cookie of a request if it is valid.
    pub(crate) async fn valid_cookie(
        &self,
        asker: (Instant, Option<IpAddr>),
        headers: &HeaderMap,
        required: RequiredAccess<'_>,
    ) -> Option<String> {
        let given = self.cookies(headers).token(required.room());
        let given = given.filter(|_| !self.is_open())?;
        let checked = self.check_token(asker, &given, required).await;
        checked.is_ok().then_some(given)
    }

    /// Signs a token for a guest of an admitted participant, with at most the
    /// participant's permission and time. `None` if no token is required.
    pub(crate) fn invite(&self, host: &Access, wanted: Grant) -> Result<Option<String>, Problem> {
        if self.is_open() {
            return Ok(None);
        }
        let key = self.key.as_ref().ok_or_else(no_key)?;
        let grant = match host {
            Access::Open | Access::Everywhere => wanted,
            Access::Granted(own) => own.invite(&wanted).ok_or_else(no_descent)?,
        };
        Ok(Some(key.sign(&grant)))
    }

    /// Revokes a signed token, given as a whole or by its id, and all its descendants.
    /// Returns its id. An id in another form than ours must belong to a present
    /// participant: otherwise it is a typing error, or a part of a token.
    pub(crate) fn revoke(
        &self,
        given: &str,
        is_inside: impl Fn(&TokenId) -> bool,
        now: SystemTime,
    ) -> Result<TokenId, Problem> {
        let given = given.trim();
        let key = self.key.as_ref().ok_or_else(no_signed)?;
        let (id, until) = match (key.open(given), TokenId::try_from(given.to_owned())) {
            _ if self.is_operators(given) => return Err(of_the_operator()),
            (Ok(grant), _) => (grant.id().clone(), grant.until),
            (Err(_), Ok(id)) if id.is_ours() || is_inside(&id) => (id, now + revoked::LONGEST),
            (Err(_), _) => return Err(no_token()),
        };
        self.list(id, until, now)
    }

    /// Revokes the token with which a participant entered.
    pub(crate) fn revoke_id(&self, id: TokenId, now: SystemTime) -> Result<TokenId, Problem> {
        self.key.as_ref().ok_or_else(no_signed)?;
        self.list(id, now + revoked::LONGEST, now)
    }

    fn list(&self, id: TokenId, until: SystemTime, now: SystemTime) -> Result<TokenId, Problem> {
        let listed = self.revoked.add(id.clone(), until, now);
        listed.map_err(|error| not_listed(&error.to_string()))?;
        Ok(id)
    }

    /// `Set-Cookie` headers for a page that was opened with `?token=`, if this
    /// server issued the token. An expired one is also set, so that the page
    /// can say so. An empty one removes all tokens for this server.
    pub(crate) async fn cookies_for(
        &self,
        asker: (Instant, Option<IpAddr>),
        headers: &HeaderMap,
        (page, given): (Option<&str>, &str),
    ) -> Vec<String> {
        let cookies = self.cookies(headers);
        if given.is_empty() {
            return cookies.clear_all(page);
        }
        match self.read(asker, given).await {
            Ok(Err(Rejected::NotOurs)) | Err(_) => Vec::new(),
            Ok(_) => {
                let grant = self.key.as_ref().and_then(|key| key.open(given).ok());
                cookies.set(page, grant.as_ref().map(Grant::room), given)
            }
        }
    }

    fn cookies<'a>(&self, headers: &'a HeaderMap) -> Cookies<'a> {
        Cookies::new(headers, self.does_tls)
    }

    /// Whether no token is required.
    pub(crate) fn is_open(&self) -> bool {
        self.token.get().is_none() && self.key.is_none()
    }

    /// Replaces the operator's token of a server that has one: a server without a token
    /// stays open.
    pub(crate) fn set_token(&self, token: Option<&str>) {
        if let Some(token) = token.filter(|_| self.token.get().is_some()) {
            self.token.set(Some(TokenHash::of(token)));
        }
    }

    /// Whether the text is the operator's token.
    fn is_operators(&self, given: &str) -> bool {
        let token = *self.token.get();
        token.is_some_and(|token| token.is_of(given))
    }

    /// Returns the access that a token gives. A token that could be a guess of the
    /// operator's waits for its turn, or is refused unchecked.
    async fn read(
        &self,
        (now, from): (Instant, Option<IpAddr>),
        given: &str,
    ) -> Result<Result<Access, Rejected>, Problem> {
        let signed = self.read_signed(given);
        if !matches!(signed, Err(Rejected::NotOurs)) {
            return Ok(signed);
        }
        self.guesses.wait(now, from).await?;
        if self.is_operators(given) {
            self.guesses.trust(now, from);
            return Ok(Ok(Access::Everywhere));
        }
        Ok(signed)
    }

    fn read_signed(&self, given: &str) -> Result<Access, Rejected> {
        let key = self.key.as_ref().ok_or(Rejected::NotOurs)?;
        let grant = key.verify(given, SystemTime::now())?;
        match self.revoked.has(&grant) {
            true => Err(Rejected::Revoked),
            false => Ok(Access::Granted(grant)),
        }
    }
}

fn missing() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "This server requires a token.",
        "Open the link with ?token=… that you were given; other clients send it as `Authorization: Bearer`.",
    )
    .of_kind("token_missing")
}

fn wrong() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "The token is wrong for this server.",
        "Check that it was copied whole, or ask for another one.",
    )
    .of_kind("token_wrong")
}

fn expired() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "This token has expired.",
        "Ask the person who invited you for another one.",
    )
    .of_kind("token_expired")
}

/// Refusal of a revoked token.
pub(crate) fn revoked() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "This token was revoked.",
        "Ask the person who invited you for another one.",
    )
    .of_kind("token_revoked")
}

fn no_signed() -> Problem {
    let error = "This server takes no signed tokens.";
    Problem::new(
        StatusCode::CONFLICT,
        error,
        "Remove the participant, or restart it with another --token.",
    )
}

fn of_the_operator() -> Problem {
    let error = "That is the operator's own token.";
    Problem::new(
        StatusCode::CONFLICT,
        error,
        "Restart the server with another --token.",
    )
}

fn no_token() -> Problem {
    let error = "That is neither a token of this server nor the id of one.";
    Problem::new(
        StatusCode::BAD_REQUEST,
        error,
        "Copy the whole token, or its id as `weft rooms list` shows it while its holder is inside.",
    )
}

fn not_listed(why: &str) -> Problem {
    let error = format!("The token was not revoked: {why}.");
    let remedy =
        "Mend that, or replace the key of tokens and restart: that makes all of them void.";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error, remedy)
}

fn other_room(good_for: &str, wanted: &str) -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        format!("The token is for the room '{good_for}', not for {wanted}."),
        "Open the link that you were given for that room.",
    )
    .of_kind("token_other_room")
}

fn watch_only() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "The token allows watching only, not publishing.",
        "Join without camera and microphone, or ask for a token to take part.",
    )
    .of_kind("token_watch_only")
}

fn no_moderator() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "The token does not allow moderating the room.",
        "Ask the server's operator for a token with `weft token --moderate`.",
    )
    .of_kind("token_no_moderator")
}

fn no_key() -> Problem {
    Problem::new(
        StatusCode::CONFLICT,
        "This server has no key to sign invitations.",
        "Start it with --token-key FILE, or tell your guests the token that you have.",
    )
    .of_kind("no_token_key")
}

fn no_descent() -> Problem {
    Problem::new(
        StatusCode::FORBIDDEN,
        "The token was passed on too often to invite further guests.",
        "Ask a person who was invited earlier for an invitation.",
    )
    .of_kind("token_invites_nobody")
}
