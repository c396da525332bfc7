mod cm;
mod gcm;
mod kdf;
#[cfg(feature = "simulation")]
mod plain;
mod replay;
mod rtcp;
#[cfg(test)]
mod tests;

use crate::counters::DropReason;
use crate::role::DtlsRole;
use cm::Cm;
use gcm::Gcm;
#[cfg(feature = "simulation")]
use plain::Plain;
use replay::{Refused, ReplayWindow};
use rtcp::{RTCP_HEADER, RTCP_INDEX};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;
use weft_units::Ssrc;
use weft_wire::rtp;

/// Maximum number of streams in one direction; bounds memory against a peer that invents SSRCs. A
/// conference of 100 with three layers, their retransmissions and audio stays below it.
const MAX_STREAMS: usize = 1024;

/// RTP packets per key (RFC 3711 section 9.2).
const MAX_RTP_INDEX: u64 = (1 << 48) - 1;

/// Number of indices between two rollovers.
const SEQUENCES: u64 = 1 << 16;

/// Negotiated SRTP protection profile (RFC 5764, RFC 7714).
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

/// Error: a packet could not be protected and is unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum ProtectError {
    /// There are no keys yet: wait for `Event::Connected`.
    #[error("no keys yet: wait until the association is connected")]
    NotConnected,
    /// Not an RTP or RTCP packet.
    #[error("not an RTP or RTCP packet: the header does not fit")]
    Malformed,
    /// This sequence number was protected before. Protecting it again would reuse the nonce and
    /// reveal the keys. Send the same bytes again, or a retransmission with its own SSRC.
    #[error("{ssrc:?} sequence {sequence} was protected before: send the same bytes again")]
    Reused {
        /// Stream of the packet.
        ssrc: Ssrc,
        /// Its sequence number.
        sequence: u16,
    },
    /// The packet is so far behind the newest one that it is unknown whether it was
    /// protected before.
    #[error("{ssrc:?} sequence {sequence} is too far behind the newest one")]
    TooOld {
        /// Stream of the packet.
        ssrc: Ssrc,
        /// Its sequence number.
        sequence: u16,
    },
    /// The association already has the maximum number of SSRCs.
    #[error("more streams than one association carries")]
    TooManyStreams,
    /// All indices of this key are used: a new association is needed.
    #[error("the key is used up: make a new association")]
    Exhausted,
}

/// Both directions of one SRTP session.
pub(crate) struct Srtp {
    send: Context,
    send_rtcp_index: u32,
    receive: Context,
    receive_rtcp: BTreeMap<u32, ReplayWindow>,
    scratch: Vec<u8>,
}

/// Cryptographic context of one direction (RFC 3711 section 3.2).
struct Context {
    cipher: Cipher,
    streams: BTreeMap<u32, ReplayWindow>,
}

enum Cipher {
    Gcm(Gcm),
    Cm(Cm),
    #[cfg(feature = "simulation")]
    Plain,
}

