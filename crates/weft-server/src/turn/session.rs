//! Protocol of one client: requests, its allocation, and the data of both
//! directions. Without sockets and clocks.
//!
//! Permissions (RFC 8656 section 9) are answered but not stored: they protect a client
//! from strangers, and the only peers are the media addresses.

mod answers;
#[cfg(test)]
pub(super) mod tests;

use super::authority::{BadName, Now, REALM};
use super::places::{Full, Place};
use super::terms::Terms;
use answers::{Refusal, Signing, granted, indication, mapped};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};
use turn_types::AddressFamily;
use turn_types::attribute::{
    ChannelNumber, Data, EvenPort, Lifetime, RequestedAddressFamily, RequestedTransport,
    XorPeerAddress,
};
use turn_types::channel::ChannelData;
use turn_types::message::{ALLOCATE, CHANNEL_BIND, CREATE_PERMISSION, REFRESH, SEND};
use turn_types::stun::attribute::{
    Attribute as _, AttributeFromRaw as _, AttributeStaticType as _, ErrorCode, Nonce, Realm,
    Username,
};
use turn_types::stun::attribute::{AttributeType, Fingerprint, MessageIntegrity};
use turn_types::stun::message::{
    BINDING, IntegrityKey, Message, MessageClass, MessageHeader, TransactionId,
};

/// Lifetime of an allocation, regardless of the client's request (RFC 8656 section 7.2:
/// at least ten minutes): an abandoned one keeps its place no longer.
pub(super) const LIFETIME: Duration = Duration::from_secs(600);
/// Protocol number of UDP, the only transport to peers (RFC 8656 section 18.8).
const UDP: u8 = 17;
/// Number of ports to try for an even one. Chosen by us: half of all ports are even.
const EVEN_PORT_TRIES: usize = 16;
/// Length of the header of ChannelData (RFC 8656 section 12.4).
const CHANNEL_HEADER: usize = 4;
/// Numbers of channels (RFC 8656 section 12).
const CHANNELS: std::ops::RangeInclusive<u16> = 0x4000..=0x4fff;

/// Transport between client and server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    /// TCP or TLS: ChannelData is padded (RFC 8656 section 12.5).
    Stream,
}

/// Socket of an allocation.
pub(super) trait RelaySocket {
    /// Opens it on a free port of this address, and returns its address.
    fn open(&mut self, ip: IpAddr) -> io::Result<SocketAddr>;
}

/// Reaction to a message of the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reaction<'a> {
    /// None: not a message, or one that is dropped.
    Nothing,
    /// Message to the client.
    Answer(Vec<u8>),
    /// Answer to the request that ends the allocation.
    End(Vec<u8>),
    /// Data to the peer with this local address.
    Send(SocketAddr, &'a [u8]),
}

/// Protocol of one client.
pub(super) struct Session {
    client: SocketAddr,
    transport: Transport,
    terms: Arc<Terms>,
    allocation: Option<Allocation>,
}

struct Allocation {
    username: String,
    key: IntegrityKey,
    /// Request that created it, with its answer, which is repeated.
    made: (TransactionId, Vec<u8>),
    is_ipv4: bool,
    until: Instant,
    /// Peers by channel, with the addresses that the client knows. No two channels have
    /// the same peer.
    channels: BTreeMap<u16, SocketAddr>,
    _place: Place,
}

impl Session {
    pub(super) fn new(client: SocketAddr, transport: Transport, terms: Arc<Terms>) -> Session {
        Session {
            client,
            transport,
            terms,
            allocation: None,
        }
    }

    /// End of the allocation unless it is refreshed; `None` without one.
    pub(super) fn until(&self) -> Option<Instant> {
        self.allocation.as_ref().map(|allocation| allocation.until)
    }

