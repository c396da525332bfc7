//! STUN messages of ICE. `stun-types` is the codec; this module chooses the
//! attributes and adds two of libwebrtc that the codec lacks.

use crate::counters::DropReason;
use crate::types::IceRole;
use std::net::SocketAddr;
use stun_types::attribute::{
    AttributeStaticType, AttributeType, ErrorCode, RawAttribute, Username, XorMappedAddress,
};
use stun_types::message::{
    BINDING, IntegrityAlgorithm, IntegrityKey, Message, MessageClass, MessageHeader, MessageType,
    MessageWrite, MessageWriteExt, MessageWriteVec, ShortTermCredentials,
};

// RFC 8445 section 16.1.
const PRIORITY: AttributeType = AttributeType::new(0x0024);
const USE_CANDIDATE: AttributeType = AttributeType::new(0x0025);
const ICE_CONTROLLED: AttributeType = AttributeType::new(0x8029);
const ICE_CONTROLLING: AttributeType = AttributeType::new(0x802a);
/// libwebrtc, api/transport/stun.h, STUN_ATTR_NOMINATION: u32; the highest
/// value wins.
const NOMINATION: AttributeType = AttributeType::new(0xc001);
/// libwebrtc, api/transport/stun.h, STUN_ATTR_GOOG_NETWORK_INFO: network id,
/// then cost, 16 bits each.
const NETWORK_INFO: AttributeType = AttributeType::new(0xc057);

/// RFC 8445 section 7.3.1.1.
pub(crate) const ROLE_CONFLICT: u16 = 487;

/// Check to send.
pub(crate) struct Check<'a> {
    pub transaction: u128,
    /// User name, `remote:local`.
    pub username: &'a str,
    pub priority: u32,
    pub role: IceRole,
    pub tie_breaker: u64,
    pub network: (u16, u16),
    /// `Some` on the selected pair only.
    pub nomination: Option<u32>,
}

/// Authenticated check of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub transaction: u128,
    pub priority: u32,
    /// Role of the peer and its tie breaker.
    pub role: Option<(IceRole, u64)>,
    pub use_candidate: bool,
    pub nomination: Option<u32>,
    /// Peer's number of its network, if it sends one.
    pub network: Option<u16>,
}

/// Parsed message, not authenticated yet.
pub(crate) enum Incoming<'a> {
    Request(Message<'a>),
    Response(Response<'a>),
    /// Keep-alive; needs no action.
    Indication,
}

pub(crate) struct Response<'a> {
    pub transaction: u128,
    /// Error code; `None` means success.
    pub error: Option<u16>,
    message: Message<'a>,
}

pub(crate) fn key(password: &str) -> IntegrityKey {
    ShortTermCredentials::new(password.to_owned()).make_key()
}

pub(crate) fn parse(datagram: &[u8]) -> Result<Incoming<'_>, DropReason> {
    let malformed = |_| DropReason::Malformed;
    let header = MessageHeader::from_bytes(datagram).map_err(malformed)?;
    // The codec reads attributes up to the end of its input.
    if MessageHeader::LENGTH + usize::from(header.data_length()) != datagram.len() {
        return Err(DropReason::Malformed);
    }
    let message = Message::from_bytes(datagram).map_err(malformed)?;
    if !message.has_method(BINDING) {
        return Err(DropReason::Malformed);
    }
    Ok(match message.class() {
        MessageClass::Request => Incoming::Request(message),
        MessageClass::Indication => Incoming::Indication,
        MessageClass::Success => Incoming::Response(Response {
            transaction: message.transaction_id().into(),
            error: None,
            message,
        }),
        MessageClass::Error => Incoming::Response(Response {
            transaction: message.transaction_id().into(),
            error: Some(message.attribute::<ErrorCode>().map_err(malformed)?.code()),
            message,
        }),
    })
}

impl Response<'_> {
    /// Whether the peer signed it.
    pub fn is_signed(&self, key: &IntegrityKey) -> bool {
        self.message.validate_integrity_with_key(key).is_ok()
    }
}