/// Authentic RTP packet, decrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unprotected<'a> {
    /// It has not been received before.
    New(&'a [u8]),
    /// A copy: its number has been received before.
    Again(&'a [u8]),
}

impl Profile {
    /// Lengths of master key and master salt (RFC 5764 section 4.1.2,
    /// RFC 7714 section 12).
    fn lengths(self) -> (usize, usize) {
        match self {
            Profile::Aes128CmSha1_80 => (16, 14),
            Profile::AeadAes128Gcm => (16, 12),
            Profile::AeadAes256Gcm => (32, 12),
        }
    }
}

impl Srtp {
    /// Creates both directions from the keying material that DTLS exports: both keys, then both
    /// salts, the client's first. `None` if its length does not match the profile.
    pub fn new(profile: Profile, material: &[u8], role: DtlsRole) -> Option<Srtp> {
        let (key, salt) = profile.lengths();
        if material.len() != 2 * (key + salt) {
            return None;
        }
        let (keys, salts) = material.split_at(2 * key);
        let client = (&keys[..key], &salts[..salt]);
        let server = (&keys[key..], &salts[salt..]);
        let (ours, theirs) = match role {
            DtlsRole::Client => (client, server),
            DtlsRole::Server => (server, client),
        };
        let send = Context::new(profile, ours, true);
        Some(Srtp::of(send, Context::new(profile, theirs, false)))
    }

    /// Creates both directions without a cipher.
    #[cfg(feature = "simulation")]
    pub fn plain() -> Srtp {
        let [send, receive] = [(); 2].map(|()| Context {
            cipher: Cipher::Plain,
            streams: BTreeMap::new(),
        });
        Srtp::of(send, receive)
    }

    fn of(send: Context, receive: Context) -> Srtp {
        Srtp {
            send,
            send_rtcp_index: 0,
            receive,
            receive_rtcp: BTreeMap::new(),
            scratch: Vec::with_capacity(2048),
        }
    }

    /// Protects a packet; `rest` is the end of its payload and is appended.
    pub fn protect_rtp(&mut self, packet: &mut Vec<u8>, rest: &[u8]) -> Result<(), ProtectError> {
        let header = rtp::peek(packet).map_err(|_| ProtectError::Malformed)?;
        let (ssrc, sequence) = (header.ssrc, header.sequence);
        let streams = &mut self.send.streams;
        if streams.len() >= MAX_STREAMS && !streams.contains_key(&ssrc.0) {
            return Err(ProtectError::TooManyStreams);
        }
        let window = streams.entry(ssrc.0).or_insert_with(ReplayWindow::new);
        let too_old = ProtectError::TooOld { ssrc, sequence };
        let index = window.extend(sequence).ok_or(too_old)?;
        if index > MAX_RTP_INDEX {
            return Err(ProtectError::Exhausted);
        }
        window.check(index).map_err(|refused| match refused {
            Refused::Seen => ProtectError::Reused { ssrc, sequence },
            Refused::TooOld => too_old,
        })?;
        window.accept(index);
        let id = (header.ssrc.0, index);
        packet.extend_from_slice(rest);
        match &mut self.send.cipher {
            Cipher::Gcm(c) => c.protect_rtp(packet, header.header_len, id),
            Cipher::Cm(c) => c.protect_rtp(packet, header.header_len, id, &mut self.scratch),
            #[cfg(feature = "simulation")]
            Cipher::Plain => Plain::protect_rtp(packet),
        }
        Ok(())
    }

    /// Decrypts a packet. Tries the nearest index first, then the same number after one
    /// more rollover: after a gap of more than half the sequence numbers, the guess of
    /// RFC 3711 section 3.3.1 is wrong forever.
    pub fn unprotect_rtp(&mut self, packet: &[u8]) -> Result<Unprotected<'_>, DropReason> {
        let header = rtp::peek(packet).map_err(|_| DropReason::Truncated)?;
        let (ssrc, at) = (header.ssrc.0, header.header_len);
        let Context { cipher, streams } = &mut self.receive;
        let window = streams.get_mut(&ssrc);
        let first = match &window {
            // Indices do not go below zero: libsrtp also gives such a packet rollover
            // counter zero.
            Some(window) => window.extend(header.sequence),
            None => None,
        }
        .unwrap_or(header.sequence.into());
        let mut refused = None;
        for index in [first, first + SEQUENCES] {
            let seen = match window.as_ref().map_or(Ok(()), |window| window.check(index)) {
                Ok(()) => false,
                Err(Refused::Seen) => true,
                Err(too_old) => {
                    refused = Some(too_old.into());
                    continue;
                }
            };
            if index > MAX_RTP_INDEX {
                break;
            }
            if !cipher.unprotect_rtp(packet, at, (ssrc, index), &mut self.scratch) {
                refused.get_or_insert(DropReason::Authentication);
                continue;
            }
            if seen {
                return Ok(Unprotected::Again(&self.scratch));
            }
            match window {
                Some(window) => window.accept(index),
                None => insert(streams, (ssrc, index))?,
            }
            return Ok(Unprotected::New(&self.scratch));
        }
        Err(refused.unwrap_or(DropReason::TooOld))
    }

    pub fn protect_rtcp(&mut self, packet: &mut Vec<u8>) -> Result<(), ProtectError> {
        let ssrc = rtcp_ssrc(packet).ok_or(ProtectError::Malformed)?;
        // One counter for all senders: indices only need to differ.
        let index = self.send_rtcp_index;
        if index & RTCP_INDEX.encrypted != 0 {
            return Err(ProtectError::Exhausted);
        }
        self.send_rtcp_index += 1;
        match &mut self.send.cipher {
            Cipher::Gcm(c) => c.protect_rtcp(packet, (ssrc, index)),
            Cipher::Cm(c) => c.protect_rtcp(packet, (ssrc, index), &mut self.scratch),
            #[cfg(feature = "simulation")]
            Cipher::Plain => Plain::protect_rtcp(packet, index),
        }
        Ok(())
    }

    pub fn unprotect_rtcp(&mut self, packet: &[u8]) -> Result<&[u8], DropReason> {
        let ssrc = rtcp_ssrc(packet).ok_or(DropReason::Truncated)?;
        let at = match &self.receive.cipher {
            Cipher::Gcm(_) => Gcm::rtcp_index_at(packet.len()),
            Cipher::Cm(_) => Cm::rtcp_index_at(packet.len()),
            #[cfg(feature = "simulation")]
            Cipher::Plain => Gcm::rtcp_index_at(packet.len()),
        };
        let at = at.filter(|&at| at >= RTCP_HEADER);
        let field = at.and_then(|at| packet[at..].first_chunk());
        let field = u32::from_be_bytes(*field.ok_or(DropReason::Truncated)?);
        // Unencrypted RTCP was not negotiated (RFC 3711 section 3.4, E flag).
        if field & RTCP_INDEX.encrypted == 0 {
            return Err(DropReason::Authentication);
        }
        let index = u64::from(field & !RTCP_INDEX.encrypted);
        let window = self.receive_rtcp.get_mut(&ssrc);
        if let Some(window) = &window {
            window.check(index)?;
        }
        let authentic = match &mut self.receive.cipher {
            Cipher::Gcm(c) => c.unprotect_rtcp(packet, (ssrc, field), &mut self.scratch),
            Cipher::Cm(c) => c.unprotect_rtcp(packet, (ssrc, field), &mut self.scratch),
            #[cfg(feature = "simulation")]
            Cipher::Plain => Plain::unprotect_rtcp(packet, &mut self.scratch),
        };
        if !authentic {
            return Err(DropReason::Authentication);
        }
        match window {
            Some(window) => window.accept(index),
            None => insert(&mut self.receive_rtcp, (ssrc, index))?,
        }
        Ok(&self.scratch)
    }
}

