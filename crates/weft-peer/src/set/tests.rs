use std::net::SocketAddr;

use weft_ice::{IceRole, PathState};
use weft_session::Delivery;
use weft_units::{Duration, Ecn, FiveTuple, Instant, MediaKind};

use super::*;
use crate::negotiation::tests::config;
use crate::{AnswerPolicy, Offer, Section, StreamDirection, answer};

const SERVER: &str = "192.0.2.1:5000";

fn addr(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// Returns a client at `local` that offered video, and its peer on the server.
fn pair(seed: u64, local: &str) -> (Peer, Peer) {
    let section = Section::new(MediaKind::Video, StreamDirection::Send);
    let client = config(IceRole::Controlling, seed, local);
    let server = config(IceRole::Controlled, seed + 100, SERVER);
    let policy = AnswerPolicy {
        receive: Some(Delivery::Frames),
        send: Vec::new(),
    };
    let offer = Offer::new(Instant::ZERO, client, &[section], Delivery::Frames);
    let (server, text) = answer(Instant::ZERO, server, &offer.sdp(), &policy).expect("answered");
    let client = offer.accept(Instant::ZERO, &text).expect("accepted");
    (client, server)
}

/// Server's peers and their clients, without any delay between them.
#[derive(Default)]
struct House {
    now: Instant,
    set: PeerSet,
    clients: Vec<Peer>,
    /// Latest check that a client sent, for replays.
    last_check: Vec<u8>,
}

impl House {
    fn admit(&mut self, (client, server): (Peer, Peer)) -> PeerKey {
        self.clients.push(client);
        self.set.insert(server)
    }

    /// Delivers everything; time passes in steps of 10 ms.
    fn run(&mut self, ms: u64) {
        for _ in 0..ms / 10 {
            while self.exchange() {}
            self.now += Duration::from_millis(10);
            for client in &mut self.clients {
                client.handle_timeout(self.now);
            }
            self.set.handle_timeout(self.now);
        }
    }

    fn exchange(&mut self) -> bool {
        let mut moved = false;
        for client in &mut self.clients {
            while let Some(output) = client.poll_output() {
                if let Output::Transmit {
                    tuple, datagram, ..
                } = output
                {
                    moved = true;
                    if datagram[0] == 0 {
                        self.last_check.clone_from(&datagram);
                    }
                    self.set
                        .handle_datagram(self.now, tuple.reversed(), Ecn::NotEct, &datagram);
                }
            }
        }
        while let Some((_, output)) = self.set.poll_output() {
            if let Output::Transmit {
                tuple, datagram, ..
            } = output
            {
                moved = true;
                let at = |c: &&mut Peer| c.locals.iter().any(|l| l.addr == tuple.remote);
                if let Some(client) = self.clients.iter_mut().find(at) {
                    client.handle_datagram(self.now, tuple.reversed(), Ecn::NotEct, &datagram);
                }
            }
        }
        moved
    }

    fn is_connected(&self, key: PeerKey) -> bool {
        self.set.get(key).is_some_and(Peer::is_connected)
    }
}

#[test]
fn peers_on_one_socket_differ_by_name_and_then_by_address() {
    let mut house = House::default();
    let first = house.admit(pair(1, "198.51.100.1:1000"));
    let second = house.admit(pair(2, "198.51.100.2:1000"));
    house.run(500);
    assert!(house.is_connected(first) && house.is_connected(second));
    assert!(house.clients.iter().all(Peer::is_connected));
    assert_eq!(house.set.unroutable(), 0);
    for key in [first, second] {
        let counters = house.set.get(key).expect("there").association().counters();
        let drops: u64 = counters.drops().map(|(_, n)| n).sum();
        assert_eq!(drops, 0, "{key:?} got what was not its own: {counters:?}");
    }
}

#[test]
fn unroutable_packets_are_counted() {
    let mut house = House::default();
    house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    let (server, stranger) = (addr(SERVER), addr("203.0.113.9:9"));
    let media = [0x80, 96, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3];
    for nonsense in [&media[..], &[], &[0; 3], &[0, 1, 0xff, 0xff]] {
        let found = house.set.handle_datagram(
            house.now,
            FiveTuple::udp(server, stranger),
            Ecn::NotEct,
            nonsense,
        );
        assert_eq!(found, None);
    }
    assert_eq!(house.set.unroutable(), 4);
}

#[test]
fn a_forged_check_with_a_known_name_takes_no_route_over() {
    let mut house = House::default();
    let victim = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    let attacker = house.admit(pair(2, "198.51.100.2:1000"));
    house.run(500);
    // A check that names the other peer from the victim's address, unsigned.
    let mut forged = house.last_check.clone();
    let last = forged.len() - 1;
    forged[last] ^= 1;
    let (server, client) = (addr(SERVER), addr("198.51.100.1:1000"));
    let names = |peer: &Peer| peer.association().credentials().ufrag.clone();
    let named = stun_user_name(&forged).map(str::to_owned);
    assert_eq!(named, house.set.get(attacker).map(names));
    house.set.handle_datagram(
        house.now,
        FiveTuple::udp(server, client),
        Ecn::NotEct,
        &forged,
    );
    let nonsense = [0x80; 40];
    let routed = house.set.handle_datagram(
        house.now,
        FiveTuple::udp(server, client),
        Ecn::NotEct,
        &nonsense,
    );
    assert_eq!(routed, Some(victim));
    let peer = house.set.get(attacker).expect("there");
    let counters = peer.association().counters();
    let drops: u64 = counters.drops().map(|(_, n)| n).sum();
    assert_eq!(drops, 1, "the forged check");
}

#[test]
fn a_port_used_again_for_a_new_call_belongs_to_the_new_one() {
    let mut house = House::default();
    let old = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    house.clients.clear();
    let new = house.admit(pair(3, "198.51.100.1:1000"));
    house.run(500);
    assert!(
        house.is_connected(new),
        "the old peer swallowed the new call"
    );
    assert!(house.is_connected(old), "it does not know yet");
}

#[test]
fn a_removed_peer_leaves_neither_name_nor_route() {
    let mut house = House::default();
    let key = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    assert!(house.set.remove(key).is_some());
    let before = house.set.unroutable();
    let (server, client) = (addr(SERVER), addr("198.51.100.1:1000"));
    let check = house.last_check.clone();
    let found = house.set.handle_datagram(
        house.now,
        FiveTuple::udp(server, client),
        Ecn::NotEct,
        &check,
    );
    assert_eq!(found, None);
    assert_eq!(house.set.unroutable(), before + 1);
    assert_eq!(house.set.poll_timeout(), None);
    assert!(house.set.names.is_empty() && house.set.routes.len() == 0);
}

/// Returns a set with two datagrams and an event of one peer, after the first was polled.
fn with_outputs_under_way() -> (House, PeerKey) {
    let mut house = House::default();
    let key = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    let datagram = |octet| Output::Transmit {
        tuple: FiveTuple::udp(addr(SERVER), addr("198.51.100.1:1000")),
        ecn: Ecn::NotEct,
        datagram: vec![octet],
    };
    let event = Output::Event(Event::AddressWanted {
        beside: addr(SERVER),
    });
    let mut outputs = VecDeque::from([datagram(1), datagram(2), event]);
    let set = &mut house.set;
    set.drive(key, |peer| peer.swap_outputs(&mut outputs));
    assert_eq!(marked(set.poll_output()), Some(1));
    (house, key)
}

/// Content of a datagram that a test created.
fn marked(output: Option<(PeerKey, Output)>) -> Option<u8> {
    match output?.1 {
        Output::Transmit { datagram, .. } => (datagram.len() == 1).then(|| datagram[0]),
        Output::Event(event) => panic!("{event:?}"),
    }
}

#[test]
fn a_closed_peer_sends_the_datagrams_that_were_ready() {
    let (mut house, key) = with_outputs_under_way();
    house.set.close(house.now, key);
    assert_eq!(marked(house.set.poll_output()), Some(2));
    let goodbye = house.set.poll_output();
    assert!(goodbye.is_some(), "DTLS says goodbye");
    assert_eq!(marked(goodbye), None);
}

#[test]
fn a_removed_peer_sends_nothing_more() {
    let (mut house, key) = with_outputs_under_way();
    house.set.drive(key, |_| ());
    assert!(house.set.remove(key).is_some());
    assert!(house.set.poll_output().is_none());
}

#[test]
fn a_path_of_a_peer_is_up_on_both_sides() {
    let mut house = House::default();
    let key = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    let states =
        |peer: &Peer| -> Vec<PathState> { peer.association().paths().map(|p| p.state).collect() };
    assert_eq!(states(&house.clients[0]), [PathState::Up]);
    assert_eq!(states(house.set.get(key).expect("there")), [PathState::Up]);
}

/// Number of pairs of all peers in the set, and in their agents.
fn routes(set: &PeerSet) -> (usize, usize) {
    let pairs = set.iter().map(|(_, peer)| peer.association().routes());
    (set.routes.len(), pairs.map(Iterator::count).sum())
}

#[test]
fn checks_from_everywhere_make_no_routes_beyond_the_pairs_of_their_peer() {
    let mut house = House::default();
    house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    let check = house.last_check.clone();
    for port in 1..5000 {
        let source = SocketAddr::from(([203, 0, 113, 9], port));
        house.set.handle_datagram(
            house.now,
            FiveTuple::udp(addr(SERVER), source),
            Ecn::NotEct,
            &check,
        );
        while house.set.poll_output().is_some() {}
    }
    let (kept, pairs) = routes(&house.set);
    assert_eq!(kept, pairs);
    assert!(kept <= 64, "{kept} routes");
}

#[test]
fn a_signed_check_from_a_forged_source_does_not_move_a_route() {
    let mut house = House::default();
    let victim = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    let attacker = house.admit(pair(2, "198.51.100.2:1000"));
    house.run(500);
    // The attacker's own check, with its own keys, as if from the victim.
    let check = house.last_check.clone();
    let name = house.set.get(attacker).expect("there");
    let name = &name.association().credentials().ufrag;
    assert_eq!(stun_user_name(&check), Some(name.as_str()));
    let (server, client) = (addr(SERVER), addr("198.51.100.1:1000"));
    house.set.handle_datagram(
        house.now,
        FiveTuple::udp(server, client),
        Ecn::NotEct,
        &check,
    );
    house.run(500);
    let nonsense = [0x80; 40];
    let routed = house.set.handle_datagram(
        house.now,
        FiveTuple::udp(server, client),
        Ecn::NotEct,
        &nonsense,
    );
    assert_eq!(routed, Some(victim));
    let (kept, pairs) = routes(&house.set);
    assert_eq!(kept, pairs);
}

#[test]
fn a_defect_in_the_handling_of_one_peer_ends_that_one_alone() {
    let mut house = House::default();
    let broken = house.admit(pair(1, "198.51.100.1:1000"));
    let other = house.admit(pair(2, "198.51.100.2:1000"));
    house.run(500);
    for deed in ["datagram", "timeout"] {
        let Some(key) = [broken, other]
            .into_iter()
            .find(|k| house.set.get(*k).is_some())
        else {
            panic!("both are gone");
        };
        house.set.get_mut(key).expect("there").broken = true;
        if deed == "datagram" {
            let (server, client) = (addr(SERVER), addr("198.51.100.1:1000"));
            let datagram = [0x80; 40];
            house.set.handle_datagram(
                house.now,
                FiveTuple::udp(server, client),
                Ecn::NotEct,
                &datagram,
            );
        } else {
            house.now += Duration::from_secs(10);
            house.set.handle_timeout(house.now);
        }
        assert!(house.set.get(key).is_none(), "{deed}");
        let mut said = Vec::new();
        while let Some((from, output)) = house.set.poll_output() {
            if let Output::Event(Event::Association(AssociationEvent::Failed { reason })) = output {
                said.push((from, reason));
            }
        }
        assert_eq!(said, [(key, FailReason::Defect)], "{deed}");
        let (kept, pairs) = routes(&house.set);
        assert_eq!(kept, pairs, "{deed}");
        if deed == "datagram" {
            assert!(house.is_connected(other));
        }
    }
}

#[test]
fn a_datagram_that_is_too_long_is_not_looked_at() {
    let mut house = House::default();
    let key = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    let (server, client) = (addr(SERVER), addr("198.51.100.1:1000"));
    let send = |house: &mut House, length| {
        let datagram = vec![0x80; length];
        house.set.handle_datagram(
            house.now,
            FiveTuple::udp(server, client),
            Ecn::NotEct,
            &datagram,
        );
        let peer = house.set.get(key).expect("there");
        let counters = peer.association().counters();
        (
            peer.discarded(),
            counters.drops().map(|(_, n)| n).sum::<u64>(),
        )
    };
    assert_eq!(send(&mut house, crate::MAX_DATAGRAM), (1, 1));
    assert_eq!(send(&mut house, crate::MAX_DATAGRAM + 1), (2, 1));
}

#[test]
fn packets_beyond_a_peers_bound_are_dropped_unread() {
    let mut house = House::default();
    let key = house.admit(pair(1, "198.51.100.1:1000"));
    house.run(500);
    house.set.limit_ingress(key, weft_units::Rate::from_mbps(1));
    let (server, client) = (addr(SERVER), addr("198.51.100.1:1000"));
    let answers = |house: &mut House, datagram: &[u8], times: usize| {
        let mut answers = 0;
        for _ in 0..times {
            house.set.handle_datagram(
                house.now,
                FiveTuple::udp(server, client),
                Ecn::NotEct,
                datagram,
            );
            answers += std::iter::from_fn(|| house.set.poll_output()).count();
        }
        answers
    };
    // Datagrams without the peer's signature do not use up its bound, whatever address
    // they name: media, and keep-alives of ICE.
    let mut indication = house.last_check[..20].to_vec();
    (indication[1], indication[2], indication[3]) = (0x11, 0, 0);
    for unsigned in [&[0x80; 1_000][..], &indication] {
        assert_eq!(answers(&mut house, unsigned, 1_000), 0);
    }
    let check = house.last_check.clone();
    // Regardless of its size.
    let most = 125_000 / 400;
    assert!(check.len() < 200);
    let answered = answers(&mut house, &check, 10 * most);
    assert!((most..most + 2).contains(&answered), "{answered} of {most}");
    house.now += Duration::from_secs(1);
    house.set.handle_timeout(house.now);
    while house.set.poll_output().is_some() {}
    assert!(answers(&mut house, &check, 10) >= 10);
}
