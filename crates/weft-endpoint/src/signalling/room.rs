//! Requests to a server about one room.

use std::io::ErrorKind;
use std::time::{Duration, Instant, SystemTime};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use ureq::http::{Response, Uri};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, RustlsConnector};
use ureq::{Agent, Body};
use weft_net::LinkChoice;
use weft_rooms::LinkReport;
use weft_units::printable;

use super::error::{CertificateFault, SignallingError, UrlPart};
use super::links::LinkConnector;
use super::stream::read_events;
use super::{Created, Identity, RoomEvent, SILENCE, Server};

/// A whole request and its answer, with a second try: the server answers within
/// its own bound of 5 s. Chosen by us.
const REQUEST: Duration = Duration::from_secs(10);

/// Longest answer: as much as weft's server takes of an offer. The longest that
/// it gives, of four cameras and sound with 64 candidates, has 12 KiB. Chosen
/// by us.
const MAX_ANSWER: u64 = 64 << 10;

/// Most octets of an answer's headers. The server sends a few hundred. Chosen
/// by us.
const MAX_HEADERS: usize = 16 << 10;

/// Most characters of a server's sentence that are shown. Chosen by us.
const MAX_WORDS: usize = 300;

/// Carries what proves who we are.
const SECRET: &str = "Weft-Secret";

/// The server's side of a room, over HTTP.
#[derive(Clone)]
pub struct Room {
    agent: Agent,
    links: LinkConnector,
    base: String,
    room: String,
    token: Option<String>,
}

impl Room {
    /// A room of the server, asked over these links in turn; over none of
    /// them: wherever the routes lead. Nothing is asked yet.
    ///
    /// # Errors
    /// If the address or the certificate to trust is none.
    pub fn new(
        server: &Server,
        links: Vec<LinkChoice>,
        room: &str,
    ) -> Result<Room, SignallingError> {
        let base = base(&server.url)?;
        let config = Agent::config_builder()
            .tls_config(server.trust.config()?)
            .http_status_as_error(false)
            // A redirect would take the token and the secret elsewhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MAX_HEADERS)
            .build();
        let links = LinkConnector::new(links);
        let connector = links.clone().chain(RustlsConnector::default());
        Ok(Room {
            agent: Agent::with_parts(config, connector, DefaultResolver::default()),
            links,
            base,
            room: escaped(room),
            token: server.token.clone(),
        })
    }

    /// What the call's media says of a link: requests leave one that is dead.
    pub fn on_link(&self, link: &str, up: bool) {
        self.links.tell(link, up);
    }

    fn authorization(&self) -> String {
        self.token
            .as_ref()
            .map(|t| format!("Bearer {t}"))
            .unwrap_or_default()
    }

