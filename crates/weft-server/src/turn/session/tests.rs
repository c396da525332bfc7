use super::super::authority::REALM;
use super::*;
use crate::ice_servers::Login;
use crate::log::Log;
use crate::refusals::Refusals;
use crate::turn::MediaPeers;
use std::time::SystemTime;
use turn_types::attribute::{DontFragment, XorRelayedAddress};
use turn_types::stun::attribute::{AttributeWrite, XorMappedAddress};
use turn_types::stun::message::{
    IntegrityAlgorithm, LongTermKeyCredentials, MessageType, MessageWrite as _,
    MessageWriteExt as _, MessageWriteVec, Method,
};

const SECRET: &str = "north";

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

/// Peers: one behind a router, and one that clients know by its own address.
fn peers() -> MediaPeers {
    let local = [at("10.0.0.1:5000"), at("[2001:db8::1]:5000")];
    MediaPeers::new(&local, &["192.0.2.1".parse().unwrap()])
}

fn media() -> SocketAddr {
    at("192.0.2.1:5000")
}

pub(in crate::turn) fn terms(peers: MediaPeers, limits: (usize, usize)) -> Arc<Terms> {
    let refusals = Arc::new(Refusals::new(Log::default()));
    Arc::new(Terms::new(SECRET.to_owned(), peers, limits, refusals))
}

/// Credentials that the server creates at this time.
fn login(now: SystemTime) -> Login {
    Login::limited(SECRET, "p1", now)
}

struct Port;

impl RelaySocket for Port {
    fn open(&mut self, ip: IpAddr) -> io::Result<SocketAddr> {
        Ok(SocketAddr::new(ip, 6000))
    }
}

/// Creates signed requests.
pub(in crate::turn) struct Signer {
    login: Login,
    nonce: String,
    /// Number of requests so far, which is the transaction of the last one.
    count: u128,
}

impl Signer {
    /// Request without credentials.
    pub(in crate::turn) fn stranger() -> Vec<u8> {
        let mut request = Message::builder_request(ALLOCATE, MessageWriteVec::new());
        request
            .add_attribute(&RequestedTransport::new(UDP))
            .unwrap();
        request.finish()
    }

    /// Signer with the nonce of the answer to a stranger.
    pub(in crate::turn) fn challenged(answer: &[u8]) -> Signer {
        let answer = Message::from_bytes(answer).unwrap();
        Signer {
            login: login(SystemTime::now()),
            nonce: answer.attribute::<Nonce>().unwrap().nonce().to_owned(),
            count: 0,
        }
    }

    pub(in crate::turn) fn allocate(&mut self) -> Vec<u8> {
        self.request(ALLOCATE, &[&RequestedTransport::new(UDP)])
    }

    pub(in crate::turn) fn bind(&mut self, channel: u16, peer: SocketAddr) -> Vec<u8> {
        let peer = XorPeerAddress::new(peer, (self.count + 1).into());
        self.request(CHANNEL_BIND, &[&ChannelNumber::new(channel), &peer])
    }

    /// Relayed address in an answer.
    pub(in crate::turn) fn relayed(answer: &[u8]) -> SocketAddr {
        let answer = Message::from_bytes(answer).unwrap();
        let relayed = answer.attribute::<XorRelayedAddress>().unwrap();
        relayed.addr(answer.transaction_id())
    }

    fn request(&mut self, method: Method, attributes: &[&dyn AttributeWrite]) -> Vec<u8> {
        self.count += 1;
        let kind = MessageType::from_class_method(MessageClass::Request, method);
        let mut out = Message::builder(kind, self.count.into(), MessageWriteVec::new());
        for attribute in attributes {
            out.add_attribute(*attribute).unwrap();
        }
        let Login { username, password } = self.login.clone();
        let name = Username::new(&username).unwrap();
        let (realm, nonce) = (Realm::new(REALM).unwrap(), Nonce::new(&self.nonce).unwrap());
        for attribute in [&name as &dyn AttributeWrite, &realm, &nonce] {
            out.add_attribute(attribute).unwrap();
        }
        let credentials = LongTermKeyCredentials::new(username, password, REALM.to_owned());
        out.add_message_integrity(&credentials.into(), IntegrityAlgorithm::Sha1)
            .unwrap();
        out.finish()
    }
}

