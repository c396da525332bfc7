//! TURN client of one allocation, without sockets and clocks. It adds to
//! `turn-client-proto`, which neither frames nor pads messages in streams, does not report
//! refused credentials, and loses permissions while this machine is suspended.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use turn_client_proto::api::{
    BindChannelError, SendError, Transmit, TurnClientApi, TurnConfig, TurnEvent, TurnPollRet,
    TurnRecvRet,
};
use turn_client_proto::stun::Instant as TurnInstant;
use turn_client_proto::tcp::TurnClientTcp;
use turn_client_proto::types::stun::attribute::ErrorCode;
use turn_client_proto::types::stun::message::{Message, MessageClass};
use turn_client_proto::types::{AddressFamily, TransportType, TurnCredentials};
use turn_client_proto::udp::TurnClientUdp;
use weft_units::{Duration, Instant, printable};

use super::server::{TurnServer, TurnTransport};

/// Maximum number of addresses that one allocation sends to. Chosen by us: a peer has a
/// few addresses, and could name any number.
const MAX_PEERS: usize = 16;

/// Maximum number of datagrams that wait for the channel to their destination. Chosen by us:
/// the first checks.
const MAX_WAITING: usize = 8;

/// Pause after a server refused to relay to an address. Chosen by us.
const REFUSED_FOR: Duration = Duration::from_secs(10);

/// Maximum number of characters shown of a server's reason. Chosen by us.
const MAX_WORDS: usize = 100;

/// Reason of an allocation that ends without a message from the server.
pub const SILENT: &str = "does not answer; is it running there, and does a firewall block it?";

/// Event of an allocation.
#[derive(Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// The server relays at this address.
    Allocated(SocketAddr),
    /// The server refuses the allocation, or the allocation has ended. The reason is a
    /// sentence without its subject, the server.
    Ended(String),
}

/// Client of one allocation.
pub struct Client {
    turn: Turn,
    transport: TransportType,
    local: SocketAddr,
    server: SocketAddr,
    peers: BTreeMap<SocketAddr, Peer>,
    transmits: VecDeque<Vec<u8>>,
    events: VecDeque<ClientEvent>,
    /// Refusals of credentials; the first one only requests them (RFC 8489 section 9.2.3).
    unauthorized: u32,
    /// Last reason that the server gave.
    reason: Option<String>,
    has_ended: bool,
}

/// The library's client.
enum Turn {
    Udp(Box<TurnClientUdp>),
    Tcp(Box<TurnClientTcp>),
}

/// State of an address that we send to.
enum Peer {
    /// A channel is being created; these datagrams wait for it.
    Asked(Vec<Vec<u8>>),
    Bound,
    /// The server refused the address at this time.
    Refused(Instant),
}

macro_rules! turn {
    ($turn:expr, $client:ident => $call:expr) => {
        match $turn {
            Turn::Udp($client) => $call,
            Turn::Tcp($client) => $call,
        }
    };
}

fn at(now: Instant) -> TurnInstant {
    TurnInstant::from_nanos(i64::try_from(now.as_nanos()).unwrap_or(i64::MAX))
}

impl Client {
    /// Creates a client at `local` of the server at this address; the server allocates an
    /// address of the same family.
    pub fn new(local: SocketAddr, server: SocketAddr, named: &TurnServer) -> Client {
        let mut config = TurnConfig::new(TurnCredentials::new(&named.username, &named.password));
        config.set_address_family(match server.is_ipv4() {
            true => AddressFamily::IPV4,
            false => AddressFamily::IPV6,
        });
        let (turn, transport) = match named.transport {
            TurnTransport::Udp => (
                Turn::Udp(Box::new(TurnClientUdp::allocate(local, server, config))),
                TransportType::Udp,
            ),
            TurnTransport::Tcp | TurnTransport::Tls => (
                Turn::Tcp(Box::new(TurnClientTcp::allocate(local, server, config))),
                TransportType::Tcp,
            ),
        };
        Client {
            turn,
            transport,
            local,
            server,
            peers: BTreeMap::new(),
            transmits: VecDeque::new(),
            events: VecDeque::new(),
            unauthorized: 0,
            reason: None,
            has_ended: false,
        }
    }

    /// Handles a complete message from the server, without padding; returns the datagram
    /// in it and its source, if there is one.
    pub fn handle_message(
        &mut self,
        now: Instant,
        message: &[u8],
    ) -> Option<(SocketAddr, Vec<u8>)> {
        self.read_refusal(message);
        let transmit = Transmit::new(message, self.transport, self.server, self.local);
        let received = match turn!(&mut self.turn, turn => turn.recv(transmit, at(now))) {
            TurnRecvRet::PeerData(data) => Some((data.peer, data.data().to_vec())),
            TurnRecvRet::Handled | TurnRecvRet::Ignored(_) | TurnRecvRet::PeerIcmp { .. } => None,
        };
        self.handle_timeout(now);
        received
    }

