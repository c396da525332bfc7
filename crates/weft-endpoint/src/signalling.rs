//! WHIP and WHEP as a client, and the room's list of participants.

mod links;
mod trust;

use std::io::{BufRead, BufReader};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use ureq::http::Response;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, RustlsConnector};
use ureq::{Agent, Body};
use weft_net::LinkSpec;

use links::LinkConnector;
pub use trust::Trust;

/// A whole request and its answer, which the server gives within its own bound
/// of 5 s. Chosen by us.
const REQUEST: Duration = Duration::from_secs(10);

/// The server writes to an event stream at least every 15 s; two misses and a
/// little more mean that nothing comes through.
pub const SILENCE: Duration = Duration::from_secs(35);

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

/// Who we are in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What the others see.
    pub id: String,
    /// What proves it, for who comes back and who publishes.
    pub secret: String,
}

/// A server, and how it is reached.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// Its root.
    pub url: String,
    /// What it asks of who comes.
    pub token: Option<String>,
    pub trust: Trust,
    /// The links that requests go over; none: wherever the routes lead.
    pub links: Vec<LinkSpec>,
}

/// Somebody in the room.
#[derive(Clone, Debug, Deserialize)]
pub struct Participant {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub publishing: Publishing,
}

/// What they publish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Publishing {
    #[serde(default)]
    pub cameras: Vec<Camera>,
    pub audio: bool,
}

/// One stream of pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Camera {
    #[serde(default)]
    pub name: Option<String>,
}

impl Publishing {
    /// Whether there is something in it that the other has not.
    pub fn has_more_than(&self, other: &Publishing) -> bool {
        self.cameras.len() > other.cameras.len() || self.audio && !other.audio
    }

    pub fn is_nothing(&self) -> bool {
        *self == Publishing::default()
    }
}

/// What happens in a room.
#[derive(Clone, Debug)]
pub enum RoomEvent {
    Welcome {
        own: Identity,
        participants: Vec<Participant>,
    },
    Changed(Participant),
    Left(String),
    /// Nothing of interest, but the stream is alive.
    Alive,
}

#[derive(Deserialize)]
struct Welcome {
    id: String,
    #[serde(default)]
    secret: String,
    participants: Vec<Participant>,
}

#[derive(Deserialize)]
struct Left {
    id: String,
}