    /// Publishes this offer under a name, or as the participant who we are.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn publish(
        &self,
        query: &str,
        own: Option<&Identity>,
        offer: &str,
    ) -> Result<Created, SignallingError> {
        let url = format!("{}/whip/{}?{query}", self.base, self.room);
        self.post("to publish", &url, own, offer)
    }

    /// Plays what a participant publishes, as the participant who we are; else
    /// as somebody new, who is shown as long as that lasts.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn play(
        &self,
        participant: &str,
        own: Option<&Identity>,
        offer: &str,
    ) -> Result<Created, SignallingError> {
        let mut url = format!("{}/whep/{}/{}", self.base, self.room, escaped(participant));
        if let Some(own) = own {
            url.push_str(&format!("?participant={}", escaped(&own.id)));
        }
        self.post("to play", &url, own, offer)
    }

    fn post(
        &self,
        what: &'static str,
        url: &str,
        own: Option<&Identity>,
        sdp: &str,
    ) -> Result<Created, SignallingError> {
        let mut response = self.ask(what, |limit| {
            let request = self
                .agent
                .post(url)
                .config()
                .timeout_global(Some(limit))
                .build()
                .header("Content-Type", "application/sdp")
                .header(SECRET, proof(own));
            request
                .header("Authorization", self.authorization())
                .send(sdp)
        })?;
        let location = response
            .headers()
            .get("Location")
            .and_then(|l| l.to_str().ok());
        let location =
            location.ok_or_else(|| SignallingError::NoLocation(what, self.base.clone()))?;
        let location = self.resolve(url, location)?;
        let body = response.body_mut().with_config().limit(MAX_ANSWER);
        let sdp = body.read_to_string().map_err(|e| self.unreachable(&e))?;
        Ok(Created { sdp, location })
    }

    /// Ends a publication or playback.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        let url = self.resolve(&self.base, location)?;
        self.ask("to end", |limit| {
            let request = self.agent.delete(&url).config();
            let request = request.timeout_global(Some(limit)).build();
            request.header("Authorization", self.authorization()).call()
        })
        .map(|_| ())
    }

    /// Tells the room how our links are.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn put_links(&self, location: &str, links: &[LinkReport]) -> Result<(), SignallingError> {
        let links = serde_json::json!(links).to_string();
        let url = format!("{}/links", self.resolve(&self.base, location)?);
        self.ask("the links' figures", |limit| {
            let request = self
                .agent
                .put(&url)
                .config()
                .timeout_global(Some(limit))
                .build()
                .header("Content-Type", "application/json");
            request
                .header("Authorization", self.authorization())
                .send(&links)
        })
        .map(|_| ())
    }

    /// Reads the room's events until the connection ends or `take` says stop. The
    /// next one is read when `take` has returned.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn events(
        &self,
        query: &str,
        own: Option<&Identity>,
        take: impl FnMut(RoomEvent) -> bool,
    ) -> Result<(), SignallingError> {
        let url = format!("{}/api/rooms/{}/events?{query}", self.base, self.room);
        let request = self
            .agent
            .get(&url)
            .config()
            .timeout_resolve(Some(REQUEST))
            .timeout_connect(Some(REQUEST))
            .timeout_send_request(Some(REQUEST))
            .timeout_recv_response(Some(REQUEST))
            .timeout_per_read(Some(SILENCE))
            .build()
            .header(SECRET, proof(own))
            .header("Authorization", self.authorization());
        let response = self.check("to join", request.call())?;
        read_events(response.into_body().into_reader(), take).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => SignallingError::Events {
                url: self.base.clone(),
                error: error.to_string(),
            },
            _ => self.unreachable(&ureq::Error::Io(error)),
        })
    }

    /// The address of a resource that the server names in its answer to `url`.
    /// Requests about it carry the token, so it has to be on the server that
    /// the token was given for.
    pub(super) fn resolve(&self, url: &str, location: &str) -> Result<String, SignallingError> {
        let foreign = || SignallingError::ForeignLocation {
            url: self.base.clone(),
            location: shortened(location),
        };
        let own = origin(url);
        let before_path = location.split(['/', '?', '#']).next().unwrap_or_default();
        if before_path.contains(':') || location.starts_with("//") {
            let absolute = match location.strip_prefix("//") {
                Some(rest) => format!("{}//{rest}", &own[..own.find("//").unwrap_or(0)]),
                None => location.to_owned(),
            };
            let named: Uri = absolute.parse().map_err(|_| foreign())?;
            let asked: Uri = own.parse().map_err(|_| foreign())?;
            if place(&named).is_none() || place(&named) != place(&asked) {
                return Err(foreign());
            }
            let path = named.path_and_query().map_or("/", |path| path.as_str());
            return Ok(format!("{own}{path}"));
        }
        if location.starts_with('/') {
            return Ok(format!("{own}{location}"));
        }
        // Beside what was asked for (RFC 3986 section 5.2.3).
        let path = &url[own.len()..];
        let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
        let folder = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
        let folder = if folder.is_empty() { "/" } else { folder };
        Ok(format!("{own}{folder}{location}"))
    }

    /// Sends a request, and once more if its connection broke: then over the
    /// next link. An offer that the server has taken already makes a second
    /// connection there, which never comes up and is forgotten. `send` gets the
    /// time that is left for it.
    fn ask(
        &self,
        what: &'static str,
        send: impl Fn(Duration) -> Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, SignallingError> {
        let begun = Instant::now();
        match self.check(what, send(REQUEST)) {
            Err(SignallingError::Unreachable { .. }) if begun.elapsed() < REQUEST => {
                self.check(what, send(REQUEST.saturating_sub(begun.elapsed())))
            }
            answered => answered,
        }
    }

    fn check(
        &self,
        what: &'static str,
        result: Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, SignallingError> {
        let mut response = result.map_err(|error| self.unreachable(&error))?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            return Ok(response);
        }
        if response.status().is_redirection() {
            let to = response.headers().get("Location");
            let to = to.and_then(|to| to.to_str().ok()).unwrap_or_default();
            return Err(SignallingError::Redirected {
                url: self.base.clone(),
                to: shortened(to),
            });
        }
        let body = response.body_mut().with_config().limit(MAX_ANSWER);
        let body = body.read_to_string().unwrap_or_default();
        let problem = serde_json::from_str(&body).unwrap_or_else(|_| Problem {
            error: format!("HTTP status {status}"),
            remedy: "is this a weft server?".to_owned(),
            kind: None,
        });
        // The server's remedy is for those with a page.
        let remedy = match status {
            401 => "give the server's token".to_owned(),
            _ => shortened(&problem.remedy),
        };
        Err(SignallingError::Refused {
            what,
            status,
            error: shortened(&problem.error),
            remedy,
            kind: problem.kind.as_deref().map(shortened),
        })
    }

    /// No answer, or one that is no HTTP.
    fn unreachable(&self, error: &ureq::Error) -> SignallingError {
        let url = self.base.clone();
        let words = match error {
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        let words = shortened(&words);
        // What rustls says of an answer that is no TLS.
        if words.contains("corrupt message") {
            let error = "it speaks no TLS, try http://".to_owned();
            return SignallingError::Unreachable { url, error };
        }
        if matches!(error, ureq::Error::HostNotFound) || words.contains("lookup address") {
            return SignallingError::UnknownHost { url, error: words };
        }
        let about_tls = matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_));
        match about_tls || words.contains("certificate") {
            true => SignallingError::Certificate {
                url,
                fault: CertificateFault::of(&words, SystemTime::now()),
                error: words,
            },
            false => SignallingError::Unreachable { url, error: words },
        }
    }
}

