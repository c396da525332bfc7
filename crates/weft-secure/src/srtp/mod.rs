use std::fmt;
use thiserror::Error;
use weft_units::Ssrc;

/// The negotiated SRTP protection profile (RFC 5764, RFC 7714).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Profile {
    /// `SRTP_AES128_CM_HMAC_SHA1_80`.
    Aes128CmSha1_80,
    /// `SRTP_AEAD_AES_128_GCM`.
    AeadAes128Gcm,
    /// `SRTP_AEAD_AES_256_GCM`.
    AeadAes256Gcm,
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Profile::Aes128CmSha1_80 => "AES128_CM_SHA1_80",
            Profile::AeadAes128Gcm => "AEAD_AES_128_GCM",
            Profile::AeadAes256Gcm => "AEAD_AES_256_GCM",
        })
    }
}

/// A packet could not be protected; it was left as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ProtectError {
    /// There are no keys yet: wait for `Event::Connected`.
    #[error("no keys yet: wait until the association is connected")]
    NotConnected,
    /// Not an RTP or RTCP packet.
    #[error("not an RTP or RTCP packet: the header does not fit")]
    Malformed,
    /// This sequence number was protected before. Sending it again would
    /// reuse the nonce and give the keys away: send the same bytes again, or
    /// a retransmission under an SSRC of its own.
    #[error("{ssrc:?} sequence {sequence} was protected before: send the same bytes again")]
    Reused {
        /// Stream of the packet.
        ssrc: Ssrc,
        /// Its sequence number.
        sequence: u16,
    },
    /// So far behind the newest packet that it cannot be told whether it was
    /// protected before.
    #[error("{ssrc:?} sequence {sequence} is too far behind the newest one")]
    TooOld {
        /// Stream of the packet.
        ssrc: Ssrc,
        /// Its sequence number.
        sequence: u16,
    },
    /// More SSRCs than one association carries.
    #[error("more streams than one association carries")]
    TooManyStreams,
    /// All indices of this key are used up: a new association is needed.
    #[error("the key is used up: make a new association")]
    Exhausted,
}
