//! Requests to a server about one room.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::header::LOCATION;
use ureq::http::{Response, Uri};
use ureq::{Body, BodyReader};
use weft_net::LinkChoice;
use weft_rooms::LinkReport;

use super::error::{SignallingError, UrlPart};
use super::exchange::{ANSWER, Exchange, MAX_ANSWER, Patience, shortened};
use super::links::{LinkConnector, LinkFault, Used};
use super::stream::read_events;
use super::{Created, Identity, RoomEvent, SILENCE, Server};
use crate::links::LinkTrouble;

/// Header with the participant's secret.
const SECRET: &str = "Weft-Secret";

/// Client of one room on a server.
#[derive(Clone)]
pub struct Room {
    exchange: Exchange,
    room: String,
    token: Option<String>,
}

impl Room {
    /// Creates a client of a room that tries these links in order; without
    /// links it uses the system's routes. Sends no request yet.
    ///
    /// # Errors
    /// If the URL or the trusted certificate is invalid.
    pub fn new(
        server: &Server,
        links: Vec<LinkChoice>,
        room: &str,
    ) -> Result<Room, SignallingError> {
        let base = base(&server.url)?;
        let links = LinkConnector::new(links, server.trust.config()?);
        Ok(Room {
            exchange: Exchange::new(links, base),
            room: escaped(room),
            token: server.token.clone(),
        })
    }

    /// Reports the state of a link according to media: requests leave a link
    /// that is down.
    pub fn on_link(&self, link: &str, up: bool) {
        self.exchange.links.tell(link, up);
    }

    /// Moves requests away from the link of a silent event stream.
    pub fn on_silence(&self) {
        self.exchange.links.distrust_listening();
    }

    /// Links over which requests fail while others work.
    #[must_use]
    pub fn link_faults(&self) -> BTreeMap<String, LinkFault> {
        self.exchange.links.faults()
    }

    /// Diagnoses why a link carries no media: checks its routes, then sends a
    /// request over it. May take some seconds.
    #[must_use]
    pub fn diagnose(&self, link: &str) -> LinkTrouble {
        let links = &self.exchange.links;
        if let Some(LinkFault::Portal { answer }) = links.faults().remove(link) {
            return LinkTrouble::CaptivePortal { answer };
        }
        let (Some(alone), Some(choice)) = (links.alone(link), links.choice(link)) else {
            return LinkTrouble::Silent;
        };
        let fault = links.server();
        let fault = fault.and_then(|server| weft_net::route_fault(choice, server));
        if let Some(fault) = fault {
            return LinkTrouble::Route(fault);
        }
        let alone = Exchange::new(alone, self.base().to_owned());
        let url = format!("{}/api/rooms/{}/access", self.base(), self.room);
        let send = |patience: Patience| {
            let request = patience.of(alone.agent.get(&url));
            request.header("Authorization", self.authorization()).call()
        };
        match alone.ask("to ask", Some("application/json"), send, |_, _| Ok(())) {
            // Any answer, even a refusal, comes from the server.
            Ok(()) | Err(SignallingError::Refused { .. }) => LinkTrouble::UdpBlocked,
            Err(SignallingError::CaptivePortal { answer, .. }) => {
                LinkTrouble::CaptivePortal { answer }
            }
            Err(SignallingError::Certificate { .. }) => LinkTrouble::CaptivePortal {
                answer: "with a certificate that is not the server's".to_owned(),
            },
            Err(_) => LinkTrouble::Silent,
        }
    }

    fn base(&self) -> &str {
        &self.exchange.base
    }

    fn authorization(&self) -> String {
        self.token
            .as_ref()
            .map(|t| format!("Bearer {t}"))
            .unwrap_or_default()
    }

