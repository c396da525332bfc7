//! Server with one room, and the endpoints' actions in it.

use crate::client::{Answer, Events, request};
use crate::endpoint::{Endpoint, Source};
use crate::nats::Nats;
use crate::relay::Relay;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use weft_server::{ClusterConfig, MediaConfig, Server, ServerConfig, ServerHandle};

/// Packets per picture of the test's own publisher.
const PACKETS_A_PICTURE: u64 = 6;

pub(crate) struct Room(ServerHandle);

/// Participant with an open event stream.
pub(crate) struct Present {
    id: String,
    secret: String,
    _events: Events,
}

impl Room {
    pub(crate) fn open() -> Room {
        Room::at(&[])
    }

    /// Room of a server with this many media threads.
    pub(crate) fn with_threads(threads: usize) -> Room {
        let config = ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            threads: threads.try_into().unwrap(),
            ..ServerConfig::default()
        };
        Room(Server::start(config).unwrap())
    }

    /// Room of a server of a cluster, with two media threads.
    pub(crate) fn in_cluster(nats: &Nats, node: &str) -> Room {
        let config = ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            threads: 2.try_into().unwrap(),
            cluster: Some(ClusterConfig {
                address: nats.url().parse().unwrap(),
                node: node.parse().unwrap(),
                public_url: None,
                region: None,
                origins: Vec::new(),
            }),
            ..ServerConfig::default()
        };
        Room(Server::start(config).unwrap())
    }

    #[cfg(debug_assertions)]
    pub(crate) fn break_plane(&self, number: usize) {
        self.0.break_plane(number);
    }

    /// Room with media on these addresses; empty: the server chooses.
    pub(crate) fn at(addresses: &[Ipv4Addr]) -> Room {
        let addresses = addresses.iter().map(|a| IpAddr::V4(*a)).collect();
        let config = ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            media: MediaConfig {
                addresses,
                ..MediaConfig::default()
            },
            ..ServerConfig::default()
        };
        Room(Server::start(config).unwrap())
    }

    pub(crate) fn shut(self) {
        self.0.shutdown();
    }

    /// HTTP port.
    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr.port()
    }

    pub(crate) fn http(&self) -> SocketAddr {
        self.0.local_addr
    }

    pub(crate) fn media(&self) -> SocketAddr {
        self.0.media_addresses()[0]
    }

    pub(crate) fn request(&self, line: &str, body: &str) -> Answer {
        let headers = [("content-type", "application/sdp")];
        request(self.0.local_addr, line, &headers, body)
    }

    /// Connected publisher with one camera.
    pub(crate) fn publish(&self, name: &str, addresses: &[&str]) -> Endpoint {
        self.publish_from(name, addresses, Source::new(0))
    }

    pub(crate) fn publish_from(&self, name: &str, addresses: &[&str], source: Source) -> Endpoint {
        let endpoint = Endpoint::start(addresses, source);
        let answer = self.request(
            &format!("POST /whip/r?name={name}"),
            &endpoint.offer_to_send(),
        );
        self.take(&endpoint, &answer);
        self.wait_for_publication();
        endpoint
    }

    /// Publisher who is present in the room and may replace the connection.
    pub(crate) fn publish_present(&self, who: &Present, source: Source) -> Endpoint {
        let endpoint = Endpoint::start(&["127.0.0.1"], source);
        self.publish_as(who, &endpoint);
        self.wait_for_publication();
        endpoint
    }

    fn wait_for_publication(&self) {
        wait_for("a connected publisher", || {
            self.metric("weft_publications") > 0
        });
    }

    /// Publisher whose packets all pass through the relay.
    pub(crate) fn publish_through(&self, relay: &Relay, source: Source) -> Endpoint {
        let endpoint = Endpoint::start(&["127.0.0.1"], source);
        let offer = endpoint.offer_to_send_through(relay.address());
        let answer = self.request("POST /whip/r?name=ada", &offer);
        assert_eq!(answer.status, 201, "{}", answer.body);
        let answered = self.relayed(&answer.body, relay);
        endpoint.accept(&answered, answer.header("location"));
        self.wait_for_publication();
        endpoint
    }

    /// Description of the server, with its address replaced by the relay's.
    fn relayed(&self, sdp: &str, relay: &Relay) -> String {
        let port = |port: u16| format!(" {port} typ host");
        let (direct, relayed) = (port(self.media().port()), port(relay.address().port()));
        assert!(sdp.contains(&direct), "{sdp}");
        sdp.replace(&direct, &relayed)
    }

    /// Participant in the room who may publish more than once.
    pub(crate) fn enter(&self, name: &str) -> Present {
        let path = format!("/api/rooms/r/events?name={name}");
        let mut events = Events::open(self.0.local_addr, &path);
        let welcome = events.expect("welcome");
        let text = |key: &str| welcome[key].as_str().unwrap().to_owned();
        Present {
            id: text("id"),
            secret: text("secret"),
            _events: events,
        }
    }

    /// Events of the room after the welcome.
    pub(crate) fn listen(&self, name: &str) -> Events {
        let path = format!("/api/rooms/r/events?name={name}");
        let mut events = Events::open(self.0.local_addr, &path);
        events.expect("welcome");
        events
    }

    /// Connection of a present participant, who may have another one.
    pub(crate) fn publish_as(&self, who: &Present, endpoint: &Endpoint) {
        let answer = self.offer_as(who, &endpoint.offer_to_send());
        self.take(endpoint, &answer);
    }

    pub(crate) fn offer_as(&self, who: &Present, offer: &str) -> Answer {
        let headers = [
            ("content-type", "application/sdp"),
            ("weft-secret", &*who.secret),
        ];
        let line = format!("POST /whip/r?participant={}", who.id);
        request(self.0.local_addr, &line, &headers, offer)
    }

    /// Player that offers to receive one camera.
    pub(crate) fn play(&self, who: &str, addresses: &[&str]) -> Endpoint {
        self.play_cameras(who, addresses, 1)
    }

    /// Player that offers to receive this many cameras.
    pub(crate) fn play_cameras(&self, who: &str, addresses: &[&str], cameras: usize) -> Endpoint {
        let source = Source::cameras(&vec![None; cameras]).silent();
        let endpoint = Endpoint::start(addresses, source);
        let answer = self.request(&format!("POST /whep/r/{who}"), &endpoint.offer_to_receive());
        self.take(&endpoint, &answer);
        endpoint
    }

    fn take(&self, endpoint: &Endpoint, answer: &Answer) {
        assert_eq!(answer.status, 201, "{}", answer.body);
        endpoint.accept(&answer.body, answer.header("location"));
    }

    /// Player that lets the server offer, optionally behind a relay.
    pub(crate) fn play_offered(
        &self,
        who: &str,
        addresses: &[&str],
        relay: Option<&Relay>,
    ) -> Endpoint {
        let endpoint = Endpoint::start(addresses, Source::none());
        let offer = self.request(&format!("POST /whep/r/{who}"), "");
        assert_eq!(offer.status, 201, "{}", offer.body);
        let location = offer.header("location").to_owned();
        let mut sdp = offer.body;
        if let Some(relay) = relay {
            sdp = self.relayed(&sdp, relay);
        }
        let answer = endpoint.answer(&sdp, &location, relay.map(Relay::address));
        let taken = self.request(&format!("PATCH {location}"), &answer);
        assert_eq!(taken.status, 204, "{}", taken.body);
        endpoint
    }

    pub(crate) fn delete(&self, endpoint: &Endpoint) -> u16 {
        let location = endpoint.location();
        self.request(&format!("DELETE {location}"), "").status
    }

    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.request("GET /metrics", "").body;
        let line = text.lines().find_map(|l| l.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    }

    /// Asserts that each picture arrives once, in order, and that only pictures thinned
    /// by the server are missing: a moment without a processor looks like a full link,
    /// and thins the next pictures. For a player that sees as much as the others.
    pub(crate) fn assert_whole(&self, frames: &[u64]) {
        let once = frames.windows(2).all(|pair| pair[0] < pair[1]);
        assert!(once, "each once, in order: {frames:?}");
        let missing: Vec<u64> = (frames[0]..frames[frames.len() - 1])
            .filter(|number| frames.binary_search(number).is_err())
            .collect();
        let left_out = self.metric("weft_packets_thinned_total") / PACKETS_A_PICTURE;
        assert!(
            missing.len() as u64 <= left_out,
            "{missing:?} are missing, and {left_out} were left out by intent"
        );
    }
}

/// Waits up to twenty seconds for the work of other threads.
pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !done() {
        assert!(start.elapsed().as_secs() < 20, "never happened: {what}");
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
}
