//! TURN servers that the user configures, or that a room or a WHIP or WHEP server offers.

use std::fmt;
use std::str::FromStr;

use percent_encoding::percent_decode_str;
use serde::Deserialize;
use weft_units::printable;

/// Maximum number of servers read from a list. Chosen by us: browsers warn about five or
/// more.
pub(crate) const MAX_SERVERS: usize = 4;

/// Maximum length of a name, user name or password, in octets (RFC 1035 section 3.1; RFC
/// 8489 section 14.3 allows 509 for user names).
const MAX_TEXT: usize = 509;

/// Transport of messages between us and a TURN server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnTransport {
    /// UDP.
    Udp,
    /// TCP.
    Tcp,
    /// TLS over TCP.
    Tls,
}

impl TurnTransport {
    /// Returns the display name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TurnTransport::Udp => "UDP",
            TurnTransport::Tcp => "TCP",
            TurnTransport::Tls => "TLS",
        }
    }
}

/// TURN server with its credentials (RFC 7065, RFC 8656).
#[derive(Clone, PartialEq, Eq)]
pub struct TurnServer {
    /// Host name or address.
    pub host: String,
    /// Port.
    pub port: u16,
    /// Transport of messages to it.
    pub transport: TurnTransport,
    /// User name.
    pub username: String,
    /// Password.
    pub password: String,
}

/// Error: the address of a TURN server is unusable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a TURN server with its credentials; write it like \
     turn:USER:PASSWORD@turn.example:3478?transport=tcp, or turns:… for TLS"
)]
pub struct TurnServerError(String);

impl TurnServer {
    /// Parses the server of a URI without credentials; `None` if it is not a TURN URI.
    fn new(uri: &str, username: &str, password: &str) -> Option<TurnServer> {
        let (scheme, rest) = uri.split_once(':')?;
        let is_tls = match scheme.to_ascii_lowercase().as_str() {
            "turn" => false,
            "turns" => true,
            _ => return None,
        };
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let transport = match (is_tls, query.strip_prefix("transport=")) {
            (false, None) if query.is_empty() => TurnTransport::Udp,
            (false, Some("udp")) => TurnTransport::Udp,
            (false, Some("tcp")) => TurnTransport::Tcp,
            (true, None) if query.is_empty() => TurnTransport::Tls,
            (true, Some("tcp")) => TurnTransport::Tls,
            _ => return None,
        };
        let after_host = place.rfind(']').map_or(0, |bracket| bracket + 1);
        let (host, port) = match place[after_host..].rfind(':') {
            Some(colon) => {
                let (host, port) = place.split_at(after_host + colon);
                (host, port[1..].parse().ok().filter(|port| *port != 0)?)
            }
            // RFC 7065 section 3.2.
            None => (place, if is_tls { 5349 } else { 3478 }),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-._:".contains(c);
        let is_host = !host.is_empty() && host.chars().all(allowed);
        let texts = [host, username, password];
        let fits = texts.iter().all(|text| text.len() <= MAX_TEXT);
        (is_host && fits && !username.is_empty()).then(|| TurnServer {
            host: host.to_owned(),
            port,
            transport,
            username: username.to_owned(),
            password: password.to_owned(),
        })
    }

    /// Returns the servers of a `Link` header (RFC 9725 section 4.6, RFC 8288 section 3).
    /// Ignores everything but TURN servers with credentials.
    pub(crate) fn of_link_header(header: &str) -> Vec<TurnServer> {
        let mut servers = Vec::new();
        for link in split_outside_quotes(header, ',') {
            let mut parts = split_outside_quotes(link, ';').into_iter();
            let uri = parts.next().unwrap_or_default().trim();
            let Some(uri) = uri.strip_prefix('<').and_then(|uri| uri.strip_suffix('>')) else {
                continue;
            };
            let parameters: Vec<(&str, String)> = parts.filter_map(parameter).collect();
            let value = |name: &str| {
                let named = parameters
                    .iter()
                    .find(|(n, _)| n.eq_ignore_ascii_case(name));
                named.map_or("", |(_, value)| value.as_str())
            };
            if !value("rel").eq_ignore_ascii_case("ice-server") {
                continue;
            }
            let server = TurnServer::new(uri, value("username"), value("credential"));
            servers.extend(server);
        }
        servers.truncate(MAX_SERVERS);
        servers
    }

    /// Returns the servers of a room's list, which has the form of `RTCPeerConnection`.
    pub(crate) fn of_room(list: &[RoomIceServer]) -> Vec<TurnServer> {
        let servers = list.iter().flat_map(|server| {
            let urls = match &server.urls {
                Urls::One(url) => std::slice::from_ref(url),
                Urls::Many(urls) => urls.as_slice(),
            };
            let made =
                move |url: &String| TurnServer::new(url, &server.username, &server.credential);
            urls.iter().filter_map(made)
        });
        servers.take(MAX_SERVERS).collect()
    }
}

/// ICE server in a room's messages.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct RoomIceServer {
    urls: Urls,
    #[serde(default)]
    username: String,
    #[serde(default)]
    credential: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Urls {
    One(String),
    Many(Vec<String>),
}

/// Splits at separators outside quoted strings.
fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if letter == separator && !is_quoted => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Parses a parameter of a link; returns its value without quotes.
fn parameter(text: &str) -> Option<(&str, String)> {
    let (name, value) = text.split_once('=')?;
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
    let value = match quoted {
        None => value.to_owned(),
        Some(quoted) => {
            let mut letters = quoted.chars();
            let mut plain = String::new();
            while let Some(letter) = letters.next() {
                plain.extend(if letter == '\\' {
                    letters.next()
                } else {
                    Some(letter)
                });
            }
            plain
        }
    };
    Some((name.trim(), value))
}

fn decoded(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.ok().map(|text| text.into_owned())
}

/// Parses the form of an option: a URI with the credentials before its host. Both may be
/// percent-encoded, and a user name may contain colons.
impl FromStr for TurnServer {
    type Err = TurnServerError;

