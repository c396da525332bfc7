use super::*;
use proptest::prelude::*;

fn connected() -> Net {
    let mut net = Net::new(SERVER, &[(WIFI, 5)]);
    net.connect();
    net
}

/// Drop reason that B counts for a datagram from A's address.
fn reason(net: &mut Net, datagram: &[u8]) -> Option<DropReason> {
    let now = net.now;
    let before = net.b.counters().clone();
    let received = net
        .b
        .handle_datagram(now, FiveTuple::udp(addr(SERVER), addr(WIFI)), datagram);
    let counted = net.b.counters().drops().zip(before.drops());
    let counted: Vec<_> = counted
        .filter(|(n, o)| n.1 != o.1)
        .map(|(n, _)| n.0)
        .collect();
    assert_eq!(counted, received.err().into_iter().collect::<Vec<_>>());
    received.err()
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
    let check = check(&net);
    assert_eq!(reason(&mut net, &check), None);
    assert_eq!(reason(&mut net, &[]), Some(DropReason::Malformed));
    assert_eq!(reason(&mut net, &[0]), Some(DropReason::Malformed));
    let longer = [&check[..], &[0; 4]].concat();
    assert_eq!(reason(&mut net, &longer), Some(DropReason::Malformed));
    let elsewhere = addr("10.0.0.77:1");
    let received = net
        .b
        .handle_datagram(net.now, FiveTuple::udp(elsewhere, addr(WIFI)), &check);
    assert_eq!(received, Err(DropReason::UnknownLocal));
}

#[test]
fn an_address_that_cannot_be_answered_gets_no_pair_and_no_answer() {
    let mut net = connected();
    let check = check(&net);
    let routes = net.b.routes().count();
    let unanswerable = [
        "10.0.0.1:0",
        "0.0.0.0:7",
        "255.255.255.255:7",
        "224.0.0.251:5353",
        "[fe80::1]:0",
        "[::]:7",
        "[ff02::fb]:5353",
        "[::ffff:10.0.0.1]:7",
    ];
    for remote in unanswerable {
        let received =
            net.b
                .handle_datagram(net.now, FiveTuple::udp(addr(SERVER), addr(remote)), &check);
        assert_eq!(received, Err(DropReason::Unanswerable), "{remote}");
        assert!(net.b.poll_output().is_none(), "{remote}");
    }
    // Received as candidates, each of which would have been checked.
    for candidate in candidates(&unanswerable) {
        net.a.add_remote(net.now, candidate);
        assert!(net.a.poll_output().is_none(), "{candidate:?}");
    }
    let refused = net.a.counters().pairs_refused;
    assert_eq!(refused, unanswerable.len() as u64);
    assert_eq!(net.b.routes().count(), routes);
    assert_eq!(net.a.routes().count(), routes);
}

#[test]
fn a_check_with_a_wrong_password_or_name_changes_nothing() {
    let mut net = connected();
    let paths = net.b.paths().count();
    let mut credentials = net.b.credentials().clone();
    credentials.pwd = "x".repeat(24);
    let check_of = |seed, credentials: &Credentials| {
        let mut forger = agent(IceRole::Controlling, 5, seed);
        forger.add_local(net.now, local("10.7.7.7:7", 0));
        forger.set_remote(net.now, credentials, &candidates(&[SERVER]));
        let Some(Output::Transmit { datagram, .. }) = forger.poll_output() else {
            panic!("a check is due at once");
        };
        datagram
    };
    let wrong_password = check_of(77, &credentials);
    credentials.ufrag = "somebody".to_owned();
    let wrong_name = check_of(78, &credentials);
    assert_eq!(
        reason(&mut net, &wrong_password),
        Some(DropReason::Integrity)
    );
    assert_eq!(reason(&mut net, &wrong_name), Some(DropReason::Username));
    net.run_for(1000);
    assert_eq!(net.b.paths().count(), paths);
}

