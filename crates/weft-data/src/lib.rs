//! Sans-IO data channels: messages in the connection that also carries the media (RFC
//! 8831), opened within it (RFC 8832). SCTP itself is the library `sctp-proto`; SCTP
//! packets go in and out, and the owner encrypts them with DTLS.
//!
//! Messages may take several paths. Packets with an urgent message, and packets without
//! messages (acknowledgements), are marked for sending on two paths: SCTP ignores the
//! second copy, and a path that fails delays neither.

#![forbid(unsafe_code)]

mod channels;
mod clock;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod message;
mod opening;
mod packet;
#[cfg(test)]
mod tests;
mod types;

pub use channels::{DataChannels, MAX_CHANNELS, MAX_MESSAGE, SCTP_PORT};
pub use message::Message;
pub use opening::{ChannelConfig, Ordering, Persistence};
pub use types::{Config, Event, Output};

use thiserror::Error;

/// Number of a data channel, which is the number of its SCTP stream.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ChannelId(pub u16);

/// Protection of a message against the loss of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Urgency {
    /// It takes one path. If that path fails, the message is repeated over another one
    /// when its acknowledgement is overdue: after 0.4 s or more.
    #[default]
    Usual,
    /// It takes two paths at once, at twice the bytes.
    Urgent,
}

/// Error: a message was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SendError {
    /// The channel is not open: not yet, no longer, or it never existed.
    #[error("the data channel is not open")]
    NotOpen,
    /// The message is longer than the peer accepts.
    #[error("the message has {length} bytes; the peer takes at most {most}")]
    TooLong {
        /// Length of the message in bytes.
        length: usize,
        /// Maximum length that the peer accepts, in bytes.
        most: usize,
    },
    /// Too many bytes are waiting. Send again later.
    #[error("{waiting} bytes wait to be sent on the data channel, and more are not kept")]
    Full {
        /// Number of bytes that wait.
        waiting: usize,
    },
}

/// Error: a data channel was not opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum OpenError {
    /// The connection has [`MAX_CHANNELS`] already.
    #[error("a connection has at most {MAX_CHANNELS} data channels")]
    TooMany,
    /// The label or the protocol is longer than [`ChannelConfig::MAX_NAME`].
    #[error(
        "a label and a protocol have at most {} bytes",
        ChannelConfig::MAX_NAME
    )]
    LongName,
    /// The other side does not accept data channels.
    #[error("the other side takes no data channels")]
    NotNegotiated,
    /// The association for data has ended.
    #[error("the connection carries no data any more")]
    Ended,
}