struct Client {
    session: Session,
    now: Now,
    signer: Signer,
}

impl Client {
    fn new(terms: &Arc<Terms>) -> Client {
        let client = at("198.51.100.1:40000");
        let now = Now::machine();
        Client {
            session: Session::new(client, Transport::Stream, Arc::clone(terms)),
            signer: Signer {
                login: login(now.wall),
                nonce: terms.authority.nonce(client, now.instant),
                count: 0,
            },
            now,
        }
    }

    fn allocated() -> Client {
        let mut client = Client::new(&terms(peers(), (10, 10)));
        assert_eq!(client.allocate(), Ok(()));
        client
    }

    fn request(&mut self, method: Method, attributes: &[&dyn AttributeWrite]) -> Vec<u8> {
        self.signer.request(method, attributes)
    }

    fn send(&mut self, request: &[u8]) -> Vec<u8> {
        match self.session.handle_client(self.now, request, &mut Port) {
            Reaction::Answer(answer) | Reaction::End(answer) => answer,
            other => panic!("no answer: {other:?}"),
        }
    }

    /// Sends a request; an error is its code.
    fn ask(&mut self, method: Method, attributes: &[&dyn AttributeWrite]) -> Result<(), u16> {
        let request = self.request(method, attributes);
        code(&self.send(&request))
    }

    fn allocate(&mut self) -> Result<(), u16> {
        let request = self.signer.allocate();
        code(&self.send(&request))
    }

    fn permit(&mut self, peer: SocketAddr) -> Result<(), u16> {
        let peer = XorPeerAddress::new(peer, (self.signer.count + 1).into());
        self.ask(CREATE_PERMISSION, &[&peer])
    }

    fn bind(&mut self, channel: u16, peer: SocketAddr) -> Result<(), u16> {
        let request = self.signer.bind(channel, peer);
        code(&self.send(&request))
    }

    fn indicate(&mut self, peer: SocketAddr, data: &[u8]) -> bool {
        let mut out = Message::builder_indication(SEND, MessageWriteVec::new());
        let peer = XorPeerAddress::new(peer, out.transaction_id());
        out.add_attribute(&peer).unwrap();
        out.add_attribute(&Data::new(data)).unwrap();
        let message = out.finish();
        let reaction = self.session.handle_client(self.now, &message, &mut Port);
        match reaction {
            Reaction::Send(to, sent) => {
                assert_eq!((to, sent), (at("10.0.0.1:5000"), data));
                true
            }
            Reaction::Nothing => false,
            other => panic!("{other:?}"),
        }
    }
}

fn code(answer: &[u8]) -> Result<(), u16> {
    let answer = Message::from_bytes(answer).unwrap();
    match answer.attribute::<ErrorCode>() {
        Ok(error) => Err(error.code()),
        Err(_) => Ok(()),
    }
}

fn reason(answer: &[u8]) -> String {
    let answer = Message::from_bytes(answer).unwrap();
    answer.attribute::<ErrorCode>().unwrap().reason().to_owned()
}

#[test]
fn a_client_without_credentials_gets_a_short_challenge() {
    let mut client = Client::new(&terms(peers(), (10, 10)));
    let request = Signer::stranger();
    let answer = client.send(&request);
    assert_eq!(code(&answer), Err(401));
    assert!(answer.len() < 3 * request.len(), "{} octets", answer.len());
    let answer = Message::from_bytes(&answer).unwrap();
    assert_eq!(answer.attribute::<Realm>().unwrap().realm(), REALM);
    assert_eq!(
        answer.attribute::<Nonce>().unwrap().nonce(),
        client.signer.nonce
    );
}

#[test]
fn everybody_learns_their_own_address() {
    let mut client = Client::new(&terms(peers(), (10, 10)));
    let request = Message::builder_request(BINDING, MessageWriteVec::new()).finish();
    let answer = client.send(&request);
    let answer = Message::from_bytes(&answer).unwrap();
    let mapped = answer.attribute::<XorMappedAddress>().unwrap();
    assert_eq!(
        mapped.addr(answer.transaction_id()),
        at("198.51.100.1:40000")
    );
}

