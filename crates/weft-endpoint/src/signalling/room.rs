//! Requests to a server about one room.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::Response;
use ureq::{Body, BodyReader};
use weft_net::LinkChoice;
use weft_rooms::LinkReport;

use super::error::{SignallingError, UrlPart};
use super::exchange::{ANSWER, AttemptTimeouts, Exchange, ServerKind};
use super::links::{LinkConnector, LinkFault, LinkTurnConnector, Used};
use super::resource::Resources;
use super::stream::read_events;
use super::{Created, Identity, RoomEvent, SECRET, SILENCE, Server};
use crate::links::LinkTrouble;
use crate::turn::TurnConnector;

/// Parameter of a request that another server of the cluster has redirected.
const STAY: &str = "&stay";

/// Client of one room on a server.
#[derive(Clone)]
pub struct Room {
    pub(super) resources: Resources,
    pub(super) room: String,
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
        let exchange = Exchange::new(links, base, ServerKind::Weft);
        Ok(Room {
            resources: Resources::new(exchange, server.token.clone()),
            room: escaped(room),
        })
    }

    /// Returns a client of the same room on another server of the cluster.
    ///
    /// # Errors
    /// [`SignallingError::OtherServer`] if the token may not go there.
    pub fn elsewhere(&self, url: &str) -> Result<Room, SignallingError> {
        Ok(Room {
            resources: self.resources.elsewhere(url)?,
            room: self.room.clone(),
        })
    }

    /// Leaves this server after a move to another one.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn part(&self, own: &Identity) -> Result<(), SignallingError> {
        let (base, room, id) = (self.base(), &self.room, escaped(&own.id));
        let url = format!("{base}/api/rooms/{room}/events?id={id}");
        let send = |timeouts: AttemptTimeouts| {
            let request = timeouts.apply(self.exchange().agent.delete(&url));
            let request = request.header(SECRET, &own.secret);
            self.resources.authorized(request).call()
        };
        self.exchange().ask("to leave", None, send, |_, _| Ok(()))
    }

    /// Returns a connector to TURN servers, which trusts the same certificates.
    #[must_use]
    pub fn turn_connector(&self) -> Arc<dyn TurnConnector> {
        Arc::new(LinkTurnConnector(self.exchange().links.tls()))
    }

    /// Reports the state of a link as observed by media; requests leave a link that is
    /// down.
    pub fn on_link(&self, link: &str, up: bool) {
        self.exchange().links.set_up(link, up);
    }

    /// Moves requests away from the link of a silent event stream.
    pub fn on_silence(&self) {
        self.exchange().links.distrust_listening();
    }

    /// Returns the links over which requests fail while others work.
    #[must_use]
    pub fn link_faults(&self) -> BTreeMap<String, LinkFault> {
        self.exchange().links.faults()
    }

    pub(super) fn exchange(&self) -> &Exchange {
        &self.resources.exchange
    }

    pub(super) fn base(&self) -> String {
        self.exchange().base.url()
    }

    /// Sends a newcomer's request, and repeats it if the server redirects it to another
    /// one of its cluster. `ask` appends its argument to the query.
    fn following<T>(
        &self,
        ask: impl Fn(&str) -> Result<T, SignallingError>,
    ) -> Result<T, SignallingError> {
        match ask("") {
            Err(SignallingError::OtherServer { to, .. }) => {
                self.exchange().base.follow_to_root(&to)?;
                ask(STAY)
            }
            done => done,
        }
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
        self.following(|stay| {
            let url = format!("{}/whip/{}?{query}{stay}", self.base(), self.room);
            let secret = secret(own);
            self.resources.create("to publish", &url, secret, offer)
        })
    }

    /// Plays a participant's publication as a new participant, who is listed during the
    /// playback.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn play(&self, participant: &str, offer: &str) -> Result<Created, SignallingError> {
        let participant = escaped(participant);
        self.following(|stay| {
            let stay = stay.replacen('&', "?", 1);
            let url = format!("{}/whep/{}/{participant}{stay}", self.base(), self.room);
            self.resources.create("to play", &url, None, offer)
        })
    }

    /// Ends a publication, playback or reception.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn delete(&self, location: &str) -> Result<(), SignallingError> {
        self.resources.delete(location)
    }

    /// Diagnoses why a link carries no media. May take some seconds.
    #[must_use]
    pub fn diagnose(&self, link: &str) -> LinkTrouble {
        let url = format!("{}/api/rooms/{}/access", self.base(), self.room);
        self.resources
            .diagnose(link, &url, Some("application/json"))
    }

    /// Ends a moderator's mute of our own participant.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn unmute(&self, own: &Identity) -> Result<(), SignallingError> {
        let (base, room, id) = (self.base(), &self.room, escaped(&own.id));
        let url = format!("{base}/api/rooms/{room}/mute?participant={id}");
        let send = |timeouts: AttemptTimeouts| {
            let request = timeouts.apply(self.exchange().agent.delete(&url));
            let request = request.header(SECRET, &own.secret);
            self.resources.authorized(request).call()
        };
        self.exchange().ask("to unmute", None, send, |_, _| Ok(()))
    }

    /// Reports to the room which kinds of our media are on.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn put_publishing(
        &self,
        location: &str,
        video: bool,
        audio: bool,
    ) -> Result<(), SignallingError> {
        let body = serde_json::json!({ "video": video, "audio": audio }).to_string();
        self.put_json("what is on", location, "publishing", &body)
    }

    /// Reports the state of our links to the room.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn put_links(&self, location: &str, links: &[LinkReport]) -> Result<(), SignallingError> {
        let body = serde_json::json!(links).to_string();
        self.put_json("the links' figures", location, "links", &body)
    }

    /// Puts JSON to a part of our publication.
    fn put_json(
        &self,
        what: &'static str,
        location: &str,
        part: &str,
        body: &str,
    ) -> Result<(), SignallingError> {
        let url = format!("{}/{part}", self.resources.resolve(&self.base(), location)?);
        let send = |timeouts: AttemptTimeouts| {
            let request = timeouts.apply(self.exchange().agent.put(&url));
            let request = request.header("Content-Type", "application/json");
            self.resources.authorized(request).send(body)
        };
        self.exchange().ask(what, None, send, |_, _| Ok(()))
    }

    /// Reads the room's events until the connection ends or `take` returns false. Reads
    /// the next event only after `take` has returned.
    ///
    /// # Errors
    /// If the server refuses or cannot be reached.
    pub fn events(
        &self,
        query: &str,
        own: Option<&Identity>,
        take: impl FnMut(RoomEvent) -> bool,
    ) -> Result<(), SignallingError> {
        let stream = self.following(|stay| self.listen(&format!("{query}{stay}"), own));
        let is_lost = stream.as_ref().is_err_and(SignallingError::is_passing);
        self.exchange().base.answered(!is_lost);
        read_events(stream?, take).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => SignallingError::Events {
                url: self.base(),
                error: error.to_string(),
            },
            _ => self.exchange().unreachable(&ureq::Error::Io(error)),
        })
    }

    /// Opens the room's event stream.
    fn listen(
        &self,
        query: &str,
        own: Option<&Identity>,
    ) -> Result<BufReader<BodyReader<'static>>, SignallingError> {
        let url = format!("{}/api/rooms/{}/events?{query}", self.base(), self.room);
        let send = |timeouts: AttemptTimeouts| {
            let request = timeouts
                .apply(self.exchange().agent.get(&url))
                .config()
                .timeout_global(None)
                .timeout_recv_body(None)
                .timeout_per_read(Some(SILENCE))
                .build()
                .header(SECRET, secret(own).unwrap_or_default());
            self.resources.authorized(request).call()
        };
        let listen = |response, used: Option<&Used>| {
            let begun = begin(response, used)?;
            if let Some(used) = used {
                self.exchange().links.listen(used.clone());
            }
            Ok(begun)
        };
        self.exchange()
            .ask("to join", Some("text/event-stream"), send, listen)
    }
}

/// Returns the body of an event stream after its first bytes, because a path that loses
/// large packets passes the headers but not the room's list.
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

/// Returns the root URL of the server, to which requests append their paths. Rejects URLs
/// copied from a browser with a token or a room; the error names the right options.
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

pub(super) fn secret(own: Option<&Identity>) -> Option<&str> {
    own.map(|own| own.secret.as_str())
}