    /// Handles a message of the client.
    pub(super) fn handle_client<'a>(
        &mut self,
        now: Now,
        message: &'a [u8],
        socket: &mut dyn RelaySocket,
    ) -> Reaction<'a> {
        if message.first().is_some_and(|first| *first > 3) {
            return self.channel_data(message).unwrap_or(Reaction::Nothing);
        }
        let Some(request) = parsed(message) else {
            return Reaction::Nothing;
        };
        match (request.class(), request.method()) {
            (MessageClass::Request, BINDING) => Reaction::Answer(mapped(&request, self.client)),
            (MessageClass::Request, _) => self.request(now, &request, socket),
            (MessageClass::Indication, SEND) => match self.sent_data(&request) {
                Some((peer, range)) => Reaction::Send(peer, &message[range]),
                None => Reaction::Nothing,
            },
            _ => Reaction::Nothing,
        }
    }

    /// Returns the message to the client for data from the peer with this local
    /// address; `None` if it is not a peer or has no allocation to send to.
    pub(super) fn handle_peer(&self, local: SocketAddr, data: &[u8]) -> Option<Vec<u8>> {
        let allocation = self.allocation.as_ref()?;
        let peer = self.terms.peers.known(local)?;
        let mut channels = allocation.channels.iter();
        let Some((channel, _)) = channels.find(|(_, bound)| **bound == peer) else {
            return Some(indication(peer, data));
        };
        let mut message = vec![0; CHANNEL_HEADER + data.len()];
        ChannelData::new(*channel, data).write_into_unchecked(&mut message);
        match self.transport {
            Transport::Stream => message.resize(message.len().next_multiple_of(4), 0),
        }
        Some(message)
    }

    fn channel_data<'a>(&self, message: &'a [u8]) -> Option<Reaction<'a>> {
        let (channel, length) = ChannelData::parse_header(message).ok()?;
        let data = message.get(CHANNEL_HEADER..CHANNEL_HEADER + length)?;
        let peer = self.allocation.as_ref()?.channels.get(&channel)?;
        let local = self.terms.peers.local(*peer)?;
        Some(Reaction::Send(local, data))
    }

    /// Peer and position of the data in an indication.
    fn sent_data(&self, message: &Message<'_>) -> Option<(SocketAddr, std::ops::Range<usize>)> {
        self.allocation.as_ref()?;
        let peer = message.attribute::<XorPeerAddress>().ok()?;
        let local = self
            .terms
            .peers
            .local(peer.addr(message.transaction_id()))?;
        let (offset, data) = message.attribute_and_offset::<Data<'_>>().ok()?;
        // The value follows type and length (RFC 8489 section 14).
        let start = offset + 4;
        Some((local, start..start + data.data().len()))
    }

    fn request<'a>(
        &mut self,
        now: Now,
        request: &Message<'_>,
        socket: &mut dyn RelaySocket,
    ) -> Reaction<'a> {
        let (username, key) = match self.authenticated(now, request) {
            Ok(known) => known,
            Err(refusal) => return self.refused(now, request, refusal, None),
        };
        let done = match request.method() {
            ALLOCATE => self.allocate(now, request, (&username, &key), socket),
            REFRESH => self.refresh(now, request, &key),
            CREATE_PERMISSION => self.permit(request, &key),
            CHANNEL_BIND => self.bind(request, &key),
            _ => Err(Refusal::bad("this server has no such method")),
        };
        done.unwrap_or_else(|refusal| self.refused(now, request, refusal, Some(&key)))
    }

    /// Answers with an error, signed if the client is known. Challenges for credentials
    /// are a part of every exchange and are not logged.
    fn refused<'a>(
        &self,
        now: Now,
        request: &Message<'_>,
        refusal: Refusal,
        key: Option<&IntegrityKey>,
    ) -> Reaction<'a> {
        if !refusal.is_challenge() {
            let (code, reason) = (refusal.code, &refusal.reason);
            let from = (!self.client.ip().is_loopback()).then(|| self.client.ip());
            let text = || format!("TURN: {reason}");
            self.terms.refusals.request((code, "turn"), text, from);
        }
        let nonce = matches!(
            refusal.code,
            ErrorCode::UNAUTHORIZED | ErrorCode::STALE_NONCE
        )
        .then(|| self.terms.authority.nonce(self.client, now.instant));
        let signing = match (key, nonce) {
            (_, Some(nonce)) => Signing::Challenge(nonce),
            (Some(key), None) => Signing::Key(key),
            (None, None) => Signing::None,
        };
        Reaction::Answer(refusal.answer(request, signing))
    }

    /// Name and key of the client that signed the request (RFC 8489 section
    /// 9.2.4).
    fn authenticated(
        &self,
        now: Now,
        request: &Message<'_>,
    ) -> Result<(String, IntegrityKey), Refusal> {
        if !request.has_attribute(MessageIntegrity::TYPE) {
            return Err(Refusal::challenge());
        }
        let missing = |_| Refusal::bad("USERNAME, REALM or NONCE is missing");
        let username = request.attribute::<Username>().map_err(missing)?;
        let nonce = request.attribute::<Nonce>().map_err(missing)?;
        let realm = request.attribute::<Realm>().map_err(missing)?;
        let authority = &self.terms.authority;
        if realm.realm() != REALM || !authority.accepts(nonce.nonce(), self.client, now.instant) {
            return Err(Refusal::new(ErrorCode::STALE_NONCE, "Stale Nonce"));
        }
        let name = username.username();
        let key = match &self.allocation {
            Some(own) if own.username != name => {
                let reason = "the allocation has other credentials";
                return Err(Refusal::new(ErrorCode::WRONG_CREDENTIALS, reason));
            }
            // An allocation survives the expiry of its credentials.
            Some(own) => own.key.clone(),
            None => authority.key(name, now.wall).map_err(|bad| match bad {
                BadName::Expired => {
                    Refusal::unauthorized("the credentials have expired; load the page again")
                }
                BadName::Foreign => {
                    Refusal::unauthorized("these credentials are not from this server")
                }
            })?,
        };
        request.validate_integrity_with_key(&key).map_err(|_| {
            Refusal::unauthorized(
                "wrong password, or credentials from before a restart; load the page again",
            )
        })?;
        Ok((name.to_owned(), key))
    }

    fn allocate<'a>(
        &mut self,
        now: Now,
        request: &Message<'_>,
        (username, key): (&str, &IntegrityKey),
        socket: &mut dyn RelaySocket,
    ) -> Result<Reaction<'a>, Refusal> {
        if let Some(own) = &self.allocation {
            let (transaction, answer) = &own.made;
            return match *transaction == request.transaction_id() {
                true => Ok(Reaction::Answer(answer.clone())),
                false => Err(Refusal::mismatch(
                    "this connection has an allocation already",
                )),
            };
        }
        refuse_unknown(
            request,
            &[
                RequestedTransport::TYPE,
                RequestedAddressFamily::TYPE,
                EvenPort::TYPE,
                Lifetime::TYPE,
            ],
        )?;
        let transport = request.attribute::<RequestedTransport>();
        match transport.map(|transport| transport.protocol()) {
            Ok(UDP) => {}
            Ok(_) => {
                let code = ErrorCode::UNSUPPORTED_TRANSPORT_PROTOCOL;
                return Err(Refusal::new(code, "peers are reached over UDP only"));
            }
            Err(_) => return Err(Refusal::bad("REQUESTED-TRANSPORT is missing")),
        }
        let ip = self.relay_address(request)?;
        let place = self.terms.places.enter(self.client.ip());
        let place = place.map_err(|full| match full {
            Full::All => Refusal::new(
                ErrorCode::INSUFFICIENT_CAPACITY,
                "all allocations are taken; raise --max-connections",
            ),
            Full::Address => Refusal::new(
                ErrorCode::ALLOCATION_QUOTA_REACHED,
                "this address has its allocations; raise --max-connections-per-address",
            ),
        })?;
        let relayed = open(socket, ip, request)?;
        let answer = granted(request, Some((relayed, self.client)), Some(LIFETIME), key);
        self.allocation = Some(Allocation {
            username: username.to_owned(),
            key: key.clone(),
            made: (request.transaction_id(), answer.clone()),
            is_ipv4: ip.is_ipv4(),
            until: now.instant + LIFETIME,
            channels: BTreeMap::new(),
            _place: place,
        });
        Ok(Reaction::Answer(answer))
    }

    /// Address of this machine for the relay. Browsers request no family and accept any,
    /// so without IPv4 media they get IPv6.
    fn relay_address(&self, request: &Message<'_>) -> Result<IpAddr, Refusal> {
        let peers = &self.terms.peers;
        let family = request.attribute::<RequestedAddressFamily>();
        let ip = match family.map(|family| family.family()) {
            Ok(family) => peers.relay(family == AddressFamily::IPV4),
            Err(_) => peers.relay(true).or_else(|| peers.relay(false)),
        };
        let reason = "no media address has this address family";
        ip.ok_or(Refusal::new(
            ErrorCode::ADDRESS_FAMILY_NOT_SUPPORTED,
            reason,
        ))
    }

    fn refresh<'a>(
        &mut self,
        now: Now,
        request: &Message<'_>,
        key: &IntegrityKey,
    ) -> Result<Reaction<'a>, Refusal> {
        refuse_unknown(request, &[Lifetime::TYPE, RequestedAddressFamily::TYPE])?;
        let own = self.allocation.as_mut().ok_or_else(Refusal::none_yet)?;
        if request
            .attribute::<Lifetime>()
            .is_ok_and(|asked| asked.seconds() == 0)
        {
            self.allocation = None;
            let answer = granted(request, None, Some(Duration::ZERO), key);
            return Ok(Reaction::End(answer));
        }
        own.until = now.instant + LIFETIME;
        Ok(Reaction::Answer(granted(
            request,
            None,
            Some(LIFETIME),
            key,
        )))
    }

    fn permit<'a>(
        &self,
        request: &Message<'_>,
        key: &IntegrityKey,
    ) -> Result<Reaction<'a>, Refusal> {
        refuse_unknown(request, &[XorPeerAddress::TYPE])?;
        self.allocation.as_ref().ok_or_else(Refusal::none_yet)?;
        let mut peers = 0;
        for (_, attribute) in request.iter_attributes() {
            if attribute.get_type() != XorPeerAddress::TYPE {
                continue;
            }
            let peer = XorPeerAddress::from_raw(attribute);
            let peer = peer.map_err(|_| Refusal::bad("XOR-PEER-ADDRESS is malformed"))?;
            let peer = peer.addr(request.transaction_id());
            if !self.terms.peers.has(peer.ip()) {
                return Err(Refusal::foreign(peer));
            }
            peers += 1;
        }
        match peers {
            0 => Err(Refusal::bad("XOR-PEER-ADDRESS is missing")),
            _ => Ok(Reaction::Answer(granted(request, None, None, key))),
        }
    }

    fn bind<'a>(
        &mut self,
        request: &Message<'_>,
        key: &IntegrityKey,
    ) -> Result<Reaction<'a>, Refusal> {
        refuse_unknown(request, &[XorPeerAddress::TYPE, ChannelNumber::TYPE])?;
        let own = self.allocation.as_mut().ok_or_else(Refusal::none_yet)?;
        let missing = |_| Refusal::bad("CHANNEL-NUMBER or XOR-PEER-ADDRESS is missing");
        let channel = request.attribute::<ChannelNumber>().map_err(missing)?;
        let peer = request.attribute::<XorPeerAddress>().map_err(missing)?;
        let (channel, peer) = (channel.channel(), peer.addr(request.transaction_id()));
        if self.terms.peers.local(peer).is_none() {
            return Err(Refusal::foreign(peer));
        }
        if peer.is_ipv4() != own.is_ipv4 {
            let reason = "the peer has another address family than the allocation";
            return Err(Refusal::new(
                ErrorCode::PEER_ADDRESS_FAMILY_MISMATCH,
                reason,
            ));
        }
        if !CHANNELS.contains(&channel) {
            return Err(Refusal::bad("CHANNEL-NUMBER is not in 0x4000 to 0x4FFF"));
        }
        let mut bound = own.channels.iter();
        if bound.any(|(number, to)| (*number == channel) != (*to == peer)) {
            return Err(Refusal::bad("the channel or the peer is bound already"));
        }
        own.channels.insert(channel, peer);
        Ok(Reaction::Answer(granted(request, None, None, key)))
    }
}

