//! Bodies of the fuzz targets `http` and `turn`, which tests also run.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::Router;
use axum::extract::connect_info::MockConnectInfo;
use axum::serve::Listener;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::mpsc;
use weft_forwarding::{Plane, Publisher, Settings};
use weft_secure::Certificate;

use crate::auth::{AdminGate, Gate};
use crate::clock::Clock;
use crate::config::Limits;
use crate::hub::Hub;
use crate::ids::Ids;
use crate::live::Live;
use crate::log::Log;
use crate::media_plane::{
    Destination, Event, IceUpdate, Media, MediaError, MediaPlane, Negotiated, Play, Publish,
    Request, ResourceId, Restarted, Stats,
};
use crate::origin::Peer;
use crate::routes::{self, App};
pub use crate::turn::fuzz::fuzz_turn;

/// Maximum number of bytes that wait between client and server.
const PIPE: usize = 1 << 20;
/// Maximum number of requests in one input; the rest is ignored. Many small inputs find
/// more than a few long ones: three requests show a connection's effect on later ones.
const MOST: usize = 4;

/// Sends requests to the server's routes, in front of a real media plane without sockets.
/// The byte 255 ends each request. Its first byte selects the route, and the rest is the
/// body, or the whole request. Each must be answered, and never with the status of a
/// defect. Returns the number of requests, plus a thousandth of their bytes.
///
/// # Panics
/// If there is a defect.
pub fn fuzz_requests(data: &[u8]) -> usize {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().build();
    let runtime = runtime.expect("a runtime without sockets");
    runtime.block_on(async {
        let mut client = Client::start();
        let mut requests = 0;
        for request in data.split(|byte| *byte == 0xff) {
            if let Some((what, body)) = request.split_first().filter(|_| requests < MOST) {
                requests += 1;
                client.request(*what, body).await;
            }
        }
        requests + data.len() / 1_000
    })
}

/// Number of turns of the server before a client gives up: accepting a connection,
/// reading and writing take one each.
const TURNS: usize = 10;

/// Whether a request is complete.
#[derive(PartialEq)]
enum Whole {
    Yes,
    Maybe,
}

struct Client {
    connections: mpsc::UnboundedSender<DuplexStream>,
    hub: Arc<Hub>,
    /// Locations of media connections.
    places: Vec<String>,
    /// Event streams, which stay open.
    streams: Vec<DuplexStream>,
}

impl Client {
    fn start() -> Client {
        let media = Arc::new(WithoutSockets::new());
        let hub = Arc::new(Hub::new(
            Limits::default(),
            media,
            (Clock::machine(), Ids::counted()),
            Log::default(),
        ));
        let app = App {
            hub: Arc::clone(&hub),
            gate: Gate::default(),
            admin: AdminGate::default(),
            origins: Live::default(),
            only_loopback: true,
            figures: Arc::default(),
            metrics_rooms: 1,
            ice_servers: Live::default(),
        };
        let from = MockConnectInfo(Peer::from(IpAddr::V4(Ipv4Addr::LOCALHOST)));
        let router: Router = routes::router(app, None).layer(from);
        let (connections, accepted) = mpsc::unbounded_channel();
        tokio::spawn(async move { axum::serve(Pipes(accepted), router).await });
        Client {
            connections,
            hub,
            places: Vec::new(),
            streams: Vec::new(),
        }
    }

    async fn request(&mut self, what: u8, body: &[u8]) {
        let sdp = "application/sdp";
        let json = "application/json";
        let fragment = "application/trickle-ice-sdpfrag";
        let place = usize::from(what >> 4) % self.places.len().max(1);
        let place = self.places.get(place).map_or("/whip/r/x", |p| p.as_str());
        let (line, kind) = match what & 15 {
            0 => ("POST /whip/r?name=a".to_owned(), sdp),
            1 => ("POST /whep/r/a?name=b".to_owned(), sdp),
            2 => (format!("PATCH {place}"), fragment),
            3 => (format!("PATCH {place}"), sdp),
            4 => (format!("PUT {place}/links"), json),
            5 => (format!("PUT {place}/publishing"), json),
            6 => ("POST /api/rooms/r/invitation".to_owned(), json),
            7 => (format!("DELETE {place}"), sdp),
            8 => ("GET /api/rooms/r/events?name=c".to_owned(), sdp),
            _ => return drop(self.exchange(body, Whole::Maybe).await),
        };
        let length = body.len();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {kind}\r\n\
             content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        let answer = self
            .exchange(&[head.as_bytes(), body].concat(), Whole::Yes)
            .await;
        assert!(answer.starts_with("HTTP/1.1 "), "no answer to {line}");
        assert!(!answer.starts_with("HTTP/1.1 500"), "{answer}");
        if let Some(place) = header(&answer, "location") {
            self.places.push(place.to_owned());
            let resource = place.rsplit('/').next().unwrap_or_default();
            // Reports a path, so that the publication can be played.
            self.hub.handle_media_event(Event::Connected {
                resource: ResourceId(resource.to_owned()),
            });
        }
    }