    fn from_str(text: &str) -> Result<TurnServer, TurnServerError> {
        let read = || {
            let (scheme, rest) = text.split_once(':')?;
            let (login, place) = rest.rsplit_once('@')?;
            let (username, password) = login.rsplit_once(':')?;
            let uri = format!("{scheme}:{place}");
            TurnServer::new(&uri, &decoded(username)?, &decoded(password)?)
        };
        // Omits a possible password.
        let shown = text.rsplit_once('@').map_or(text, |(_, place)| place);
        read().ok_or_else(|| TurnServerError(printable(shown).to_string()))
    }
}

impl fmt::Display for TurnServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TurnServer { host, port, .. } = self;
        match host.contains(':') {
            true => write!(f, "[{host}]:{port}"),
            false => write!(f, "{host}:{port}"),
        }?;
        write!(f, " over {}", self.transport.name())
    }
}

/// Omits the credentials.
impl fmt::Debug for TurnServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TurnServer({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(host: &str, port: u16, transport: TurnTransport) -> TurnServer {
        TurnServer {
            host: host.to_owned(),
            port,
            transport,
            username: "1700:kim".to_owned(),
            password: "a@b=".to_owned(),
        }
    }

    #[test]
    fn an_option_has_the_credentials_before_the_host() {
        for (text, expected) in [
            (
                "turn:1700:kim:a@b=@h",
                server("h", 3478, TurnTransport::Udp),
            ),
            (
                "turn:1700%3Akim:a%40b=@h:5?transport=tcp",
                server("h", 5, TurnTransport::Tcp),
            ),
            (
                "TURNS:1700:kim:a@b=@[::1]",
                server("::1", 5349, TurnTransport::Tls),
            ),
            (
                "turns:1700:kim:a@b=@[::1]:443?transport=tcp",
                server("::1", 443, TurnTransport::Tls),
            ),
        ] {
            assert_eq!(text.parse(), Ok(expected), "{text}");
        }
        for text in [
            "",
            "turn:h",
            "turn:u@h",
            "stun:u:p@h",
            "turn:u:p@",
            "turn:u:p@h:0",
            "turn:u:p@h:x",
            "turn:u:p@h?transport=sctp",
            "turns:u:p@h?transport=udp",
            "turn::p@h",
            "u:p@h:1",
        ] {
            let error = text.parse::<TurnServer>().expect_err(text).to_string();
            assert!(error.contains("turn:USER:PASSWORD@"), "{error}");
        }
        let error = "turn:me:hunter2@h:0"
            .parse::<TurnServer>()
            .expect_err("a port");
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn link_headers_and_rooms_name_the_same_servers() {
        let header = "<stun:h>; rel=\"ice-server\", <turn:h:5?transport=tcp>; rel=\"ice-server\"; \
            username=\"1700:kim\"; credential=\"a@b=\"; credential-type=\"password\", \
            </next>; rel=next, <turns:h>; rel=ice-server; username=\"1700:kim\"; credential=\"a@b=\"";
        let expected = [
            server("h", 5, TurnTransport::Tcp),
            server("h", 5349, TurnTransport::Tls),
        ];
        assert_eq!(TurnServer::of_link_header(header), expected);
        let quoted = "<turn:h>; rel=\"ice-server\"; username=\"a\\\",b;\"; credential=\"c\"";
        let found = TurnServer::of_link_header(quoted);
        assert_eq!(found.first().map(|s| s.username.as_str()), Some("a\",b;"));
        let room = r#"[{"urls":"stun:h"},{"urls":["turn:h:5?transport=tcp","turns:h"],
            "username":"1700:kim","credential":"a@b="}]"#;
        let room: Vec<RoomIceServer> = serde_json::from_str(room).expect("a list");
        assert_eq!(TurnServer::of_room(&room), expected);
    }

    #[test]
    fn a_long_list_is_cut_and_nonsense_is_ignored() {
        let one = "<turn:h>; rel=\"ice-server\"; username=\"u\"; credential=\"p\"";
        let many = vec![one; 1000].join(",");
        assert_eq!(TurnServer::of_link_header(&many).len(), MAX_SERVERS);
        for header in [
            "",
            ",",
            ";",
            "<",
            "<>",
            "<turn:h",
            "\"",
            "<turn:h>;rel=\"ice-server",
            "\\",
        ] {
            assert_eq!(TurnServer::of_link_header(header), [], "{header}");
        }
        let long = one.replace("\"u\"", &format!("\"{}\"", "u".repeat(MAX_TEXT + 1)));
        assert_eq!(TurnServer::of_link_header(&long), []);
    }
}
