use super::media::rtp;
use super::net::*;
use super::*;
use proptest::prelude::*;

const SERVER: &str = "10.0.0.9:1";
const CLIENT: &str = "10.0.0.1:1";

fn connected() -> Net {
    let mut net = Net::new(SERVER, &[(CLIENT, 5)]);
    net.connect();
    net
}

/// Drop reason that B counts for a datagram from A's address.
fn reason(net: &mut Net, datagram: &[u8]) -> Option<DropReason> {
    let now = net.now;
    let (server, client) = (addr(SERVER), addr(CLIENT));
    let before = net.b.counters();
    let dropped = match net
        .b
        .handle_datagram(now, FiveTuple::udp(server, client), datagram)
    {
        Received::Dropped(reason) => Some(reason),
        _ => None,
    };
    let after = net.b.counters();
    let counted = after.drops().zip(before.drops());
    let counted: Vec<_> = counted
        .filter(|(n, o)| n.1 != o.1)
        .map(|(n, _)| n.0)
        .collect();
    assert_eq!(counted, dropped.into_iter().collect::<Vec<_>>());
    dropped
}

/// Latest check from A.
fn check(net: &Net) -> Vec<u8> {
    let mut sent = net.sent.iter().rev();
    let last = sent.find(|(_, side, .., d)| *side == Side::A && d[..2] == [0, 1]);
    last.expect("a check").4.clone()
}

#[test]
fn each_kind_of_nonsense_has_its_counter() {
    let mut net = connected();
    let stranger = addr("10.9.9.9:9");
    let check = check(&net);
    assert_eq!(reason(&mut net, &check), None);

    assert_eq!(reason(&mut net, &[]), Some(DropReason::Unrecognised));
    assert_eq!(reason(&mut net, &[99]), Some(DropReason::Unrecognised));
    assert_eq!(
        reason(&mut net, &[0]),
        Some(DropReason::Ice(weft_ice::DropReason::Malformed))
    );
    let longer = [&check[..], &[0; 4]].concat();
    assert_eq!(
        reason(&mut net, &longer),
        Some(DropReason::Ice(weft_ice::DropReason::Malformed))
    );
    assert_eq!(reason(&mut net, &[128]), Some(DropReason::Truncated));
    assert_eq!(
        reason(&mut net, &[128, 200, 0, 0]),
        Some(DropReason::Truncated)
    );
    let plain = [rtp(1), vec![0; 16]].concat();
    assert_eq!(reason(&mut net, &plain), Some(DropReason::Authentication));
    // Unsolicited answer.
    let mut answer = check.clone();
    answer[0] = 1;
    let received = net
        .b
        .handle_datagram(net.now, FiveTuple::udp(addr(SERVER), stranger), &rtp(1));
    assert!(matches!(
        received,
        Received::Dropped(DropReason::UnknownPath)
    ));
    let received =
        net.b
            .handle_datagram(net.now, FiveTuple::udp(addr(SERVER), stranger), &[22; 40]);
    assert!(matches!(
        received,
        Received::Dropped(DropReason::UnknownPath)
    ));
}

#[test]
fn media_of_another_association_is_refused() {
    let mut net = connected();
    let mut other = connected();
    let mut packet = rtp(1);
    other.a.protect_rtp(&mut packet, &[]).expect("protects");
    assert_eq!(reason(&mut net, &packet), Some(DropReason::Authentication));
    let mut own = rtp(1);
    net.a.protect_rtp(&mut own, &[]).expect("protects");
    for len in 0..own.len() {
        assert!(reason(&mut net, &own[..len]).is_some());
    }
    assert_eq!(reason(&mut net, &own), None);
    // An earlier authentic packet does not make a forged copy trusted.
    let mut forged = own.clone();
    forged[20] ^= 1;
    assert_eq!(reason(&mut net, &forged), Some(DropReason::Authentication));
    let counted = |net: &Net| (net.b.counters().rtp_received, net.b.counters().rtp_again);
    assert_eq!(counted(&net), (1, 0));
    assert_eq!(reason(&mut net, &own), None);
    assert_eq!(counted(&net), (1, 1), "a replay is no media");
}

#[test]
fn a_peer_cannot_make_us_remember_without_bound() {
    let mut net = connected();
    let check = check(&net);
    let now = net.now;
    for port in 1..2000 {
        let source = SocketAddr::new(addr("10.5.5.5:1").ip(), port);
        net.b
            .handle_datagram(now, FiveTuple::udp(addr(SERVER), source), &check);
    }
    assert!(
        net.b
            .counters()
            .dropped(DropReason::Ice(weft_ice::DropReason::TooManyPairs))
            > 1900
    );
    let outputs = std::iter::from_fn(|| net.b.poll_output()).count();
    assert!(outputs < 300, "{outputs}");
    // The call continues.
    let path = net.path_to(Side::A, CLIENT, SERVER);
    net.send_rtp(Side::A, path, rtp(1));
    net.run_for(1000);
    assert_eq!(net.got.rtp.len(), 1);
    // An honest newcomer finds a place, because the other addresses proved nothing.
    net.wire("10.0.3.1:1", SERVER, 5);
    net.run_for(15_000);
    net.a.add_local(net.now, local("10.0.3.1:1", 3));
    net.run_for(6_000);
    net.path_to(Side::B, SERVER, "10.0.3.1:1");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Modified, truncated and random datagrams of every protocol: no panic, and the call
    /// continues.
    #[test]
    fn nonsense_does_no_harm(
        edits in prop::collection::vec((any::<usize>(), any::<usize>(), any::<u8>(), 0_usize..4), 1..40),
        noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..20),
    ) {
        let mut net = connected();
        let genuine: Vec<Vec<u8>> = net.sent.iter().map(|s| s.4.clone()).collect();
        let now = net.now;
        for (which, at, byte, cut) in edits {
            let mut datagram = genuine[which % genuine.len()].clone();
            let at = at % datagram.len();
            datagram[at] = byte;
            if cut == 0 {
                datagram.truncate(at);
            }
            net.b.handle_datagram(now, FiveTuple::udp(addr(SERVER), addr(CLIENT)), &datagram);
        }
        for datagram in noise {
            net.b.handle_datagram(now, FiveTuple::udp(addr(SERVER), addr(CLIENT)), &datagram);
        }
        net.run_for(1000);
        let path = net.path_to(Side::A, CLIENT, SERVER);
        net.send_rtp(Side::A, path, rtp(1));
        net.run_for(100);
        prop_assert_eq!(net.got.rtp.len(), 1);
    }

    #[test]
    fn the_fuzz_body_holds(data in prop::collection::vec(any::<u8>(), 0..600)) {
        crate::fuzz::fuzz_datagrams(&data);
    }
}
