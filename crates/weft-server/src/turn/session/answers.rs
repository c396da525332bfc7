//! Messages to clients.

use super::super::authority::REALM;
use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;
use turn_types::attribute::{Data, Lifetime, XorPeerAddress, XorRelayedAddress};
use turn_types::message::DATA;
use turn_types::stun::attribute::{
    AttributeType, AttributeWrite, ErrorCode, Nonce, Realm, UnknownAttributes, XorMappedAddress,
};
use turn_types::stun::message::{
    IntegrityAlgorithm, IntegrityKey, Message, MessageHeader, MessageWrite as _,
    MessageWriteExt as _, MessageWriteVec,
};

/// Maximum number of unknown attributes that an answer names: a request may list
/// hundreds. Chosen by us.
const MOST_UNKNOWN: usize = 8;

/// Refused request.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: u16,
    /// Reason with the remedy; browsers show it in `icecandidateerror`.
    pub(super) reason: Cow<'static, str>,
    unknown: Vec<AttributeType>,
}

/// End of an answer.
pub(super) enum Signing<'a> {
    /// Signature for a known client.
    Key(&'a IntegrityKey),
    /// Realm and this nonce, with which to try again.
    Challenge(String),
    None,
}

impl Refusal {
    pub(super) fn new(code: u16, reason: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            code,
            reason: reason.into(),
            unknown: Vec::new(),
        }
    }

    pub(super) fn bad(reason: &'static str) -> Refusal {
        Refusal::new(ErrorCode::BAD_REQUEST, reason)
    }

    /// Answer to a request without credentials: short, because it goes to unverified addresses.
    pub(super) fn challenge() -> Refusal {
        Refusal::new(ErrorCode::UNAUTHORIZED, "")
    }

    pub(super) fn unauthorized(reason: &'static str) -> Refusal {
        Refusal::new(ErrorCode::UNAUTHORIZED, reason)
    }

    pub(super) fn mismatch(reason: &'static str) -> Refusal {
        Refusal::new(ErrorCode::ALLOCATION_MISMATCH, reason)
    }

    pub(super) fn none_yet() -> Refusal {
        Refusal::mismatch("this connection has no allocation")
    }

    pub(super) fn foreign(peer: SocketAddr) -> Refusal {
        let reason = format!("{peer} is not a media address of this server");
        Refusal::new(ErrorCode::FORBIDDEN, reason)
    }

    pub(super) fn unknown(mut unknown: Vec<AttributeType>) -> Refusal {
        unknown.truncate(MOST_UNKNOWN);
        let names: Vec<String> = unknown
            .iter()
            .map(|kind| format!("{:#06x}", kind.value()))
            .collect();
        let reason = format!("unsupported attributes {}", names.join(", "));
        Refusal {
            unknown,
            ..Refusal::new(ErrorCode::UNKNOWN_ATTRIBUTE, reason)
        }
    }

    /// Whether it only asks the client to try again with credentials or a new
    /// nonce.
    pub(super) fn is_challenge(&self) -> bool {
        self.code == ErrorCode::STALE_NONCE || self.reason.is_empty()
    }

    pub(super) fn answer(&self, request: &Message<'_>, signing: Signing<'_>) -> Vec<u8> {
        let mut out = Message::builder_error(request, writer());
        push(
            &mut out,
            &ErrorCode::new(self.code, &self.reason).expect("codes are in range"),
        );
        if !self.unknown.is_empty() {
            push(&mut out, &UnknownAttributes::new(&self.unknown));
        }
        match signing {
            Signing::Key(key) => sign(&mut out, key),
            Signing::Challenge(nonce) => {
                push(&mut out, &Realm::new(REALM).expect("a short realm"));
                push(&mut out, &Nonce::new(&nonce).expect("a short nonce"));
            }
            Signing::None => {}
        }
        out.finish()
    }
}

/// Answer to a Binding request (RFC 8489 section 6.3.1): the client's address.
pub(super) fn mapped(request: &Message<'_>, client: SocketAddr) -> Vec<u8> {
    let mut out = Message::builder_success(request, writer());
    push(
        &mut out,
        &XorMappedAddress::new(client, request.transaction_id()),
    );
    out.add_fingerprint().expect("one fingerprint");
    out.finish()
}

/// Signed success with its results: the relayed address, the client's own address, and a
/// lifetime.
pub(super) fn granted(
    request: &Message<'_>,
    addresses: Option<(SocketAddr, SocketAddr)>,
    lifetime: Option<Duration>,
    key: &IntegrityKey,
) -> Vec<u8> {
    let mut out = Message::builder_success(request, writer());
    let transaction = request.transaction_id();
    if let Some((relayed, client)) = addresses {
        push(&mut out, &XorRelayedAddress::new(relayed, transaction));
        push(&mut out, &XorMappedAddress::new(client, transaction));
    }
    if let Some(lifetime) = lifetime {
        let seconds = u32::try_from(lifetime.as_secs()).unwrap_or(u32::MAX);
        push(&mut out, &Lifetime::new(seconds));
    }
    sign(&mut out, key);
    out.finish()
}

/// Data of a peer without a channel (RFC 8656 section 11.4).
pub(super) fn indication(peer: SocketAddr, data: &[u8]) -> Vec<u8> {
    let buffer = MessageWriteVec::with_capacity(MessageHeader::LENGTH + 64 + data.len());
    let mut out = Message::builder_indication(DATA, buffer);
    let transaction = out.transaction_id();
    push(&mut out, &XorPeerAddress::new(peer, transaction));
    push(&mut out, &Data::new(data));
    out.finish()
}

fn writer() -> MessageWriteVec {
    // Enough for most answers; a reason may make it longer.
    MessageWriteVec::with_capacity(160)
}

fn push(out: &mut MessageWriteVec, attribute: &dyn AttributeWrite) {
    out.add_attribute(attribute)
        .expect("attributes come before the signature");
}

fn sign(out: &mut MessageWriteVec, key: &IntegrityKey) {
    out.add_message_integrity_with_key(key, IntegrityAlgorithm::Sha1)
        .expect("signed once");
    out.add_fingerprint().expect("one fingerprint");
}