    /// Publishes this offer under a name, or as our own participant.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn publish(
        &self,
        query: &str,
        own: Option<&Identity>,
        offer: &str,
    ) -> Result<Created, SignallingError> {
        let url = format!("{}/whip/{}?{query}", self.base(), self.room);
        self.post("to publish", &url, own, offer)
    }

    /// Plays a participant's publication as our own participant; otherwise as a
    /// new one, which is listed during the playback.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn play(
        &self,
        participant: &str,
        own: Option<&Identity>,
        offer: &str,
    ) -> Result<Created, SignallingError> {
        let participant = escaped(participant);
        let mut url = format!("{}/whep/{}/{participant}", self.base(), self.room);
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
        let send = |patience: Patience| {
            let request = patience
                .of(self.exchange.agent.post(url))
                .header("Content-Type", "application/sdp")
                .header(SECRET, proof(own));
            request
                .header("Authorization", self.authorization())
                .send(sdp)
        };
        let take = |mut response: Response<Body>, _: Option<&Used>| {
            let location = response.headers().get(LOCATION);
            let location = location.and_then(|l| l.to_str().ok()).map(str::to_owned);
            let body = response.body_mut().with_config().limit(MAX_ANSWER);
            Ok((location, body.read_to_string()?))
        };
        let (location, sdp) = self
            .exchange
            .ask(what, Some("application/sdp"), send, take)?;
        let location =
            location.ok_or_else(|| SignallingError::NoLocation(what, self.base().to_owned()))?;
        Ok(Created {
            sdp,
            location: self.resolve(url, &location)?,
            reached: self.exchange.links.reached(),
        })
    }

    /// Ends a publication or playback.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        let url = self.resolve(self.base(), location)?;
        let send = |patience: Patience| {
            let request = patience.of(self.exchange.agent.delete(&url));
            request.header("Authorization", self.authorization()).call()
        };
        self.exchange.ask("to end", None, send, |_, _| Ok(()))
    }

    /// Reports the state of our links to the room.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn put_links(&self, location: &str, links: &[LinkReport]) -> Result<(), SignallingError> {
        let links = serde_json::json!(links).to_string();
        let url = format!("{}/links", self.resolve(self.base(), location)?);
        let send = |patience: Patience| {
            let request = patience
                .of(self.exchange.agent.put(&url))
                .header("Content-Type", "application/json");
            request
                .header("Authorization", self.authorization())
                .send(&links)
        };
        self.exchange
            .ask("the links' figures", None, send, |_, _| Ok(()))
    }

    /// Reads the room's events until the connection ends or `take` returns
    /// false. Reads the next event after `take` returns.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn events(
        &self,
        query: &str,
        own: Option<&Identity>,
        take: impl FnMut(RoomEvent) -> bool,
    ) -> Result<(), SignallingError> {
        let url = format!("{}/api/rooms/{}/events?{query}", self.base(), self.room);
        let send = |patience: Patience| {
            patience
                .of(self.exchange.agent.get(&url))
                .config()
                .timeout_global(None)
                .timeout_recv_body(None)
                .timeout_per_read(Some(SILENCE))
                .build()
                .header(SECRET, proof(own))
                .header("Authorization", self.authorization())
                .call()
        };
        let listen = |response, used: Option<&Used>| {
            let begun = begin(response, used)?;
            if let Some(used) = used {
                self.exchange.links.listen(used.clone());
            }
            Ok(begun)
        };
        let stream = self
            .exchange
            .ask("to join", Some("text/event-stream"), send, listen)?;
        read_events(stream, take).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => SignallingError::Events {
                url: self.base().to_owned(),
                error: error.to_string(),
            },
            _ => self.exchange.unreachable(&ureq::Error::Io(error)),
        })
    }

    /// URL of a resource named in the server's answer to `url`. Requests for it
    /// carry the token, so it must be on the same server.
    pub(super) fn resolve(&self, url: &str, location: &str) -> Result<String, SignallingError> {
        let foreign = || SignallingError::ForeignLocation {
            url: self.base().to_owned(),
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
        // Relative to the requested resource (RFC 3986 section 5.2.3).
        let path = &url[own.len()..];
        let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
        let folder = &path[..path.rfind('/').map_or(0, |slash| slash + 1)];
        let folder = if folder.is_empty() { "/" } else { folder };
        Ok(format!("{own}{folder}{location}"))
    }
}

/// Body of an event stream after its first bytes: a path that loses large
/// packets passes the headers but not the room's list.
fn begin(
    response: Response<Body>,
    used: Option<&Used>,
) -> io::Result<BufReader<BodyReader<'static>>> {
    let mut reader = BufReader::new(response.into_body().into_reader());
    let (begun, watched) = channel::<()>();
    let is_cut = Arc::new(AtomicBool::new(false));
    let cut = Arc::clone(&is_cut);
    let stream = used.map(|used| used.stream.clone()).unwrap_or_default();
    thread::spawn(move || {
        if watched.recv_timeout(ANSWER) == Err(RecvTimeoutError::Timeout)
            && let Some(stream) = stream.upgrade()
        {
            cut.store(true, Ordering::Relaxed);
            let _ = stream.shutdown(Shutdown::Both);
        }
    });
    let read = reader.fill_buf().map(drop);
    drop(begun);
    match is_cut.load(Ordering::Relaxed) {
        true => Err(ErrorKind::TimedOut.into()),
        false => read.map(|()| reader),
    }
}

/// Root URL of the server, for requests to append their paths. Rejects URLs
/// copied from a browser with a token or a room, and names the right options.
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

/// Scheme, host and port, as written in a URL with a scheme.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |i| i + 3);
    let path = url[host..].find(['/', '?', '#']);
    &url[..path.map_or(url.len(), |i| host + i)]
}

/// Scheme, host and port for comparison (RFC 6454 section 4); `None` if
/// missing.
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

/// All characters except the unreserved ones (RFC 3986 section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Text escaped as one path segment or one query value.
#[must_use]
pub fn escaped(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

fn proof(own: Option<&Identity>) -> &str {
    own.map_or("", |own| &own.secret)
}
