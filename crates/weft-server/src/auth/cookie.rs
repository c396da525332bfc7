//! Cookies with tokens, for the page: its event streams and requests cannot set headers.

use crate::urls::escaped;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, header};
use percent_encoding::percent_decode_str;

/// Start of every cookie's name.
const COOKIE: &str = "weft_token";
/// Maximum number of rooms with tokens that a browser stores for a server; a further one
/// replaces the oldest. Chosen by us: with tokens of 500 bytes, 8 kB in each request.
const MAX_ROOMS: usize = 16;

/// Cookies of one server in a request. A browser sends the cookies of a host to all of
/// its ports, so the names contain the port. A token for one room has its own cookie,
/// which takes precedence over that for all rooms.
pub(super) struct Cookies<'a> {
    headers: &'a HeaderMap,
    is_secure: bool,
    /// Name of the cookie for all rooms, and start of the names of the others.
    everywhere: String,
}

impl<'a> Cookies<'a> {
    /// Cookies of a request, with the port of its `Host`, to a server that does TLS itself
    /// or may have a proxy that does.
    pub(super) fn new(headers: &'a HeaderMap, does_tls: bool) -> Cookies<'a> {
        let is_secure = does_tls || came_over_tls(headers);
        let host = headers.get(header::HOST).and_then(|h| h.to_str().ok());
        let host = host.and_then(|host| host.parse::<Authority>().ok());
        let default = if is_secure { 443 } else { 80 };
        let port = host.and_then(|host| host.port_u16()).unwrap_or(default);
        // With this prefix, a browser accepts a cookie only over TLS and from the host
        // itself (RFC 6265bis section 4.1.3.2): no page over plain HTTP and no other name
        // of the domain can set it.
        let prefix = if is_secure { "__Host-" } else { "" };
        Cookies {
            headers,
            is_secure,
            everywhere: format!("{prefix}{COOKIE}_{port}"),
        }
    }

    /// Token for a room, or for the server's statistics.
    pub(super) fn token(&self, room: Option<&str>) -> Option<String> {
        let of = |wanted: &str| self.pairs().find(|(name, _)| *name == wanted);
        let (_, value) = room
            .and_then(|room| of(&self.name_of(room)))
            .or_else(|| of(&self.everywhere))?;
        let token = percent_decode_str(value).decode_utf8().ok()?;
        Some(token.into_owned())
    }

    /// `Set-Cookie` headers that store a token for a room or for all rooms. The latter
    /// also remove the tokens for single rooms, including that of the `page`.
    pub(super) fn set(&self, page: Option<&str>, room: Option<&str>, token: &str) -> Vec<String> {
        let (name, mut set) = match room {
            None => (self.everywhere.clone(), self.clear_rooms(page)),
            Some(room) => {
                let name = self.name_of(room);
                let mut others: Vec<&str> = self.rooms().filter(|other| *other != name).collect();
                others.truncate((others.len() + 1).saturating_sub(MAX_ROOMS));
                (name, others.into_iter().map(|o| self.clear(o)).collect())
            }
        };
        set.push(self.line(&name, &escaped(token), ""));
        set
    }

    /// `Set-Cookie` headers that remove all tokens for this server.
    pub(super) fn clear_all(&self, page: Option<&str>) -> Vec<String> {
        let mut set = self.clear_rooms(page);
        set.push(self.clear(&self.everywhere));
        set
    }

    fn clear_rooms(&self, page: Option<&str>) -> Vec<String> {
        // A browser that followed a link from another site sends no cookies.
        let page = page.map(|room| self.name_of(room));
        let others = self.rooms().filter(|name| Some(*name) != page.as_deref());
        page.iter()
            .map(String::as_str)
            .chain(others)
            .map(|name| self.clear(name))
            .collect()
    }

    /// Names of the cookies for single rooms, oldest first.
    fn rooms(&self) -> impl Iterator<Item = &'a str> {
        self.pairs().map(|(name, _)| name).filter(|name| {
            name.strip_prefix(&self.everywhere)
                .is_some_and(|room| room.starts_with('_'))
        })
    }

    fn name_of(&self, room: &str) -> String {
        format!("{}_{}", self.everywhere, escaped(room))
    }

    fn clear(&self, name: &str) -> String {
        self.line(name, "", "; Max-Age=0")
    }

    fn line(&self, name: &str, value: &str, age: &str) -> String {
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict{secure}{age}")
    }

    fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let values = self.headers.get_all(header::COOKIE).into_iter();
        let values = values.filter_map(|value| value.to_str().ok());
        values
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
    }
}

/// Whether a proxy reports that its client uses TLS. Another client that claims
/// this only protects its own cookie from plain HTTP.
fn came_over_tls(headers: &HeaderMap) -> bool {
    let told = headers
        .get("x-forwarded-proto")
        .and_then(|v| v.to_str().ok());
    let nearest = told.and_then(|told| told.rsplit(',').next());
    nearest.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

#[cfg(test)]
mod tests;
