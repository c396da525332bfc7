//! Node of a network thread: many clients, each with its own socket.

mod clients;
mod connection;
mod leaving;
mod publishing;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use weft_net::{Network, Node};
use weft_peer::{Event, NegotiationError, Offer, Output, PeerKey, PeerSet};
use weft_secure::Certificate;
use weft_session::Event as SessionEvent;
use weft_units::{Bytes, Deadline, Duration, Ecn, FiveTuple, Histogram, Instant, StreamId};

use crate::clip::Clip;
use crate::config::Clients;
use crate::received::{Span, Treatment, Whole};
use crate::stamp::Stamp;
use crate::weak::Datagram;
use connection::Connection;
pub(crate) use connection::{ConnectionReport, NewClient, Role, RoleReport};

/// Interval of the thread's load samples.
const SAMPLE: Duration = Duration::from_secs(1);

/// Number of an offer that waits for its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct OfferId(u64);

/// Sections of an offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sections {
    /// Sends pictures and sound.
    Send,
    /// Receives pictures and sound.
    Receive,
}

/// Reason why a client cannot be created.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClientError {
    /// The description is not acceptable.
    #[error("{0}")]
    Negotiation(#[from] NegotiationError),
    /// A socket cannot be opened.
    #[error("cannot open a socket: {0}; raise the limit of open files (`ulimit -n`)")]
    Socket(#[from] std::io::Error),
    /// No randomness is available.
    #[error("{0}")]
    Entropy(#[from] weft_net::EntropyError),
    /// The client has ended.
    #[error("the connection has ended")]
    Ended,
}

pub(crate) type Reply<T> = Sender<Result<T, ClientError>>;

/// Command from another thread.
pub(crate) enum Command {
    /// Creates an offer; replies with its number and SDP.
    Offer(Sections, NewClient, Reply<(OfferId, String)>),
    /// Withdraws an offer that gets no answer.
    Withdraw(OfferId),
    /// Accepts the answer to an offer, with additional candidates.
    Accept(OfferId, String, Vec<SocketAddr>, Reply<PeerKey>),
    /// Answers an offer with a receiving client; replies with the answer.
    Answer(NewClient, String, Vec<SocketAddr>, Reply<(PeerKey, String)>),
    /// Answers a later offer for the same client.
    AnswerLater(PeerKey, String, Reply<String>),
    /// Sets which encodings of a publisher's camera are watched.
    Wanted(PeerKey, Vec<bool>),
    /// Sets the span of the measurement.
    Measure(Span),
    /// Reports all clients.
    Report(Sender<NodeReport>),
    /// Closes all clients and ends the thread.
    Stop,
}

/// Samples of a thread's load in the measurement.
#[derive(Clone, Debug, Default)]
pub(crate) struct ThreadLoad {
    /// Share of each second in which the thread used a processor.
    pub busy: Vec<f64>,
    /// Longest iteration of its loop.
    pub lag: Duration,
    /// Delays of pictures after their due times.
    pub late: Histogram,
    /// Times from the hand-over of a picture until its publisher sends its last packet.
    pub leaving: Histogram,
    /// Datagrams that the system did not accept.
    pub unsent: u64,
}

/// Report of a network thread.
#[derive(Debug)]
pub(crate) struct NodeReport {
    pub connections: Vec<ConnectionReport>,
    pub load: ThreadLoad,
}

/// Settings that all clients share.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    pub clip: Arc<Clip>,
    pub certificate: Certificate,
    /// Address of this machine by which it reaches the server.
    pub local: IpAddr,
    pub clients: Clients,
    pub sound: bool,
}

struct Offered {
    offer: Offer,
    new: NewClient,
    sections: Sections,
    local: SocketAddr,
}

pub(crate) struct LoadNode {
    common: Common,
    peers: PeerSet,
    connections: BTreeMap<PeerKey, Connection>,
    /// Client of each local address; every client has its own address.
    by_local: BTreeMap<SocketAddr, PeerKey>,
    offers: BTreeMap<OfferId, Offered>,
    next_offer: u64,
    span: Option<Span>,
    /// Due time of the next picture or sound of all publishers.
    next_media: Option<Instant>,
    next_sample: Instant,
    /// Clients behind a slow link.
    weak: Vec<PeerKey>,
    load: ThreadLoad,
    unsent_before: u64,
}

impl LoadNode {
    pub fn new(common: Common, now: Instant) -> LoadNode {
        LoadNode {
            common,
            peers: PeerSet::default(),
            connections: BTreeMap::new(),
            by_local: BTreeMap::new(),
            offers: BTreeMap::new(),
            next_offer: 0,
            span: None,
            next_media: None,
            next_sample: now + SAMPLE,
            weak: Vec::new(),
            load: ThreadLoad::default(),
            unsent_before: 0,
        }
    }

    fn is_measured(&self, now: Instant) -> bool {
        self.span.is_some_and(|span| span.has(now))
    }

    fn sample(&mut self, network: &Network<'_>, now: Instant) {
        self.next_sample = now + SAMPLE;
        let unsent = network.unsent();
        let more = unsent - std::mem::replace(&mut self.unsent_before, unsent);
        if self.is_measured(now) {
            let load = network.load();
            self.load.busy.push(load.busy);
            self.load.lag = self.load.lag.max(load.lag);
            self.load.unsent += more;
        }
    }

    fn poll_weak(&mut self, now: Instant) {
        for key in self.weak.clone() {
            while let Some(connection) = self.connections.get_mut(&key) {
                let Some(datagram) = connection.weak.as_mut().and_then(|weak| weak.poll(now))
                else {
                    break;
                };
                let Datagram {
                    tuple,
                    ecn,
                    content,
                } = datagram;
                self.deliver(now, key, (tuple, ecn), &content);
            }
        }
    }

    /// Passes a datagram to its client.
    fn deliver(
        &mut self,
        now: Instant,
        key: PeerKey,
        (tuple, ecn): (FiveTuple, Ecn),
        datagram: &[u8],
    ) {
        let measured = self.is_measured(now);
        if let Some(connection) = self.connections.get_mut(&key) {
            connection.on_datagram(now, measured, tuple.remote, datagram);
        }
        self.peers.handle_datagram(now, tuple, ecn, datagram);
    }

    fn on_event(&mut self, now: Instant, key: PeerKey, event: Event) {
        let Some(connection) = self.connections.get_mut(&key) else {
            return;
        };
        match event {
            Event::Association(weft_secure::Event::Connected { .. }) => {
                connection.on_connected(now);
                self.next_media = Some(now);
            }
            Event::Association(weft_secure::Event::Failed { reason }) => {
                connection.failed = Some(reason.to_string());
            }
            Event::Session(SessionEvent::KeyframeRequested { stream }) => {
                connection.on_keyframe_requested(stream);
            }
            Event::Session(SessionEvent::TargetRateChanged { rate }) => {
                connection.on_target(rate, self.common.sound);
            }
            Event::Session(SessionEvent::FrameReceived { stream, frame }) => {
                self.on_frame(now, key, stream, &frame);
            }
            Event::Association(_)
            | Event::Session(_)
            | Event::Data(_)
            | Event::AddressWanted { .. }
            | Event::Packet(_) => {}
        }
    }

    fn on_frame(
        &mut self,
        now: Instant,
        key: PeerKey,
        stream: StreamId,
        frame: &weft_session::ReceivedFrame,
    ) {
        let Some(stamp) = Stamp::read(frame.codec, &frame.data) else {
            return;
        };
        let Some(connection) = self.connections.get_mut(&key) else {
            return;
        };
        let Role::Viewer(received) = &mut connection.role else {
            return;
        };
        let whole = Whole {
            stamp,
            keyframe: frame.keyframe,
            bytes: frame.data.len(),
            complete_at: frame.complete_at,
        };
        let treatment = received.on_picture(now, whole, self.span);
        if treatment == Treatment::RequestKeyframe {
            self.peers
                .drive(key, |peer| peer.request_keyframe(now, stream));
        }
    }
}

impl Node for LoadNode {
    type Command = Command;

    fn handle_datagram(&mut self, now: Instant, tuple: FiveTuple, ecn: Ecn, datagram: &[u8]) {
        let Some(key) = self.by_local.get(&tuple.local).copied() else {
            return;
        };
        let weak = self.connections.get_mut(&key);
        if let Some(weak) = weak.and_then(|connection| connection.weak.as_mut()) {
            let size = Bytes(datagram.len() as u64 + connection::headers(tuple.remote));
            let content = datagram.to_vec();
            weak.enqueue(
                now,
                size,
                Datagram {
                    tuple,
                    ecn,
                    content,
                },
            );
            return self.poll_weak(now);
        }
        self.deliver(now, key, (tuple, ecn), datagram);
    }

    fn handle_command(&mut self, network: &mut Network<'_>, command: Command) {
        let now = network.clock.now();
        match command {
            Command::Offer(sections, new, reply) => {
                let _ = reply.send(self.offer(network, sections, new));
            }
            Command::Withdraw(offer) => {
                if let Some(offered) = self.offers.remove(&offer) {
                    network.remove_socket(offered.local);
                }
            }
            Command::Accept(offer, answer, more, reply) => {
                let _ = reply.send(self.accept(network, offer, (&answer, &more)));
            }
            Command::Answer(new, offer, more, reply) => {
                let _ = reply.send(self.answer(network, new, (&offer, &more)));
            }
            Command::AnswerLater(key, offer, reply) => {
                let _ = reply.send(self.answer_later(now, key, &offer));
            }
            Command::Wanted(key, wanted) => {
                if let Some(connection) = self.connections.get_mut(&key) {
                    connection.set_wanted(&wanted);
                }
            }
            Command::Measure(span) => self.span = Some(span),
            Command::Report(reply) => {
                let _ = reply.send(self.report(now));
            }
            Command::Stop => {
                for key in self.connections.keys() {
                    self.peers.close(now, *key);
                }
                network.stop();
            }
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let at = |at, reason| Some(Deadline { at, reason });
        let media = self.next_media.and_then(|next| at(next, "media"));
        let sample = at(self.next_sample, "sample");
        let mut earliest = Deadline::earlier(media, sample);
        for key in &self.weak {
            let connection = self.connections.get(key);
            let weak = connection.and_then(|c| c.weak.as_ref()?.poll_timeout());
            earliest = Deadline::earlier(earliest, weak);
        }
        Deadline::earlier(self.peers.poll_timeout(), earliest)
    }

    fn handle_timeout(&mut self, network: &mut Network<'_>) {
        let now = network.clock.now();
        self.peers.handle_timeout(now);
        if self.next_media.is_some_and(|next| next <= now) {
            self.send_media(now);
        }
        self.poll_weak(now);
        if self.next_sample <= now {
            self.sample(network, now);
        }
    }

    fn send(&mut self, network: &mut Network<'_>) {
        let now = network.clock.now();
        let measured = self.is_measured(now);
        while let Some((key, output)) = self.peers.poll_output() {
            match output {
                Output::Transmit {
                    tuple,
                    ecn,
                    datagram,
                } => {
                    if measured && let Some(connection) = self.connections.get_mut(&key) {
                        connection.sent.count(tuple.remote, datagram.len());
                        if let Role::Publisher(publisher) = &mut connection.role
                            && let Some(time) = publisher.leaving.on_datagram(now, &datagram)
                        {
                            self.load.leaving.add(time);
                        }
                    }
                    network.send(tuple, ecn, &datagram);
                    self.peers.recycle(key, datagram);
                }
                Output::Event(event) => self.on_event(network.clock.now(), key, event),
            }
        }
    }
}