#[test]
fn an_allocation_has_an_address_of_the_media_and_a_signed_answer() {
    let mut client = Client::new(&terms(peers(), (10, 10)));
    let request = client.request(
        ALLOCATE,
        &[&RequestedTransport::new(UDP), &Lifetime::new(9999)],
    );
    let first = client.send(&request);
    let answer = Message::from_bytes(&first).unwrap();
    assert_eq!(Signer::relayed(&first), at("10.0.0.1:6000"));
    assert_eq!(answer.attribute::<Lifetime>().unwrap().seconds(), 600);
    let key = client
        .session
        .terms
        .authority
        .key(&client.signer.login.username, client.now.wall);
    assert!(answer.validate_integrity_with_key(&key.unwrap()).is_ok());
    // The answer was lost.
    assert_eq!(client.send(&request), first);
    assert_eq!(client.allocate(), Err(437));
}

#[test]
fn bad_credentials_are_refused_with_the_remedy() {
    let terms = terms(peers(), (10, 10));
    let refused = |change: &dyn Fn(&mut Client)| {
        let mut client = Client::new(&terms);
        change(&mut client);
        let request = client.request(ALLOCATE, &[&RequestedTransport::new(UDP)]);
        let answer = client.send(&request);
        (code(&answer).unwrap_err(), reason(&answer))
    };
    let (code, said) = refused(&|client| client.now.wall += Duration::from_secs(24 * 3600));
    assert!(
        code == 401 && said.contains("expired") && said.contains("load the page again"),
        "{said}"
    );
    let (code, said) =
        refused(&|client| client.signer.login = Login::limited("other", "p1", client.now.wall));
    assert!(code == 401 && said.contains("wrong password"), "{said}");
    let (code, said) = refused(&|client| client.signer.login.username = "guest".to_owned());
    assert!(
        code == 401 && said.contains("not from this server"),
        "{said}"
    );
    let (code, _) = refused(&|client| client.signer.nonce = "AAAAAAAAAAAAAAAA".to_owned());
    assert_eq!(code, 438);
    // A nonce is valid for at least an hour and at most two, for one address.
    let later = |seconds| {
        let mut client = Client::new(&terms);
        client.now.instant += Duration::from_secs(seconds);
        client.allocate()
    };
    assert_eq!((later(3600), later(7200)), (Ok(()), Err(438)));
    assert!(!terms.authority.accepts(
        &Client::new(&terms).signer.nonce,
        at("198.51.100.1:40001"),
        Now::machine().instant
    ));
    assert_eq!(
        terms.refusals.requests(),
        [((401, "turn"), 3)],
        "without challenges"
    );
}

#[test]
fn an_allocation_belongs_to_its_credentials_and_outlives_them() {
    let mut client = Client::allocated();
    client.now.wall += Duration::from_secs(48 * 3600);
    assert_eq!(client.ask(REFRESH, &[]), Ok(()));
    client.signer.login = login(client.now.wall);
    assert_eq!(client.ask(REFRESH, &[]), Err(441));
}

#[test]
fn a_refresh_prolongs_and_zero_ends() {
    let mut client = Client::allocated();
    let first = client.session.until().unwrap();
    client.now.instant += Duration::from_secs(100);
    assert_eq!(client.ask(REFRESH, &[&Lifetime::new(7200)]), Ok(()));
    assert_eq!(
        client.session.until(),
        Some(first + Duration::from_secs(100))
    );
    let end = client.request(REFRESH, &[&Lifetime::new(0)]);
    let reaction = client.session.handle_client(client.now, &end, &mut Port);
    assert!(matches!(reaction, Reaction::End(_)));
    assert_eq!(client.session.until(), None);
    assert_eq!(client.ask(REFRESH, &[]), Err(437));
}