/// The server's root: requests put paths of their own behind it. What people
/// copy from a browser, a token and a room's page, has its options here.
fn base(url: &str) -> Result<String, SignallingError> {
    let base = url.trim_end_matches('/');
    let host = base
        .strip_prefix("http://")
        .or_else(|| base.strip_prefix("https://"));
    let Some(host) = host.filter(|host| !host.is_empty()) else {
        return Err(SignallingError::Url(url.to_owned()));
    };
    let part = if host.contains(['?', '#']) {
        UrlPart::Query
    } else if host.contains("/r/") {
        UrlPart::Room
    } else {
        return Ok(base.to_owned());
    };
    let url = url.to_owned();
    Err(SignallingError::UrlParts { url, part })
}

#[derive(Deserialize)]
struct Problem {
    error: String,
    #[serde(default)]
    remedy: String,
    #[serde(default)]
    kind: Option<String>,
}

/// Scheme, host and port, as they are written in an address with a scheme.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |i| i + 3);
    let path = url[host..].find(['/', '?', '#']);
    &url[..path.map_or(url.len(), |i| host + i)]
}

/// Scheme, host and port, to compare (RFC 6454 section 4); none if it has none.
fn place(uri: &Uri) -> Option<(&str, String, u16)> {
    let scheme = uri.scheme_str()?;
    let usual = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let host = uri.host()?.to_ascii_lowercase();
    Some((scheme, host, uri.port_u16().unwrap_or(usual)))
}

/// A server's words, as they are shown: on one line, and not too many of them.
fn shortened(words: &str) -> String {
    let words: String = words.chars().take(MAX_WORDS).collect();
    printable(&words).to_string()
}

/// All but the unreserved characters (RFC 3986 section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Text as one segment of a path or one value of a query.
#[must_use]
pub fn escaped(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn proof(own: Option<&Identity>) -> &str {
    own.map_or("", |own| &own.secret)
}
