use crate::opening::ChannelConfig;
use crate::{ChannelId, Message};
use std::time::Instant as StdInstant;

/// Settings of the data channels of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Whether this side is the DTLS client, which starts the association and has
    /// channels with even numbers (RFC 8832 section 6).
    pub is_dtls_client: bool,
    /// SCTP port of the peer (`a=sctp-port`), not 0.
    pub remote_port: u16,
    /// Maximum length of a message that the peer accepts, in bytes (`a=max-message-size`).
    pub max_message: usize,
    /// Time of [`Instant::ZERO`](weft_units::Instant::ZERO) on the system's clock. Any
    /// constant value works.
    pub epoch: StdInstant,
}

/// Request or event of the data channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send this SCTP packet.
    Packet {
        /// Packet without DTLS.
        packet: Vec<u8>,
        /// Whether it contains a part of a message, so that the peer acknowledges it.
        has_message: bool,
        /// Whether to send a copy on a second path.
        is_copied: bool,
    },
    /// Event to report.
    Event(Event),
}

/// Event of a data channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A channel is open in both directions. Either side may have requested it.
    Opened {
        /// Number of the channel.
        channel: ChannelId,
        /// Its properties.
        config: ChannelConfig,
    },
    /// A message arrived.
    Message {
        /// Number of the channel.
        channel: ChannelId,
        /// The message.
        message: Message,
    },
    /// A channel is closed; its number may be reused.
    Closed {
        /// Number of the channel.
        channel: ChannelId,
    },
    /// The association for data has ended, and all its channels with it. Media continues.
    Ended {
        /// Human-readable reason.
        reason: String,
    },
}