#[test]
fn only_media_addresses_are_peers() {
    let mut client = Client::allocated();
    assert_eq!(client.permit(media()), Ok(()));
    for other in [
        "192.0.2.2:5000",
        "10.0.0.1:5000",
        "127.0.0.1:5000",
        "169.254.169.254:80",
    ] {
        let other = at(other);
        assert_eq!(client.permit(other), Err(403), "{other}");
        assert_eq!(client.bind(0x4000, other), Err(403), "{other}");
        assert!(!client.indicate(other, b"out"), "{other}");
        assert_eq!(
            client.session.handle_peer(other, b"in").is_some(),
            other == at("10.0.0.1:5000")
        );
    }
    // Another port of the same machine.
    assert_eq!(client.bind(0x4000, at("192.0.2.1:22")), Err(403));
    assert!(!client.indicate(at("192.0.2.1:22"), b"out"));
    assert_eq!(client.bind(0x4000, at("[2001:db8::1]:5000")), Err(443));
}

#[test]
fn data_passes_both_ways_in_indications_and_channels() {
    let mut client = Client::allocated();
    assert!(client.indicate(media(), b"check"));
    let local = at("10.0.0.1:5000");
    let message = client.session.handle_peer(local, b"answer").unwrap();
    let message = Message::from_bytes(&message).unwrap();
    let peer = message.attribute::<XorPeerAddress>().unwrap();
    assert_eq!(peer.addr(message.transaction_id()), media());
    assert_eq!(message.attribute::<Data<'_>>().unwrap().data(), b"answer");

    assert_eq!(client.bind(0x4001, media()), Ok(()));
    assert_eq!(client.bind(0x4001, media()), Ok(()), "refreshed");
    assert_eq!(client.bind(0x4002, media()), Err(400), "bound already");
    assert_eq!(client.bind(0x5000, media()), Err(400));
    let out = [0x40, 1, 0, 3, 7, 8, 9];
    let reaction = client.session.handle_client(client.now, &out, &mut Port);
    assert_eq!(reaction, Reaction::Send(local, &[7, 8, 9]));
    let back = client.session.handle_peer(local, &[7, 8, 9]);
    assert_eq!(back, Some(vec![0x40, 1, 0, 3, 7, 8, 9, 0]));
    for bad in [&[0x40, 2, 0, 1, 7][..], &[0x40, 1, 0, 9, 7], &[0x40], &[]] {
        let reaction = client.session.handle_client(client.now, bad, &mut Port);
        assert_eq!(reaction, Reaction::Nothing, "{bad:?}");
    }
}

#[test]
fn unsupported_requests_are_refused() {
    let mut client = Client::new(&terms(peers(), (10, 10)));
    let udp = RequestedTransport::new(UDP);
    assert_eq!(client.ask(ALLOCATE, &[]), Err(400));
    assert_eq!(
        client.ask(ALLOCATE, &[&RequestedTransport::new(6)]),
        Err(442)
    );
    assert_eq!(
        client.ask(ALLOCATE, &[&udp, &DontFragment::new()]),
        Err(420)
    );
    assert_eq!(client.ask(Method::new(0x00a), &[]), Err(400));
    for early in [REFRESH, CREATE_PERMISSION, CHANNEL_BIND] {
        assert_eq!(client.ask(early, &[]), Err(437));
    }
    assert_eq!(
        client.ask(ALLOCATE, &[&udp, &EvenPort::new(true)]),
        Err(508)
    );
    let v6 = RequestedAddressFamily::new(AddressFamily::IPV6);
    assert_eq!(
        client.ask(ALLOCATE, &[&udp, &v6, &EvenPort::new(false)]),
        Ok(())
    );
    assert_eq!(client.ask(CREATE_PERMISSION, &[]), Err(400));
    let only_v4 = MediaPeers::new(&[at("10.0.0.1:5000")], &[]);
    let mut client = Client::new(&terms(only_v4, (10, 10)));
    assert_eq!(client.ask(ALLOCATE, &[&udp, &v6]), Err(440));
}

#[test]
fn allocations_are_limited_in_total_and_per_address() {
    for (limits, wanted) in [((1, 10), 508), ((10, 1), 486)] {
        let terms = terms(peers(), limits);
        let mut first = Client::new(&terms);
        assert_eq!(first.allocate(), Ok(()));
        let mut second = Client::new(&terms);
        let request = second.request(ALLOCATE, &[&RequestedTransport::new(UDP)]);
        let answer = second.send(&request);
        assert_eq!(code(&answer), Err(wanted));
        assert!(reason(&answer).contains("--max-connections"));
        drop(first);
        assert_eq!(second.allocate(), Ok(()));
    }
}