    /// Returns the answer, or the start of an event stream.
    async fn exchange(&mut self, request: &[u8], whole: Whole) -> String {
        let (mut ours, theirs) = tokio::io::duplex(PIPE);
        let sent = self.connections.send(theirs);
        sent.expect("the server runs");
        ours.write_all(request).await.expect("it fits");
        let mut answer = Vec::new();
        if whole == Whole::Maybe {
            // The rest never arrives. The server still answers complete requests.
            for _ in 0..TURNS {
                tokio::task::yield_now().await;
            }
        }
        if request.starts_with(b"GET /api/rooms/r/events") {
            tokio::select! {
                biased;
                _ = ours.read_buf(&mut answer) => self.streams.push(ours),
                // An incomplete request gets no answer.
                () = std::future::ready(()), if whole == Whole::Maybe => {}
            }
            return String::from_utf8_lossy(&answer).into_owned();
        }
        if whole == Whole::Maybe {
            let _ = ours.shutdown().await;
        }
        let _ = ours.read_to_end(&mut answer).await;
        String::from_utf8_lossy(&answer).into_owned()
    }
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let line = answer.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.strip_prefix(": "))
}

/// Listener for pipes instead of sockets.
struct Pipes(mpsc::UnboundedReceiver<DuplexStream>);

impl Listener for Pipes {
    type Io = DuplexStream;
    type Addr = ();

    async fn accept(&mut self) -> (DuplexStream, ()) {
        match self.0.recv().await {
            Some(pipe) => (pipe, ()),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Media plane whose clock does not advance and whose datagrams are dropped.
struct WithoutSockets(Mutex<Plane>);

impl WithoutSockets {
    fn new() -> WithoutSockets {
        static CERTIFICATE: OnceLock<Certificate> = OnceLock::new();
        let certificate = CERTIFICATE.get_or_init(|| Certificate::generate().expect("randomness"));
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let origin = weft_net::Clock::start().origin();
        let settings = Settings::new(origin, certificate.clone(), &[address]);
        WithoutSockets(Mutex::new(Plane::new(settings)))
    }
}

impl MediaPlane for WithoutSockets {
    fn send(&self, _: Destination<'_>, request: Request) {
        let mut plane = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        request(&mut Directly(&mut plane));
        while plane.poll_output().is_some() {}
    }
}

struct Directly<'a>(&'a mut Plane);

impl Media for Directly<'_> {
    fn publish(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        let publisher = Publisher {
            room: publish.room,
            participant: publish.participant,
        };
        let entropy = weft_net::entropy().map_err(|_| MediaError::Gone)?;
        let (now, resource) = (weft_units::Instant::ZERO, publish.resource);
        self.0
            .publish(now, resource, publisher, &publish.offer, &entropy)
    }

    fn play(&mut self, play: Play) -> Result<Negotiated, MediaError> {
        let publisher = Publisher {
            room: play.room,
            participant: play.publisher,
        };
        let entropy = weft_net::entropy().map_err(|_| MediaError::Gone)?;
        let (now, offer) = (weft_units::Instant::ZERO, play.offer.as_deref());
        self.0.play(now, play.resource, publisher, offer, &entropy)
    }

    fn answer(&mut self, resource: ResourceId, sdp: String) -> Result<(), MediaError> {
        self.0.accept(weft_units::Instant::ZERO, resource, &sdp)
    }

    fn update_ice(
        &mut self,
        resource: &ResourceId,
        update: &IceUpdate,
    ) -> Result<Option<Restarted>, MediaError> {
        let entropy = weft_net::entropy().map_err(|_| MediaError::Gone)?;
        let now = weft_units::Instant::ZERO;
        self.0.update_ice(now, resource, update, &entropy)
    }

    fn close(&mut self, resource: &ResourceId) {
        self.0.close(weft_units::Instant::ZERO, resource);
    }

    fn stats(&mut self) -> Stats {
        self.0.stats()
    }
}

#[cfg(test)]
mod tests;