impl Request {
    /// Parses a check for us (RFC 8445 section 7.3): the first half of the user
    /// name is our fragment, and the signature uses our password.
    pub fn read(
        message: &Message<'_>,
        ufrag: &str,
        key: &IntegrityKey,
    ) -> Result<Request, DropReason> {
        let value = |kind| message.raw_attribute(kind).map(|a| a.value);
        let username = value(Username::TYPE).ok_or(DropReason::Username)?;
        let ours = username.split(|&b| b == b':').next();
        if ours != Some(ufrag.as_bytes()) {
            return Err(DropReason::Username);
        }
        message
            .validate_integrity_with_key(key)
            .map_err(|_| DropReason::Integrity)?;
        let u32_of = |kind| value(kind).map(|v| number(&v).map(u32::from_be_bytes));
        let u64_of = |kind| value(kind).map(|v| number(&v).map(u64::from_be_bytes));
        let controlling = u64_of(ICE_CONTROLLING).transpose()?;
        let controlled = u64_of(ICE_CONTROLLED).transpose()?;
        // Comprehension-optional: ignore another form.
        let network = u32_of(NETWORK_INFO).and_then(Result::ok);
        Ok(Request {
            transaction: message.transaction_id().into(),
            priority: u32_of(PRIORITY).ok_or(DropReason::Malformed)??,
            role: (controlling.map(|t| (IceRole::Controlling, t)))
                .or(controlled.map(|t| (IceRole::Controlled, t))),
            use_candidate: message.has_attribute(USE_CANDIDATE),
            nomination: u32_of(NOMINATION).transpose()?,
            // libwebrtc counts from 1; 0 is an unknown network.
            network: network.map(|v| (v >> 16) as u16).filter(|id| *id != 0),
        })
    }
}

impl Check<'_> {
    pub fn write(&self, key: &IntegrityKey) -> Vec<u8> {
        let kind = MessageType::from_class_method(MessageClass::Request, BINDING);
        let mut out = Message::builder(kind, self.transaction.into(), writer());
        let (id, cost) = self.network;
        let network = (u32::from(id) << 16 | u32::from(cost)).to_be_bytes();
        let role = match self.role {
            IceRole::Controlling => ICE_CONTROLLING,
            IceRole::Controlled => ICE_CONTROLLED,
        };
        push(&mut out, Username::TYPE, self.username.as_bytes());
        push(&mut out, PRIORITY, &self.priority.to_be_bytes());
        push(&mut out, role, &self.tie_breaker.to_be_bytes());
        push(&mut out, NETWORK_INFO, &network);
        if let Some(value) = self.nomination {
            push(&mut out, NOMINATION, &value.to_be_bytes());
            push(&mut out, USE_CANDIDATE, &[]);
        }
        sign(out, key)
    }
}

/// Answer to a check from `source`.
pub(crate) fn success(transaction: u128, source: SocketAddr, key: &IntegrityKey) -> Vec<u8> {
    let kind = MessageType::from_class_method(MessageClass::Success, BINDING);
    let mut out = Message::builder(kind, transaction.into(), writer());
    let mapped = XorMappedAddress::new(source, transaction.into());
    out.add_attribute(&mapped)
        .expect("a fresh message takes it");
    sign(out, key)
}

/// Answer to a check whose sender must change its role.
pub(crate) fn role_conflict(transaction: u128, key: &IntegrityKey) -> Vec<u8> {
    let kind = MessageType::from_class_method(MessageClass::Error, BINDING);
    let mut out = Message::builder(kind, transaction.into(), writer());
    let code = ErrorCode::new(ROLE_CONFLICT, "Role Conflict").expect("487 is in range");
    out.add_attribute(&code).expect("a fresh message takes it");
    sign(out, key)
}

fn writer() -> MessageWriteVec {
    // A check with all attributes has 128 bytes with fragments of 8 characters.
    MessageWriteVec::with_capacity(160)
}

fn push(out: &mut MessageWriteVec, kind: AttributeType, value: &[u8]) {
    out.add_attribute(&RawAttribute::new(kind, value))
        .expect("attributes come before the signature");
}

fn sign(mut out: MessageWriteVec, key: &IntegrityKey) -> Vec<u8> {
    out.add_message_integrity_with_key(key, IntegrityAlgorithm::Sha1)
        .expect("signed once");
    out.add_fingerprint().expect("one fingerprint");
    out.finish()
}

fn number<const N: usize>(value: &[u8]) -> Result<[u8; N], DropReason> {
    value.try_into().map_err(|_| DropReason::Malformed)
}
