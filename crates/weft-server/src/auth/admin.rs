//! Access to the admin interface, which has its own token.

use super::compare::{TokenHash, bearer};
use super::guesses::Guesses;
use crate::live::Live;
use crate::problem::Problem;
use axum::http::{HeaderMap, StatusCode};
use std::net::IpAddr;
use std::sync::Arc;
use weft_units::Instant;

/// Access control of the admin interface. It counts guesses separately from those of the
/// server's token, because holders of that token must not guess this one either.
#[derive(Clone, Default)]
pub(crate) struct AdminGate {
    token: Live<Option<TokenHash>>,
    guesses: Arc<Guesses>,
}

impl AdminGate {
    pub(crate) fn new(token: Option<&str>) -> AdminGate {
        AdminGate {
            token: Live::new(token.map(TokenHash::of)),
            guesses: Arc::default(),
        }
    }

    /// Replaces the token; `None` closes the interface.
    pub(crate) fn set_token(&self, token: Option<&str>) {
        self.token.set(token.map(TokenHash::of));
    }

    /// Checks whether a request with these headers from this address is admitted. Cookies
    /// are ignored.
    pub(crate) async fn check(
        &self,
        (now, from): (Instant, Option<IpAddr>),
        headers: &HeaderMap,
    ) -> Result<(), Problem> {
        let token = *self.token.get();
        let token = token.ok_or_else(closed)?;
        let given = bearer(headers).ok_or_else(missing)?;
        self.guesses.wait(now, from).await?;
        if !token.is_of(given) {
            return Err(wrong());
        }
        self.guesses.trust(now, from);
        Ok(())
    }
}

fn closed() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "This server has no admin interface.",
        "Start it with --admin-token-file FILE, or use `weft rooms` on its machine.",
    )
    .of_kind("no_admin")
}

fn missing() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "The admin interface requires its token.",
        "Send the content of the file of --admin-token-file as `Authorization: Bearer`.",
    )
    .of_kind("admin_token_missing")
}

fn wrong() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "This is not the token of the admin interface.",
        "Send the content of the file of --admin-token-file; the server's other tokens do not open it.",
    )
    .of_kind("admin_token_wrong")
}