/// The server said no, or nothing.
#[derive(Debug, thiserror::Error)]
pub enum SignallingError {
    #[error("`{0}` is no server address; write it like http://127.0.0.1:8080 or https://HOST:PORT")]
    Url(String),
    #[error("`{url}` is more than the server's address: {remedy}")]
    UrlParts { url: String, remedy: &'static str },
    #[error("cannot reach {url}: {error}; is the server running there?")]
    Unreachable { url: String, error: String },
    #[error("{url} does not prove who it is: {error}; {remedy}")]
    Certificate {
        url: String,
        error: String,
        remedy: &'static str,
    },
    #[error("--ca {path}: {error}; name a file with a certificate in PEM")]
    Authority { path: String, error: String },
    #[error("the server refuses {what}: {words}")]
    Refused {
        what: &'static str,
        status: u16,
        words: String,
    },
    #[error("the server's answer to {0} has no Location; is {1} a WHIP server?")]
    NoLocation(&'static str, String),
}

impl SignallingError {
    /// Worth trying again: the network or the server may come back.
    pub fn is_passing(&self) -> bool {
        match self {
            SignallingError::Unreachable { .. } => true,
            SignallingError::Refused { status, .. } => {
                // 403: not yet welcomed again by a server that was started anew.
                matches!(status, 403 | 404 | 409) || *status >= 500
            }
            _ => false,
        }
    }

    /// What to compare to know whether it is the same trouble as before: what
    /// the system says of a dead network changes from one second to the next.
    pub fn kind(&self) -> String {
        match self {
            SignallingError::Unreachable { .. } => "unreachable".to_owned(),
            other => other.to_string(),
        }
    }

    /// Whether what was asked for is at fault, not the server or the way to it.
    pub fn is_of_asker(&self) -> bool {
        matches!(
            self,
            SignallingError::Url(_)
                | SignallingError::UrlParts { .. }
                | SignallingError::Authority { .. }
                | SignallingError::Refused {
                    status: 400..=403,
                    ..
                }
        )
    }
}

#[derive(Deserialize)]
struct Problem {
    error: String,
    #[serde(default)]
    remedy: String,
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
    let remedy = if host.contains(['?', '#']) {
        "leave out what begins with `?` or `#`, and give a token with --token or in WEFT_TOKEN"
    } else if host.contains("/r/") {
        "leave out the `/r/` and what follows, and name the room with --room"
    } else {
        return Ok(base.to_owned());
    };
    let url = url.to_owned();
    Err(SignallingError::UrlParts { url, remedy })
}

/// A session description that came back, and where its resource is.
pub struct Created {
    pub sdp: String,
    pub location: String,
}

impl Room {
    /// A room of the server. Nothing is asked of it yet.
    pub fn new(server: &Server, room: &str) -> Result<Room, SignallingError> {
        let base = base(&server.url)?;
        let config = Agent::config_builder()
            .tls_config(server.trust.config()?)
            .http_status_as_error(false)
            .timeout_global(Some(REQUEST))
            .build();
        let links = LinkConnector::new(server.links.clone());
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
    pub fn publish(
        &self,
        query: &str,
        own: Option<&Identity>,
        offer: &str,
    ) -> Result<Created, SignallingError> {
        let url = format!("{}/whip/{}?{query}", self.base, self.room);
        self.post("to publish", &url, own, offer)
    }

    /// Plays what a participant publishes.
    pub fn play(&self, participant: &str, offer: &str) -> Result<Created, SignallingError> {
        let url = format!("{}/whep/{}/{}", self.base, self.room, escaped(participant));
        self.post("to play", &url, None, offer)
    }

    fn post(
        &self,
        what: &'static str,
        url: &str,
        own: Option<&Identity>,
        sdp: &str,
    ) -> Result<Created, SignallingError> {
        let mut response = self.ask(what, || {
            let request = self
                .agent
                .post(url)
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
        let location = location.map(str::to_owned);
        let location =
            location.ok_or_else(|| SignallingError::NoLocation(what, self.base.clone()))?;
        let sdp = response
            .body_mut()
            .read_to_string()
            .map_err(|e| self.unreachable(&e))?;
        Ok(Created { sdp, location })
    }

    /// Ends a publication or playback.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        let url = self.absolute(location);
        self.ask("to end", || {
            let request = self.agent.delete(&url);
            request.header("Authorization", self.authorization()).call()
        })
        .map(|_| ())
    }

    /// Tells the room how our links are.
    pub fn put_links(
        &self,
        location: &str,
        links: &serde_json::Value,
    ) -> Result<(), SignallingError> {
        let url = format!("{}/links", self.absolute(location));
        self.ask("the links' figures", || {
            let request = self
                .agent
                .put(&url)
                .header("Content-Type", "application/json");
            request
                .header("Authorization", self.authorization())
                .send(links.to_string())
        })
        .map(|_| ())
    }

    /// Reads the room's events until the connection ends or `take` says stop.
    pub fn events(
        &self,
        query: &str,
        own: Option<&Identity>,
        mut take: impl FnMut(RoomEvent) -> bool,
    ) -> Result<(), SignallingError> {
        let url = format!("{}/api/rooms/{}/events?{query}", self.base, self.room);
        let request = self
            .agent
            .get(&url)
            .config()
            .timeout_global(None)
            .build()
            .header(SECRET, proof(own))
            .header("Authorization", self.authorization());
        let response = self.check("to join", request.call())?;
        let mut name = String::new();
        let mut data = String::new();
        for line in BufReader::new(response.into_body().into_reader()).lines() {
            let line = line.map_err(|e| self.unreachable(&ureq::Error::Io(e)))?;
            if let Some(value) = line.strip_prefix("event:") {
                value.trim().clone_into(&mut name);
            } else if let Some(value) = line.strip_prefix("data:") {
                data.push_str(value.trim());
            } else if line.is_empty() {
                let go_on = take(room_event(&name, &data).unwrap_or(RoomEvent::Alive));
                name.clear();
                data.clear();
                if !go_on {
                    break;
                }
            }
        }
        Ok(())
    }

    fn absolute(&self, location: &str) -> String {
        if location.starts_with("http") {
            return location.to_owned();
        }
        let after_scheme = self.base.find("://").map_or(0, |i| i + 3);
        let end = self.base[after_scheme..]
            .find('/')
            .map_or(self.base.len(), |i| after_scheme + i);
        format!("{}{location}", &self.base[..end])
    }

    /// Sends a request, and once more if its connection broke: then over the
    /// next link. An offer that the server has taken already makes a second
    /// connection there, which never comes up and is forgotten.
    fn ask(
        &self,
        what: &'static str,
        send: impl Fn() -> Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, SignallingError> {
        match self.check(what, send()) {
            Err(SignallingError::Unreachable { .. }) => self.check(what, send()),
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
        let body = response.body_mut().read_to_string().unwrap_or_default();
        let words = match serde_json::from_str::<Problem>(&body) {
            // The server's remedy is for those with a page.
            Ok(problem) if status == 401 => {
                with_remedy(&problem.error, "name it with --token or in WEFT_TOKEN")
            }
            Ok(problem) => with_remedy(&problem.error, &problem.remedy),
            Err(_) => format!("HTTP status {status}; is this a weft server?"),
        };
        Err(SignallingError::Refused {
            what,
            status,
            words,
        })
    }

    /// No answer, or one that is no HTTP.
    fn unreachable(&self, error: &ureq::Error) -> SignallingError {
        let url = self.base.clone();
        let words = match error {
            ureq::Error::Io(error) => error.to_string(),
            other => other.to_string(),
        };
        // What rustls says of an answer that is no TLS.
        if words.contains("corrupt message") {
            let error = "it speaks no TLS, try http://".to_owned();
            return SignallingError::Unreachable { url, error };
        }
        let about_tls = matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_));
        match about_tls || words.contains("certificate") {
            true => SignallingError::Certificate {
                url,
                remedy: certificate_remedy(&words),
                error: words,
            },
            false => SignallingError::Unreachable { url, error: words },
        }
    }
}

/// What to do about a certificate that is no proof.
fn certificate_remedy(error: &str) -> &'static str {
    // In rustls' words; there is no error of a kind of its own here.
    if error.contains("not valid for name") {
        "use one of the names or addresses that it has; a server that has made its certificate \
         itself makes another for those that it has now when certificate.pem and key.pem in its \
         ~/.local/state/weft are deleted"
    } else {
        "where the server has made its certificate itself, copy that file from there and name it \
         with --ca, or give --insecure to trust whoever answers"
    }
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

/// A server's two sentences in one: what is wrong, then what to do.
#[must_use]
pub fn with_remedy(error: &str, remedy: &str) -> String {
    let error = error.trim_end_matches('.');
    let remedy = remedy.trim_end_matches('.');
    let mut letters = remedy.chars();
    match letters.next() {
        None => error.to_owned(),
        Some(first) => format!("{error}; {}{}", first.to_lowercase(), letters.as_str()),
    }
}

fn proof(own: Option<&Identity>) -> &str {
    own.map_or("", |own| &own.secret)
}

fn room_event(name: &str, data: &str) -> Option<RoomEvent> {
    match name {
        "welcome" => {
            let welcome: Welcome = serde_json::from_str(data).ok()?;
            Some(RoomEvent::Welcome {
                own: Identity {
                    id: welcome.id,
                    secret: welcome.secret,
                },
                participants: welcome.participants,
            })
        }
        "joined" | "changed" => Some(RoomEvent::Changed(serde_json::from_str(data).ok()?)),
        "left" => Some(RoomEvent::Left(serde_json::from_str::<Left>(data).ok()?.id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