impl Cipher {
    /// Whether the packet is authentic under this index; decrypts it into `out`.
    fn unprotect_rtp(
        &mut self,
        packet: &[u8],
        header: usize,
        id: (u32, u64),
        out: &mut Vec<u8>,
    ) -> bool {
        match self {
            Cipher::Gcm(c) => c.unprotect_rtp(packet, header, id, out),
            Cipher::Cm(c) => c.unprotect_rtp(packet, header, id, out),
            #[cfg(feature = "simulation")]
            Cipher::Plain => Plain::unprotect_rtp(packet, header, out),
        }
    }
}

impl Context {
    fn new(profile: Profile, (key, salt): (&[u8], &[u8]), encrypt: bool) -> Context {
        let provider = str0m_aws_lc_rs::default_provider();
        let srtp = provider.srtp_provider;
        let cipher = match profile {
            Profile::Aes128CmSha1_80 => {
                let hmac = provider.sha1_hmac_provider;
                Cipher::Cm(Cm::new(srtp, hmac, key, salt, encrypt))
            }
            Profile::AeadAes128Gcm | Profile::AeadAes256Gcm => {
                Cipher::Gcm(Gcm::new(srtp, key, salt))
            }
        };
        Context {
            cipher,
            streams: BTreeMap::new(),
        }
    }
}

impl From<Refused> for DropReason {
    fn from(refused: Refused) -> DropReason {
        match refused {
            Refused::Seen => DropReason::Replayed,
            Refused::TooOld => DropReason::TooOld,
        }
    }
}

/// Starts the window of a stream whose first packet was authentic.
fn insert(
    streams: &mut BTreeMap<u32, ReplayWindow>,
    (ssrc, index): (u32, u64),
) -> Result<(), DropReason> {
    if streams.len() >= MAX_STREAMS {
        return Err(DropReason::TooManyStreams);
    }
    let mut window = ReplayWindow::new();
    window.accept(index);
    streams.insert(ssrc, window);
    Ok(())
}

fn rtcp_ssrc(packet: &[u8]) -> Option<u32> {
    let header: &[u8; RTCP_HEADER] = packet.first_chunk()?;
    let ssrc = header.last_chunk().expect("8 bytes end in 4");
    (header[0] >> 6 == 2).then_some(u32::from_be_bytes(*ssrc))
}
