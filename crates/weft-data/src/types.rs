use crate::opening::ChannelConfig;
use crate::{ChannelId, Message};
use std::time::Instant as StdInstant;

/// Settings of the data channels of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Whether this side is the DTLS client: it begins the association, and its channels
    /// have even numbers (RFC 8832 section 6).
    pub is_dtls_client: bool,
    /// SCTP port of the peer (`a=sctp-port`), not 0.
    pub remote_port: u16,
    /// Longest message that the peer takes, in bytes (`a=max-message-size`).
    pub max_message: usize,
    /// Time of [`Instant::ZERO`](weft_units::Instant::ZERO) on the system's clock. Any value will do as long as it
    /// does not change.
    pub epoch: StdInstant,
}

/// Request or event of the data channels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send this SCTP packet.
    Packet {
        /// The packet, without DTLS.
        packet: Vec<u8>,
        /// Whether it has a part of a message, so that the peer acknowledges it.
        has_message: bool,
        /// Whether it is worth a copy on a second path.
        is_copied: bool,
    },
    /// Something happened.
    Event(Event),
}

/// Event of a data channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A channel is open in both directions. Either side may have asked for it.
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
    /// A channel is closed; its number may be used again.
    Closed {
        /// Number of the channel.
        channel: ChannelId,
    },
    /// The association for data has ended, and all its channels with it. Media continues.
    Ended {
        /// Reason, for people.
        reason: String,
    },
}