/// Opens the socket of an allocation, on an even port if the client needs one (RFC 8656
/// section 7.2). The next port is not reserved.
fn open(
    socket: &mut dyn RelaySocket,
    ip: IpAddr,
    request: &Message<'_>,
) -> Result<SocketAddr, Refusal> {
    let even = request.attribute::<EvenPort>();
    let code = ErrorCode::INSUFFICIENT_CAPACITY;
    if even.as_ref().is_ok_and(EvenPort::requested) {
        return Err(Refusal::new(code, "this server reserves no ports"));
    }
    for _ in 0..EVEN_PORT_TRIES {
        let relayed = socket.open(ip).map_err(|error| {
            let reason = format!("no socket for the relay: {error}; raise `ulimit -n`");
            Refusal::new(code, reason)
        })?;
        if even.is_err() || relayed.port() % 2 == 0 {
            return Ok(relayed);
        }
    }
    Err(Refusal::new(code, "no even port is free"))
}

fn parsed(message: &[u8]) -> Option<Message<'_>> {
    let header = MessageHeader::from_bytes(message).ok()?;
    // The codec reads attributes up to the end of its input.
    let length = MessageHeader::LENGTH + usize::from(header.data_length());
    (length == message.len()).then(|| Message::from_bytes(message).ok())?
}

/// Refuses unknown comprehension-required attributes (RFC 8489 section 14), including
/// those for pairs of ports and for unfragmented packets.
fn refuse_unknown(request: &Message<'_>, known: &[AttributeType]) -> Result<(), Refusal> {
    let of_every_request = [
        Username::TYPE,
        Realm::TYPE,
        Nonce::TYPE,
        MessageIntegrity::TYPE,
        Fingerprint::TYPE,
    ];
    let kinds = request.iter_attributes().map(|(_, a)| a.get_type());
    let unknown: Vec<AttributeType> = kinds
        .filter(|kind| kind.comprehension_required())
        .filter(|kind| !known.contains(kind) && !of_every_request.contains(kind))
        .collect();
    match unknown.is_empty() {
        true => Ok(()),
        false => Err(Refusal::unknown(unknown)),
    }
}
