//! Opening of a channel within the connection (RFC 8832).

use weft_units::Duration;

const ACK: u8 = 0x02;
const OPEN: u8 = 0x03;
/// Bit of the channel type: messages may overtake each other.
const UNORDERED: u8 = 0x80;
/// Length of DATA_CHANNEL_OPEN without label and protocol, in bytes.
const FIXED: usize = 12;
/// Priority "normal" (RFC 8831 section 6.4).
const PRIORITY: u16 = 256;

/// Order in which the messages of a channel are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ordering {
    /// In sending order: a lost message delays the messages after it.
    #[default]
    Ordered,
    /// In order of arrival.
    Unordered,
}

/// Limit on the attempts to deliver a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Persistence {
    /// No limit: until the message arrives.
    #[default]
    Reliable,
    /// For this time, in whole milliseconds. It suits messages that a later one replaces.
    Within(Duration),
    /// Maximum number of retransmissions.
    Repeats(u16),
}

/// Properties of a data channel, for both directions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChannelConfig {
    /// Name for the application, at most [`ChannelConfig::MAX_NAME`] bytes.
    pub label: String,
    /// Subprotocol of the messages; empty for none, at most [`ChannelConfig::MAX_NAME`] bytes.
    pub protocol: String,
    /// Order of its messages.
    pub ordering: Ordering,
    /// Limit on the attempts to deliver each message.
    pub persistence: Persistence,
}

impl ChannelConfig {
    /// Maximum length of a label and of a protocol, in bytes. Chosen by us.
    pub const MAX_NAME: usize = 256;

    /// Returns a reliable, ordered channel.
    #[must_use]
    pub fn named(label: &str) -> ChannelConfig {
        ChannelConfig {
            label: label.to_owned(),
            ..ChannelConfig::default()
        }
    }

    /// Whether the label and the protocol are short enough.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.label.len() <= ChannelConfig::MAX_NAME
            && self.protocol.len() <= ChannelConfig::MAX_NAME
    }
}

/// Message that opens a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Opening {
    Open(ChannelConfig),
    Ack,
}

impl Opening {
    /// Parses a message; `None` if it is not one of these.
    pub fn parse(message: &[u8]) -> Option<Opening> {
        match *message {
            [ACK, ..] => Some(Opening::Ack),
            [OPEN, kind, ..] => Opening::parse_open(kind, message),
            _ => None,
        }
    }

    fn parse_open(kind: u8, message: &[u8]) -> Option<Opening> {
        let (fixed, names) = message.split_at_checked(FIXED)?;
        let two = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let limit = u32::from_be_bytes([fixed[4], fixed[5], fixed[6], fixed[7]]);
        let (label, rest) = names.split_at_checked(two(8).into())?;
        let protocol = rest.get(..two(10).into())?;
        let persistence = match kind & !UNORDERED {
            0x00 => Persistence::Reliable,
            0x01 => Persistence::Repeats(u16::try_from(limit).unwrap_or(u16::MAX)),
            0x02 => Persistence::Within(Duration::from_millis(limit.into())),
            _ => return None,
        };
        let ordering = match kind & UNORDERED {
            0 => Ordering::Ordered,
            _ => Ordering::Unordered,
        };
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let config = ChannelConfig {
            label: text(label),
            protocol: text(protocol),
            ordering,
            persistence,
        };
        config.is_valid().then_some(Opening::Open(config))
    }

    /// Returns the message's bytes. The label and the protocol must be valid.
    pub fn bytes(&self) -> Vec<u8> {
        let config = match self {
            Opening::Ack => return vec![ACK],
            Opening::Open(config) => config,
        };
        let (kind, limit) = match config.persistence {
            Persistence::Reliable => (0x00, 0),
            Persistence::Repeats(count) => (0x01, count.into()),
            Persistence::Within(time) => (0x02, millis(time)),
        };
        let kind = match config.ordering {
            Ordering::Ordered => kind,
            Ordering::Unordered => kind | UNORDERED,
        };
        let mut bytes = vec![OPEN, kind];
        bytes.extend(PRIORITY.to_be_bytes());
        bytes.extend(limit.to_be_bytes());
        for name in [&config.label, &config.protocol] {
            bytes.extend((name.len() as u16).to_be_bytes());
        }
        bytes.extend(config.label.as_bytes());
        bytes.extend(config.protocol.as_bytes());
        bytes
    }
}

pub(crate) fn millis(time: Duration) -> u32 {
    u32::try_from(time.as_millis()).unwrap_or(u32::MAX)
}
