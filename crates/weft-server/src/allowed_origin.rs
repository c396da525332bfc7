use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use std::str::FromStr;
use thiserror::Error;

/// Origin (RFC 6454) whose pages may use WHIP, WHEP and the rooms' interface
/// from their visitors' browsers, with a bearer token and never with cookies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedOrigin(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// Every origin, `*`.
    Any,
    /// One origin in the browsers' form: lower case, without the default port
    /// of the scheme.
    One(String),
    /// All names below a domain, `https://*.weft.example[:PORT]`, in the form of policies.
    Below(String),
}

/// Invalid origin.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not an origin; write it like https://dashboard.example or http://127.0.0.1:3000, without a path, https://*.weft.example for all names below weft.example, or * for every origin"
)]
pub struct OriginError(String);

impl FromStr for AllowedOrigin {
    type Err = OriginError;

    fn from_str(text: &str) -> Result<AllowedOrigin, OriginError> {
        if text == "*" {
            return Ok(AllowedOrigin(Kind::Any));
        }
        let wrong = || OriginError(text.to_owned());
        let (scheme, authority) = text.split_once("://").ok_or_else(wrong)?;
        let own_port = match &*scheme.to_ascii_lowercase() {
            "https" => 443,
            "http" => 80,
            _ => return Err(wrong()),
        };
        let (below, authority) = match authority.strip_prefix("*.") {
            Some(domain) => ("*.", domain),
            None => ("", authority),
        };
        // A policy may have a `*` elsewhere, and commas and semicolons end it.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        if !authority.chars().all(is_plain) {
            return Err(wrong());
        }
        let parsed: Authority = authority.parse().map_err(|_| wrong())?;
        let has_port = parsed.as_str().len() > parsed.host().len();
        let port = parsed.port_u16();
        if parsed.host().is_empty() || has_port != port.is_some() {
            return Err(wrong());
        }
        let port = port.filter(|port| *port != own_port);
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        let origin = format!("{scheme}://{below}{}{port}", parsed.host());
        let origin = origin.to_ascii_lowercase();
        Ok(AllowedOrigin(match below {
            "" => Kind::One(origin),
            _ => Kind::Below(origin),
        }))
    }
}

impl AllowedOrigin {
    /// Whether this is `*`.
    pub(crate) fn is_any(&self) -> bool {
        self.0 == Kind::Any
    }

    /// The origin in the browsers' form, or `*`.
    pub(crate) fn as_str(&self) -> &str {
        match &self.0 {
            Kind::Any => "*",
            Kind::One(own) | Kind::Below(own) => own,
        }
    }

    /// Whether every page of another one is allowed, too.
    pub(crate) fn covers(&self, other: &AllowedOrigin) -> bool {
        self == other || self.has(other.as_str())
    }

    fn has(&self, origin: &str) -> bool {
        match &self.0 {
            Kind::Any => true,
            Kind::One(own) => own.eq_ignore_ascii_case(origin),
            Kind::Below(own) => {
                let origin = origin.to_ascii_lowercase();
                own.split_once('*').is_some_and(|(scheme, domain)| {
                    let name = origin.strip_prefix(scheme);
                    let name = name.and_then(|rest| rest.strip_suffix(domain));
                    name.is_some_and(|name| !name.is_empty() && !name.contains([':', '/']))
                })
            }
        }
    }
}

/// Origin of a page on another site that one of these lists allows. `None` for the
/// server's own page, whose cookie is valid.
pub(crate) fn allowed_origin<'h>(
    origins: &[&[AllowedOrigin]],
    headers: &'h HeaderMap,
) -> Option<&'h str> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let origin = text(ORIGIN)?;
    // Fetch Metadata if the browser sends it; otherwise the requested name.
    let is_own = match headers.get("sec-fetch-site") {
        Some(site) => site == "same-origin",
        None => origin.split_once("://").map(|(_, host)| host) == text(HOST),
    };
    let mut origins = origins.iter().copied().flatten();
    let allowed = !is_own && origins.any(|allowed| allowed.has(origin));
    allowed.then_some(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_read_as_browsers_write_it() {
        let origin = |text: &str| text.parse::<AllowedOrigin>();
        for (text, header) in [
            ("https://dashboard.example", "https://dashboard.example"),
            ("HTTPS://Dashboard.example:443", "https://dashboard.example"),
            ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
            ("http://[::1]:80", "http://[::1]"),
        ] {
            assert!(origin(text).expect(text).has(header), "{text}");
        }
        let one = origin("https://a.example").expect("an origin");
        for other in [
            "http://a.example",
            "https://a.example:8443",
            "https://b.a.example",
            "null",
        ] {
            assert!(!one.has(other), "{other}");
        }
        let below = origin("https://*.A.example:443").expect("names");
        assert_eq!(below.as_str(), "https://*.a.example");
        assert!(below.has("https://one.a.example") && below.has("https://B.c.A.example"));
        for other in [
            "https://a.example",
            "https://.a.example",
            "https://bad.example/.a.example",
            "https://bad.example:1.a.example",
            "http://one.a.example",
            "https://one.a.example:8443",
            "https://one.a.example.bad.example",
        ] {
            assert!(!below.has(other), "{other}");
        }
        let port = origin("http://*.a.example:8080").expect("a port");
        assert!(port.has("http://one.a.example:8080") && !port.has("http://one.a.example"));
        assert!(origin("*").expect("any").has("https://a.example"));
        for wrong in [
            "",
            "null",
            "a.example",
            "https://",
            "https://a.example/",
            "https://a.example/x",
            "https://u@a.example",
            "https://a.example:x",
            "https://a.example:99999",
            "ftp://a.example",
            "https://*.example/",
            "https://*",
            "https://*.",
            "https://a*.example",
            "https://a.*.example",
            "https://a.example;script-src",
            "https://a.example?x",
        ] {
            let words = origin(wrong).expect_err(wrong).to_string();
            assert!(words.contains("is not an origin"), "{words}");
        }
    }

    #[test]
    fn the_servers_own_page_needs_no_allowed_origin() {
        let any = ["*".parse().expect("any")];
        let of = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            let headers: HeaderMap = pairs.collect();
            allowed_origin(&[&any], &headers).map(str::to_owned)
        };
        let page = ("origin", "https://weft.example");
        assert_eq!(of(&[page, ("sec-fetch-site", "same-origin")]), None);
        assert_eq!(of(&[page, ("host", "weft.example")]), None);
        assert_eq!(of(&[("host", "weft.example")]), None);
        for site in ["cross-site", "same-site"] {
            let asked = of(&[page, ("host", "weft.example"), ("sec-fetch-site", site)]);
            assert!(asked.is_some(), "{site}");
        }
        assert!(of(&[page, ("host", "other.example")]).is_some());
    }
}
