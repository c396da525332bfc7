//! Requests to a server about one room.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use ureq::http::Response;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, RustlsConnector};
use ureq::{Agent, Body};
use weft_net::LinkChoice;
use weft_rooms::LinkReport;

use super::error::{CertificateFault, SignallingError, UrlPart};
use super::links::LinkConnector;
use super::{Created, Identity, Participant, RoomEvent, Server};

/// A whole request and its answer, which the server gives within its own bound
/// of 5 s. Chosen by us.
const REQUEST: Duration = Duration::from_secs(10);

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
            .timeout_global(Some(REQUEST))
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
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        let url = self.absolute(location);
        self.ask("to end", || {
            let request = self.agent.delete(&url);
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
        let url = format!("{}/links", self.absolute(location));
        self.ask("the links' figures", || {
            let request = self
                .agent
                .put(&url)
                .header("Content-Type", "application/json");
            request
                .header("Authorization", self.authorization())
                .send(&links)
        })
        .map(|_| ())
    }

    /// Reads the room's events until the connection ends or `take` says stop.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
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

    pub(super) fn absolute(&self, location: &str) -> String {
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
        let problem = serde_json::from_str(&body).unwrap_or_else(|_| Problem {
            error: format!("HTTP status {status}"),
            remedy: "is this a weft server?".to_owned(),
            kind: None,
        });
        // The server's remedy is for those with a page.
        let remedy = match status {
            401 => "give the server's token".to_owned(),
            _ => problem.remedy,
        };
        Err(SignallingError::Refused {
            what,
            status,
            error: problem.error,
            remedy,
            kind: problem.kind,
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
        if matches!(error, ureq::Error::HostNotFound) || words.contains("lookup address") {
            return SignallingError::UnknownHost { url, error: words };
        }
        let about_tls = matches!(error, ureq::Error::Rustls(_) | ureq::Error::Tls(_));
        match about_tls || words.contains("certificate") {
            true => SignallingError::Certificate {
                url,
                fault: CertificateFault::of(&words),
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

pub(super) fn room_event(name: &str, data: &str) -> Option<RoomEvent> {
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