    /// Sends a datagram to a peer; the first ones wait for a channel to it.
    pub fn send(&mut self, now: Instant, peer: SocketAddr, datagram: &[u8]) {
        let is_full = self.peers.len() >= MAX_PEERS;
        match self.peers.get_mut(&peer) {
            Some(Peer::Asked(waiting)) => {
                if waiting.len() < MAX_WAITING {
                    waiting.push(datagram.to_vec());
                }
                return;
            }
            Some(Peer::Refused(since)) if now.saturating_since(*since) < REFUSED_FOR => return,
            Some(Peer::Bound) => {
                let sent = turn!(&mut self.turn, turn => {
                    turn.send_to(TransportType::Udp, peer, datagram, at(now))
                });
                match sent {
                    Ok(Some(built)) => return self.transmits.push_back(built.build().data),
                    // It expired while this machine was suspended.
                    Err(SendError::NoPermission) => {}
                    Ok(None) | Err(_) => return,
                }
            }
            Some(Peer::Refused(_)) => {}
            None if is_full => return,
            None => {}
        }
        self.peers
            .insert(peer, Peer::Asked(vec![datagram.to_vec()]));
        let asked = turn!(&mut self.turn, turn => {
            match turn.bind_channel(TransportType::Udp, peer, at(now)) {
                Err(BindChannelError::AlreadyExists | BindChannelError::ExpiredChannelExists(_)) => {
                    turn.create_permission(TransportType::Udp, peer.ip(), at(now)).is_ok()
                }
                bound => bound.is_ok(),
            }
        });
        if !asked {
            self.peers.insert(peer, Peer::Refused(now));
        }
        self.handle_timeout(now);
    }

    /// Releases the allocation.
    pub fn end(&mut self, now: Instant) {
        let _ = turn!(&mut self.turn, turn => turn.delete(at(now)));
        self.handle_timeout(now);
    }

    /// Returns the next message to the server, without padding.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.transmits.pop_front()
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop_front()
    }

    /// Handles the events that are due, and returns the time of the next call.
    pub fn handle_timeout(&mut self, now: Instant) -> Option<Instant> {
        let polled = turn!(&mut self.turn, turn => turn.poll(at(now)));
        while let Some(transmit) = turn!(&mut self.turn, turn => turn.poll_transmit(at(now))) {
            self.transmits.push_back(transmit.data.as_ref().to_vec());
        }
        while let Some(event) = turn!(&mut self.turn, turn => turn.poll_event()) {
            self.on_event(now, event);
        }
        match polled {
            TurnPollRet::WaitUntil(until) => {
                let until = u64::try_from(until.as_nanos()).unwrap_or(0);
                Some(Instant::from_nanos(until).max(now + Duration::from_millis(1)))
            }
            TurnPollRet::Closed => {
                self.fail(SILENT);
                None
            }
            TurnPollRet::AllocateTcpSocket { .. } | TurnPollRet::TcpClose { .. } => None,
        }
    }

    fn on_event(&mut self, now: Instant, event: TurnEvent) {
        match event {
            TurnEvent::AllocationCreated(_, address) => {
                self.events.push_back(ClientEvent::Allocated(address));
            }
            TurnEvent::AllocationCreateFailed(_) => self.fail("makes no allocation"),
            TurnEvent::ChannelCreated(_, peer) => self.on_bound(now, peer),
            TurnEvent::PermissionCreated(_, ip) => {
                let peers = self.peers.keys().filter(|peer| peer.ip() == ip);
                for peer in peers.copied().collect::<Vec<SocketAddr>>() {
                    self.on_bound(now, peer);
                }
            }
            TurnEvent::ChannelCreateFailed(_, peer) => {
                self.peers.insert(peer, Peer::Refused(now));
            }
            TurnEvent::PermissionCreateFailed(_, ip) => {
                let peers = self.peers.iter_mut().filter(|(peer, _)| peer.ip() == ip);
                peers.for_each(|(_, peer)| *peer = Peer::Refused(now));
            }
            TurnEvent::TcpConnected(_) | TurnEvent::TcpConnectFailed(_) => {}
        }
    }

    fn on_bound(&mut self, now: Instant, peer: SocketAddr) {
        let before = self.peers.insert(peer, Peer::Bound);
        if let Some(Peer::Asked(waiting)) = before {
            for datagram in waiting {
                self.send(now, peer, &datagram);
            }
        }
    }

    /// Records why the server refuses a request. The second refusal of the credentials
    /// ends the allocation, because the library would retry for another half minute.
    fn read_refusal(&mut self, message: &[u8]) {
        let Ok(message) = Message::from_bytes(message) else {
            return;
        };
        if !message.has_class(MessageClass::Error) {
            return;
        }
        let Ok(error) = message.attribute::<ErrorCode>() else {
            return;
        };
        let words: String = error.reason().chars().take(MAX_WORDS).collect();
        let words = printable(&words);
        self.reason = match error.code() {
            401 => {
                self.unauthorized += 1;
                None
            }
            // Only a new nonce (RFC 8489 section 9.2.4).
            438 => None,
            code @ (486 | 508) => Some(format!(
                "is full ({code} {words}); raise its limits, or name another one"
            )),
            code => Some(format!("refuses: {code} {words}")),
        };
        if self.unauthorized > 1 {
            self.reason = Some(
                "refuses the user name or the password (401); ask its operator for new ones"
                    .to_owned(),
            );
            self.fail("refuses");
        }
    }

    /// Ends the allocation, with the server's reason if it gave one.
    fn fail(&mut self, otherwise: &str) {
        if !std::mem::replace(&mut self.has_ended, true) {
            let reason = self.reason.take();
            let reason = reason.unwrap_or_else(|| otherwise.to_owned());
            self.events.push_back(ClientEvent::Ended(reason));
        }
    }
}
