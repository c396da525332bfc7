//! Body of the fuzz target `turn`, which a test also runs.

use super::authority::{Now, REALM};
use super::session::{Reaction, RelaySocket, Session, Transport};
use super::{MediaPeers, Terms};
use crate::ice_servers::Login;
use crate::log::Log;
use crate::refusals::Refusals;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use turn_types::message::{ALLOCATE, CHANNEL_BIND, CREATE_PERMISSION, REFRESH, SEND};
use turn_types::stun::attribute::{
    AttributeStaticType as _, AttributeType, AttributeWrite, MessageIntegrity,
    MessageIntegritySha256, Nonce, RawAttribute, Realm, Username,
};
use turn_types::stun::message::{
    BINDING, IntegrityAlgorithm, LongTermKeyCredentials, Message, MessageClass, MessageType,
    MessageWrite as _, MessageWriteExt as _, MessageWriteVec, Method,
};
use weft_net::{DatagramFraming, TurnFraming};

const SECRET: &str = "north";
const CLIENT: &str = "198.51.100.1:40000";
/// Local addresses of the media side.
const MEDIA: [&str; 2] = ["10.0.0.1:5000", "[2001:db8::1]:5000"];
/// Methods of requests, including one that the server does not support.
const METHODS: [Method; 6] = [
    ALLOCATE,
    REFRESH,
    CREATE_PERMISSION,
    CHANNEL_BIND,
    BINDING,
    SEND,
];
/// Attributes that the signer adds itself.
const OWN: [AttributeType; 5] = [
    Username::TYPE,
    Realm::TYPE,
    Nonce::TYPE,
    MessageIntegrity::TYPE,
    MessageIntegritySha256::TYPE,
];
/// Maximum number of octets used of one part: the maximum of a client's message.
const MOST: usize = 1024;
/// Maximum number of parts in one input; the rest is ignored.
const PARTS: usize = 16;

struct Port;

impl RelaySocket for Port {
    fn open(&mut self, ip: IpAddr) -> io::Result<SocketAddr> {
        Ok(SocketAddr::new(ip, 6000))
    }
}

/// Passes a client's stream, its signed requests and a peer's datagrams to the TURN server. The
/// byte 255 ends each part, whose first byte selects the kind. Nothing may go to an address other
/// than the media side's. The input is also used as a separate connection, whose protocol depends
/// on its first octets. Returns the number of parts, plus a hundredth of their octets.
///
/// # Panics
/// If there is a defect.
pub fn fuzz_turn(data: &[u8]) -> usize {
    fuzz_connection(data);
    let media = MEDIA.map(|text| text.parse::<SocketAddr>().expect("an address"));
    let peers = MediaPeers::new(&media, &["192.0.2.1".parse().expect("an address")]);
    let refusals = Arc::new(Refusals::new(Log::default()));
    let terms = Arc::new(Terms::new(SECRET.to_owned(), peers, (1, 1), refusals));
    let client: SocketAddr = CLIENT.parse().expect("an address");
    let now = Now::machine();
    let mut signer = Signer {
        login: Login::limited(SECRET, "p1", now.wall),
        nonce: terms.authority.nonce(client, now.instant),
        count: 0,
    };
    let mut session = Session::new(client, Transport::Stream, terms);
    let mut framing = TurnFraming::default();
    let mut count = 0;
    for part in data.split(|byte| *byte == 0xff).take(PARTS) {
        let Some((what, body)) = part.split_first() else {
            continue;
        };
        let body = &body[..body.len().min(MOST)];
        count += 1;
        match what % 4 {
            0 => framing.buffer().extend_from_slice(body),
            1 => {
                let method = METHODS[usize::from(what / 4) % METHODS.len()];
                framing.buffer().extend(signer.request(method, body));
            }
            2 => {
                let from = media.get(usize::from(what / 4)).copied().unwrap_or(client);
                let message = session.handle_peer(from, body);
                assert!(message.is_none() || from != client, "a stranger's datagram");
                let most = body.len() + 64;
                assert!(message.is_none_or(|message| message.len() <= most));
            }
            _ => {
                let stranger = signer.unsigned(METHODS[0], body).finish();
                framing.buffer().extend(stranger);
            }
        }
        loop {
            let message = match framing.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => break,
                // The server closes such a stream.
                Err(_) => return count + data.len() / 100,
            };
            match session.handle_client(now, message, &mut Port) {
                Reaction::Send(to, data) => {
                    assert!(media.contains(&to), "an open relay to {to}");
                    assert!(data.len() <= message.len());
                }
                Reaction::Answer(answer) | Reaction::End(answer) => {
                    assert!(Message::from_bytes(&answer).is_ok(), "{answer:x?}");
                }
                Reaction::Nothing => {}
            }
        }
    }
    count + data.len() / 100
}

/// Identifies the protocol of a connection and receives datagrams from it: they must be
/// the same however the octets are split.
fn fuzz_connection(data: &[u8]) {
    crate::listener::fuzz_opening(data);
    let taken = |pieces: &[&[u8]]| {
        let (mut framing, mut all) = (DatagramFraming::default(), Vec::new());
        for piece in pieces {
            framing.extend(piece);
            loop {
                match framing.next_datagram() {
                    Ok(Some(datagram)) => all.push(datagram.to_vec()),
                    Ok(None) => break,
                    Err(_) => return all,
                }
            }
        }
        all
    };
    let whole = taken(&[data]);
    let octets: usize = whole.iter().map(|datagram| datagram.len() + 2).sum();
    assert!(octets <= data.len() && whole.iter().all(|datagram| !datagram.is_empty()));
    let (first, second) = data.split_at(data.len() / 3);
    assert_eq!(taken(&[first, second]), whole);
}

/// Creates requests with the attributes of an input.
struct Signer {
    login: Login,
    nonce: String,
    count: u128,
}

impl Signer {
    /// Request with the attributes of the body: a type byte, a length byte, the value.
    fn unsigned(&mut self, method: Method, mut body: &[u8]) -> MessageWriteVec {
        self.count += 1;
        let kind = MessageType::from_class_method(MessageClass::Request, method);
        let mut out = Message::builder(kind, self.count.into(), MessageWriteVec::new());
        while let [kind, length, rest @ ..] = body {
            let (value, left) = rest.split_at(rest.len().min(usize::from(*length)));
            let kind = AttributeType::new(u16::from(*kind));
            if !OWN.contains(&kind) {
                let _ = out.add_attribute(&RawAttribute::new(kind, value));
            }
            body = left;
        }
        out
    }

    fn request(&mut self, method: Method, body: &[u8]) -> Vec<u8> {
        let mut out = self.unsigned(method, body);
        let Login { username, password } = self.login.clone();
        let name = Username::new(&username).expect("it is short");
        let realm = Realm::new(REALM).expect("it is short");
        let nonce = Nonce::new(&self.nonce).expect("it is short");
        for attribute in [&name as &dyn AttributeWrite, &realm, &nonce] {
            let _ = out.add_attribute(attribute);
        }
        let credentials = LongTermKeyCredentials::new(username, password, REALM.to_owned());
        let _ = out.add_message_integrity(&credentials.into(), IntegrityAlgorithm::Sha1);
        out.finish()
    }
}
