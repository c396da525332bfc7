use crate::clock::Clock;
use crate::message::{decoded, encoded};
use crate::opening::{ChannelConfig, Opening, Ordering, Persistence, millis};
use crate::packet;
use crate::types::{Config, Event, Output};
use crate::{ChannelId, Message, OpenError, SendError, Urgency};
use bytes::Bytes;
use sctp_proto::{
    Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig,
    PayloadProtocolIdentifier as Protocol, ReliabilityType, ServerConfig, Stream, StreamEvent,
    TransportConfig,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use weft_units::{Deadline, Instant};

/// SCTP port of this side, for `a=sctp-port`.
pub const SCTP_PORT: u16 = sctp_proto::DEFAULT_SCTP_PORT;
/// Maximum length of a received message in bytes, for `a=max-message-size`. Chosen by us:
/// safe with every browser.
pub const MAX_MESSAGE: usize = 65_536;
/// Maximum number of data channels of a connection. Chosen by us.
pub const MAX_CHANNELS: usize = 64;

/// Maximum number of bytes that wait on a channel. Chosen by us: 4 s at 2 Mbit/s.
const MAX_WAITING: usize = 1 << 20;
/// Maximum size of all incomplete messages in bytes. Chosen by us: eight of the longest.
const RECEIVE_BUFFER: usize = 8 * MAX_MESSAGE;
/// Payload of a DATA chunk in bytes. With SCTP's 28 bytes and DTLS' 37, a packet stays
/// below 1,150, like those of the handshake.
const CHUNK: u32 = 1_080;
/// Retransmission timeouts in milliseconds, those of libwebrtc except for the maximum: a
/// path that recovers after an outage is used sooner.
const RTO_INITIAL: u64 = 500;
const RTO_MIN: u64 = 400;
const RTO_MAX: u64 = 3_000;
/// Address of the peer for the library, which sees no real addresses.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), SCTP_PORT);

/// Data channels of one connection.
///
/// Order of calls: any input, then [`DataChannels::poll_output`] until `None`, then
/// [`DataChannels::poll_timeout`]. Time must not decrease between calls.
pub struct DataChannels {
    config: Config,
    transport: Arc<TransportConfig>,
    endpoint: Endpoint,
    phase: Phase,
    clock: Clock,
    channels: BTreeMap<ChannelId, Channel>,
    outputs: VecDeque<Output>,
    discarded: u64,
}

enum Phase {
    /// The DTLS handshake is not finished, or the peer has not started the association.
    Waiting,
    Running(AssociationHandle, Box<Association>),
    Ended,
}

struct Channel {
    config: ChannelConfig,
    state: ChannelState,
    /// Whether urgent messages wait for an acknowledgement.
    is_urgent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ChannelState {
    /// Requested before the association was established.
    Wanted,
    /// The open message was sent to the peer.
    Asked,
    Open,
    Closing,
}

impl DataChannels {
    /// Creates the data channels of a connection whose DTLS handshake is not finished.
    #[must_use]
    pub fn new(config: Config) -> DataChannels {
        let transport = TransportConfig::default()
            .with_max_receive_buffer_size(RECEIVE_BUFFER as u32)
            .with_max_receive_message_size(MAX_MESSAGE as u32)
            .with_max_send_message_size(config.max_message.min(MAX_MESSAGE) as u32)
            .with_max_init_retransmits(None)
            .with_rto_initial_ms(RTO_INITIAL)
            .with_rto_min_ms(RTO_MIN)
            .with_rto_max_ms(RTO_MAX)
            .with_local_port(SCTP_PORT)
            .with_remote_port(config.remote_port);
        let transport = Arc::new(transport);
        let mut server = ServerConfig::new();
        server.transport = Arc::clone(&transport);
        let mut endpoint = EndpointConfig::new();
        endpoint.max_payload_size(CHUNK);
        DataChannels {
            config,
            transport,
            endpoint: Endpoint::new(Arc::new(endpoint), Some(Arc::new(server))),
            phase: Phase::Waiting,
            clock: Clock::new(config.epoch, Instant::ZERO),
            channels: BTreeMap::new(),
            outputs: VecDeque::new(),
            discarded: 0,
        }
    }

    /// Starts the association when the DTLS handshake is finished. The DTLS server waits
    /// for the client, because every implementation lets the client start.
    pub fn connect(&mut self, now: Instant) {
        if !self.config.is_dtls_client || !matches!(self.phase, Phase::Waiting) {
            return;
        }
        let mut config = ClientConfig::new();
        config.transport = Arc::clone(&self.transport);
        let Ok((handle, association)) = self.endpoint.connect(config, PEER) else {
            return self.end("the peer's SCTP port is 0".to_owned());
        };
        // Both sides of a browser's connection may start an association; ours is enough.
        self.endpoint.reject_new_associations();
        // The library has read the system's clock. Its first timer reveals the value, so
        // its time can follow ours, virtual or not.
        if let Some(first) = association.poll_timeout() {
            let rto = std::time::Duration::from_millis(RTO_INITIAL);
            self.clock = Clock::new(first - rto, now);
        }
        self.phase = Phase::Running(handle, Box::new(association));
        self.pump(now);
    }

    /// Opens a channel; [`Event::Opened`] follows when the peer has agreed. You can call
    /// it before the connection is established.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(&mut self, now: Instant, config: ChannelConfig) -> Result<ChannelId, OpenError> {
        if matches!(self.phase, Phase::Ended) {
            return Err(OpenError::Ended);
        }
        if !config.is_valid() {
            return Err(OpenError::LongName);
        }
        if self.channels.len() >= MAX_CHANNELS {
            return Err(OpenError::TooMany);
        }
        let first = u16::from(!self.config.is_dtls_client);
        let mut ours = (first..u16::MAX).step_by(2).map(ChannelId);
        let free = ours.find(|id| !self.channels.contains_key(id));
        let id = free.ok_or(OpenError::TooMany)?;
        let channel = Channel {
            config,
            state: ChannelState::Wanted,
            is_urgent: false,
        };
        self.channels.insert(id, channel);
        self.ask_for_wanted();
        self.pump(now);
        Ok(id)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// See [`SendError`]; on an error, nothing is sent.
    pub fn send(
        &mut self,
        now: Instant,
        id: ChannelId,
        message: &Message,
        urgency: Urgency,
    ) -> Result<(), SendError> {
        let (Phase::Running(_, association), Some(channel)) =
            (&mut self.phase, self.channels.get_mut(&id))
        else {
            return Err(SendError::NotOpen);
        };
        if channel.state != ChannelState::Open {
            return Err(SendError::NotOpen);
        }
        let (protocol, payload) = encoded(message);
        let (length, most) = (payload.len(), self.config.max_message.min(MAX_MESSAGE));
        if length > most {
            return Err(SendError::TooLong { length, most });
        }
        let mut stream = association.stream(id.0).map_err(|_| SendError::NotOpen)?;
        let waiting = stream.buffered_amount().unwrap_or_default();
        if waiting + length > MAX_WAITING {
            return Err(SendError::Full { waiting });
        }
        stream
            .write_with_ppi(payload, protocol)
            .map_err(|_| SendError::NotOpen)?;
        channel.is_urgent |= urgency == Urgency::Urgent;
        self.pump(now);
        Ok(())
    }

    /// Closes a channel; [`Event::Closed`] follows when the peer has confirmed. Does
    /// nothing if the channel does not exist.
    pub fn close(&mut self, now: Instant, id: ChannelId) {
        if !self.channels.contains_key(&id) {
            return;
        }
        let Some(mut stream) = self.stream(id) else {
            return self.forget(id);
        };
        // Fails only if the stream is closing already.
        let _ = stream.close();
        if let Some(channel) = self.channels.get_mut(&id) {
            channel.state = ChannelState::Closing;
        }
        self.pump(now);
    }

    /// Returns the number of message bytes on a channel that wait or are unacknowledged.
    #[must_use]
    pub fn waiting(&mut self, id: ChannelId) -> usize {
        let stream = self.stream(id);
        stream.map_or(0, |stream| stream.buffered_amount().unwrap_or_default())
    }

    /// Returns the number of packets that could not be used.
    #[must_use]
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// Handles an SCTP packet that DTLS has decrypted.
    pub fn handle_packet(&mut self, now: Instant, packet: &[u8]) {
        let at = self.clock.to_std(now);
        let packet = Bytes::copy_from_slice(packet);
        match self.endpoint.handle(at, PEER, None, None, packet) {
            Some((handle, DatagramEvent::NewAssociation(association))) => {
                // A connection has only one association (RFC 8831 section 6.2).
                self.endpoint.reject_new_associations();
                if matches!(self.phase, Phase::Waiting) {
                    self.phase = Phase::Running(handle, Box::new(association));
                }
            }
            Some((_, DatagramEvent::AssociationEvent(event))) => {
                if let Phase::Running(_, association) = &mut self.phase {
                    association.handle_event(event);
                }
            }
            None => self.discarded += 1,
        }
        self.pump(now);
    }

    /// Handles the passing of time; a spurious call does nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        let at = self.clock.to_std(now);
        if let Phase::Running(_, association) = &mut self.phase
            && association.poll_timeout().is_some_and(|due| due <= at)
        {
            association.handle_timeout(at);
            self.pump(now);
        }
    }

    /// Deadline of the next [`DataChannels::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let Phase::Running(_, association) = &self.phase else {
            return None;
        };
        let at = self.clock.instant(association.poll_timeout()?);
        Some(Deadline { at, reason: "data" })
    }

    /// Returns the next packet or event.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Takes events and packets from the library until it has no more.
    fn pump(&mut self, now: Instant) {
        while let Some(event) = self.next_event() {
            self.on_event(event);
        }
        let Phase::Running(_, association) = &mut self.phase else {
            return;
        };
        for (id, channel) in &mut self.channels {
            let stream = association.stream(id.0).ok();
            let waiting = stream.and_then(|stream| stream.buffered_amount().ok());
            channel.is_urgent &= waiting.is_some_and(|waiting| waiting > 0);
        }
        let is_urgent = self.channels.values().any(|channel| channel.is_urgent);
        let at = self.clock.to_std(now);
        let mut sent = std::iter::from_fn(|| self.endpoint.poll_transmit()).collect::<Vec<_>>();
        sent.extend(std::iter::from_fn(|| association.poll_transmit(at)));
        for transmit in sent {
            let sctp_proto::Payload::RawEncode(packets) = transmit.payload else {
                continue;
            };
            for packet in packets {
                let has_message = packet::has_data(&packet);
                self.outputs.push_back(Output::Packet {
                    packet: packet.to_vec(),
                    has_message,
                    is_copied: is_urgent || !has_message,
                });
            }
        }
    }

    fn next_event(&mut self) -> Option<sctp_proto::Event> {
        let Phase::Running(handle, association) = &mut self.phase else {
            return None;
        };
        while let Some(event) = association.poll_endpoint_event() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                association.handle_event(event);
            }
        }
        association.poll()
    }

    fn on_event(&mut self, event: sctp_proto::Event) {
        use sctp_proto::Event::{AssociationLost, Connected, HandshakeFailed, Stream};
        match event {
            Connected => self.ask_for_wanted(),
            HandshakeFailed { reason } | AssociationLost { reason } => self.end(reason.to_string()),
            Stream(StreamEvent::Opened { .. }) => {
                if let Phase::Running(_, association) = &mut self.phase {
                    // Streams are found by their numbers, so the library's queue of new
                    // streams only needs emptying.
                    while association.accept_stream().is_some() {}
                }
            }
            Stream(StreamEvent::Readable { id }) => self.read(ChannelId(id)),
            Stream(StreamEvent::Finished { id }) => self.forget(ChannelId(id)),
            _ => {}
        }
    }

    /// Opens the requested channels once the association is established.
    fn ask_for_wanted(&mut self) {
        let Phase::Running(_, association) = &mut self.phase else {
            return;
        };
        if association.is_handshaking() {
            return;
        }
        let wanted = self.channels.iter_mut();
        for (id, channel) in wanted.filter(|(_, c)| c.state == ChannelState::Wanted) {
            // A channel that was closed just now may still block the number.
            let opened = association.open_stream(id.0, Protocol::Binary);
            if let Ok(mut stream) = opened {
                let open = Opening::Open(channel.config.clone()).bytes();
                let written = stream.write_with_ppi(&open, Protocol::Dcep);
                channel.state = match written {
                    Ok(_) => ChannelState::Asked,
                    Err(_) => ChannelState::Closing,
                };
            }
        }
    }

    fn read(&mut self, id: ChannelId) {
        while let Some((protocol, bytes)) = self.next_message(id) {
            if protocol == Protocol::Dcep {
                self.on_opening(id, Opening::parse(&bytes));
                continue;
            }
            let is_open = self
                .channels
                .get(&id)
                .is_some_and(|channel| channel.state == ChannelState::Open);
            match decoded(protocol, bytes).filter(|_| is_open) {
                Some(message) => self.event(Event::Message {
                    channel: id,
                    message,
                }),
                None => self.discarded += 1,
            }
        }
    }

    fn next_message(&mut self, id: ChannelId) -> Option<(Protocol, Vec<u8>)> {
        let chunks = self.stream(id)?.read_sctp().ok()??;
        let mut bytes = vec![0; chunks.len()];
        let length = chunks.read(&mut bytes).ok()?;
        bytes.truncate(length);
        Some((chunks.ppi, bytes))
    }

    fn on_opening(&mut self, id: ChannelId, opening: Option<Opening>) {
        let state = self.channels.get(&id).map(|channel| channel.state);
        let has_room = self.channels.len() < MAX_CHANNELS;
        match (opening, state) {
            (Some(Opening::Ack), Some(ChannelState::Asked)) => self.opened(id),
            (Some(Opening::Open(config)), None) if has_room => {
                let channel = Channel {
                    config,
                    state: ChannelState::Asked,
                    is_urgent: false,
                };
                self.channels.insert(id, channel);
                if let Some(mut stream) = self.stream(id) {
                    // Fails only if the association fails, which reports it.
                    let _ = stream.write_with_ppi(&Opening::Ack.bytes(), Protocol::Dcep);
                }
                self.opened(id);
            }
            (_, state) => {
                self.discarded += 1;
                if state.is_none()
                    && let Some(mut stream) = self.stream(id)
                {
                    // Refused: the peer can use the number again.
                    let _ = stream.close();
                }
            }
        }
    }

    fn stream(&mut self, id: ChannelId) -> Option<Stream<'_>> {
        match &mut self.phase {
            Phase::Running(_, association) => association.stream(id.0).ok(),
            Phase::Waiting | Phase::Ended => None,
        }
    }

    /// Both sides have agreed: from now on, messages have the channel's properties.
    fn opened(&mut self, id: ChannelId) {
        let Some(channel) = self.channels.get_mut(&id) else {
            return;
        };
        channel.state = ChannelState::Open;
        let config = channel.config.clone();
        if let Some(mut stream) = self.stream(id) {
            let (kind, limit) = match config.persistence {
                Persistence::Reliable => (ReliabilityType::Reliable, 0),
                Persistence::Within(time) => (ReliabilityType::Timed, millis(time)),
                Persistence::Repeats(count) => (ReliabilityType::Rexmit, count.into()),
            };
            let is_unordered = config.ordering == Ordering::Unordered;
            // Fails only for streams that no longer exist.
            let _ = stream.set_reliability_params(is_unordered, kind, limit);
        }
        self.event(Event::Opened {
            channel: id,
            config,
        });
    }

    fn forget(&mut self, id: ChannelId) {
        if self.channels.remove(&id).is_some() {
            self.event(Event::Closed { channel: id });
        }
    }

    fn end(&mut self, reason: String) {
        self.phase = Phase::Ended;
        self.channels.clear();
        self.event(Event::Ended { reason });
    }

    fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }
}