#[test]
fn invented_addresses_make_few_pairs() {
    let now = Instant::ZERO;
    let mut agent = agent(IceRole::Controlled, 5, 1);
    for n in 0..16 {
        agent.add_local(now, local(&format!("10.1.0.{n}:1"), n));
    }
    let made_up: Vec<String> = (0..32).map(|n| format!("10.2.0.{n}:1")).collect();
    let made_up: Vec<&str> = made_up.iter().map(String::as_str).collect();
    let credentials = Credentials {
        ufrag: "somebody".to_owned(),
        pwd: "x".repeat(24),
    };
    agent.set_remote(now, &credentials, &candidates(&made_up));
    // SECURITY.md states this number.
    assert_eq!(agent.pairs.len(), 64);
}

#[test]
fn checks_that_come_before_the_description_are_kept_of_a_few() {
    let now = Instant::ZERO;
    let mut early = agent(IceRole::Controlled, 5, 1);
    early.add_local(now, local(SERVER, 0));
    let mut forger = agent(IceRole::Controlling, 5, 2);
    forger.add_local(now, local(WIFI, 0));
    forger.set_remote(now, early.credentials(), &candidates(&[SERVER]));
    let Some(Output::Transmit { datagram, .. }) = forger.poll_output() else {
        panic!("a check is due at once");
    };
    let comes = |n: u16| {
        let from = SocketAddr::from(([10, 9, 0, 1], n));
        early.handle_datagram(now, FiveTuple::udp(addr(SERVER), from), &datagram)
    };
    let taken = (1..=1_000).map(comes).filter(Result::is_ok).count();
    assert_eq!((taken, early.waiting.len()), (16, 16));
}

#[test]
fn an_answer_must_be_signed_and_asked_for() {
    let mut net = connected();
    let answer = net.sent.iter().rev();
    let mut answers = answer.filter(|(_, side, .., d)| *side == Side::A && d[..2] == [1, 1]);
    let old = answers.next().expect("an answer").4.clone();
    assert_eq!(reason(&mut net, &old), Some(DropReason::Unexpected));
    // Answer to a check in flight, signed with a foreign key.
    net.wire_mut(WIFI, SERVER).up = false;
    let mark = net.sent.len();
    net.run_for(3000);
    let mut sent = net.sent[mark..].iter();
    let check = sent.find(|(_, side, .., d)| *side == Side::B && d[..2] == [0, 1]);
    let check = check.expect("a check of B").4.clone();
    let mut forged = old.clone();
    forged[4..20].copy_from_slice(&check[4..20]);
    let end = forged.len() - 8;
    forged.truncate(end); // without the fingerprint, which would not fit
    let len = (forged.len() - 20) as u16;
    forged[2..4].copy_from_slice(&len.to_be_bytes());
    assert_eq!(reason(&mut net, &forged), Some(DropReason::Integrity));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Modified, truncated and random messages: no panic, and the path stays.
    #[test]
    fn nonsense_does_no_harm(
        edits in prop::collection::vec((any::<usize>(), any::<usize>(), any::<u8>(), 0_usize..4), 1..40),
        noise in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..20),
    ) {
        let mut net = connected();
        let genuine: Vec<Vec<u8>> = net.sent.iter().map(|s| s.4.clone()).collect();
        for (which, at, byte, cut) in edits {
            let mut datagram = genuine[which % genuine.len()].clone();
            let at = at % datagram.len();
            datagram[at] = byte;
            if cut == 0 {
                datagram.truncate(at);
            }
            reason(&mut net, &datagram);
        }
        for datagram in noise {
            reason(&mut net, &datagram);
        }
        net.run_for(5000);
        let path = net.path_to(Side::B, SERVER, WIFI);
        prop_assert_eq!(net.b.path(path).map(|p| p.state), Some(PathState::Up));
    }

    #[test]
    fn the_fuzz_body_holds(data in prop::collection::vec(any::<u8>(), 0..600)) {
        crate::fuzz::fuzz_datagrams(&data);
    }
}
