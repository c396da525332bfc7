//! WHIP and WHEP as a client, and the room's list of participants.

use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use ureq::http::Response;
use ureq::tls::{TlsConfig, TlsProvider};
use ureq::{Agent, Body};

/// A connection that takes longer than this stands on a dead link. Chosen by us.
const CONNECT: Duration = Duration::from_secs(5);

/// A whole request and its answer: without a bound, one that was under way when
/// its link died would wait for TCP to give up, a quarter of an hour. Chosen by us.
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

/// Somebody in the room.
#[derive(Clone, Debug, Deserialize)]
pub struct Participant {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub publishing: Publishing,
}

/// What they publish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Publishing {
    pub video: bool,
    pub audio: bool,
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
    #[error("cannot reach {url}: {error}; is the server running there?")]
    Unreachable { url: String, error: String },
    #[error(
        "{url} does not prove who it is: {error}; for a server with a certificate of its own making use --insecure"
    )]
    Certificate { url: String, error: String },
    #[error("the server refuses {what}: {error}{remedy}")]
    Refused {
        what: &'static str,
        status: u16,
        error: String,
        remedy: String,
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
                *status == 404 || *status == 409 || *status >= 500
            }
            _ => false,
        }
    }
}

#[derive(Deserialize)]
struct Problem {
    error: String,
    #[serde(default)]
    remedy: String,
}

/// A session description that came back, and where its resource is.
pub struct Created {
    pub sdp: String,
    pub location: String,
}

impl Room {
    /// `url` is the server's root. `insecure` accepts any certificate.
    pub fn new(
        url: &str,
        room: &str,
        token: Option<String>,
        insecure: bool,
    ) -> Result<Room, SignallingError> {
        let base = url.trim_end_matches('/').to_owned();
        let scheme = base.starts_with("http://") || base.starts_with("https://");
        if !scheme || base.len() < "http://x".len() {
            return Err(SignallingError::Url(url.to_owned()));
        }
        // One provider for the process; a second call finds it set.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(provider)
            .disable_verification(insecure)
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(REQUEST))
            .build();
        let agent = config.new_agent();
        Ok(Room {
            agent,
            base,
            room: room.to_owned(),
            token,
        })
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
        let url = format!("{}/whep/{}/{participant}", self.base, self.room);
        self.post("to play", &url, None, offer)
    }

    fn post(
        &self,
        what: &'static str,
        url: &str,
        own: Option<&Identity>,
        sdp: &str,
    ) -> Result<Created, SignallingError> {
        let request = self
            .agent
            .post(url)
            .header("Content-Type", "application/sdp")
            .header(SECRET, proof(own));
        let mut response = self.check(
            what,
            url,
            request
                .header("Authorization", self.authorization())
                .send(sdp),
        )?;
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
            .map_err(|e| unreachable(url, &e))?;
        Ok(Created { sdp, location })
    }

    /// Ends a publication or playback.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        let url = self.absolute(location);
        let request = self
            .agent
            .delete(&url)
            .header("Authorization", self.authorization());
        self.check("to end", &url, request.call()).map(|_| ())
    }

    /// Tells the room how our links are.
    pub fn put_links(
        &self,
        location: &str,
        links: &serde_json::Value,
    ) -> Result<(), SignallingError> {
        let url = format!("{}/links", self.absolute(location));
        let request = self
            .agent
            .put(&url)
            .header("Content-Type", "application/json");
        let sent = request
            .header("Authorization", self.authorization())
            .send(links.to_string());
        self.check("the links' figures", &url, sent).map(|_| ())
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
        let response = self.check("to join", &url, request.call())?;
        let mut name = String::new();
        let mut data = String::new();
        for line in BufReader::new(response.into_body().into_reader()).lines() {
            let line = line.map_err(|e| unreachable(&url, &e))?;
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

    fn check(
        &self,
        what: &'static str,
        url: &str,
        result: Result<Response<Body>, ureq::Error>,
    ) -> Result<Response<Body>, SignallingError> {
        let mut response = result.map_err(|error| match &error {
            ureq::Error::Rustls(_) | ureq::Error::Tls(_) => SignallingError::Certificate {
                url: self.base.clone(),
                error: error.to_string(),
            },
            ureq::Error::Io(io) if io.to_string().contains("certificate") => {
                SignallingError::Certificate {
                    url: self.base.clone(),
                    error: io.to_string(),
                }
            }
            _ => unreachable(url, &error),
        })?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            return Ok(response);
        }
        let body = response.body_mut().read_to_string().unwrap_or_default();
        let problem = serde_json::from_str::<Problem>(&body);
        let (error, remedy) = match problem {
            Ok(p) if p.remedy.is_empty() => (p.error, String::new()),
            Ok(p) => (p.error, format!("; {}", p.remedy)),
            Err(_) => (format!("HTTP status {status}"), String::new()),
        };
        Err(SignallingError::Refused {
            what,
            status,
            error,
            remedy,
        })
    }
}

fn proof(own: Option<&Identity>) -> &str {
    own.map_or("", |own| &own.secret)
}

fn unreachable(url: &str, error: &dyn std::fmt::Display) -> SignallingError {
    SignallingError::Unreachable {
        url: url.to_owned(),
        error: error.to_string(),
    }
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

/// Percent-encodes a name for a query (RFC 3986 section 2.3).
pub fn query_value(text: &str) -> String {
    let keep = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
    text.bytes()
        .map(|b| {
            if keep(b) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
