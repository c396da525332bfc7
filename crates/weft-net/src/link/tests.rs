use weft_session::{Metering, Standing, Weight};
use weft_units::Bytes;

use super::{Link, LinkChoice, LinkChoiceError, LinkError, Target, attachments, usable_names};

fn spec(text: &str) -> LinkChoice {
    text.parse().expect("a link")
}

#[test]
fn a_link_is_an_interface_or_an_address_with_or_without_a_name() {
    assert_eq!(spec("wlan0").target, Target::Interface("wlan0".to_owned()));
    assert_eq!(spec("wlan0").name, "wlan0");
    let named = spec("lte=192.0.2.7");
    assert_eq!(named.name, "lte");
    assert_eq!(
        named.target,
        Target::Address("192.0.2.7".parse().expect("an address"))
    );
    assert_eq!(
        spec("::1").target,
        Target::Address("::1".parse().expect("an address"))
    );
}

#[test]
fn nonsense_is_refused() {
    for text in [
        "", "=", "a=", "=b", "a b", "eth0/1", ",metered", "a=b=c", "eth0,",
    ] {
        assert!(text.parse::<LinkChoice>().is_err(), "accepted `{text}`");
    }
}

#[test]
fn the_use_of_a_link_follows_commas() {
    let plain = spec("phone=wwan0");
    assert!(plain.is_regular());
    let link = spec("phone=wwan0,metered,budget=2GB,weight=0.5,backup");
    assert_eq!((link.name.as_str(), &link.target), ("phone", &plain.target));
    assert_eq!(link.policy.metering, Metering::Metered);
    assert_eq!(link.policy.standing, Standing::Backup);
    assert_eq!(link.policy.weight, Weight::new(0.5).expect("a weight"));
    assert_eq!(link.budget, Some(Bytes(2_000_000_000)));
    assert_eq!(spec("a,budget=1.5mb").budget, Some(Bytes(1_500_000)));
    assert_eq!(spec("a,budget=1kB").policy.metering, Metering::Metered);
    assert!(!spec("a,backup").is_regular());
    assert!(spec("a,weight=0.1").is_regular());
}

#[test]
fn a_bad_option_says_where_and_what_to_write_instead() {
    for (text, place, remedy) in [
        ("wwan0,fast", "`fast`", "backup"),
        ("wwan0,metered=yes", "`metered=yes`", "metered"),
        ("wwan0,weight=2", "`2`", "weight=0.5"),
        ("wwan0,weight=0", "`0`", "backup"),
        ("wwan0,weight=", "``", "weight=0.5"),
        ("wwan0,weight=NaN", "`NaN`", "weight=0.5"),
        ("wwan0,budget=2", "`2`", "budget=2GB"),
        ("wwan0,budget=-1GB", "`-1GB`", "budget=2GB"),
        ("wwan0,budget=infGB", "`infGB`", "budget=2GB"),
        ("wwan0,backup,backup", "`backup`", "twice"),
        ("wwan0,weight=1,weight=1", "`weight`", "twice"),
    ] {
        let error = text.parse::<LinkChoice>().expect_err(text).to_string();
        assert!(error.contains("link `wwan0`"), "{text}: {error}");
        assert!(error.contains(place), "{text}: {error}");
        assert!(error.contains(remedy), "{text}: {error}");
    }
    // IFNAMSIZ is 16, including the terminating zero.
    assert!("abcdefghijklmno".parse::<LinkChoice>().is_ok());
    let error = "abcdefghijklmnop".parse::<LinkChoice>();
    assert!(matches!(error, Err(LinkChoiceError::TooLong(_))));
}

#[test]
fn absent_links_differ_from_unusable_ones() {
    let missing = |text| Link::open(&spec(text), 0).expect_err(text).is_passing();
    assert!(missing("nosuchif0"));
    assert!(missing("192.0.2.1"));
    assert_eq!(attachments(&spec("nosuchif0")).expect("a list"), []);
    assert_eq!(attachments(&spec("192.0.2.1")).expect("a list"), []);
}

#[test]
fn an_unknown_interface_names_those_that_are_there() {
    let Err(error) = Link::open(&spec("nosuchif0"), 0) else {
        panic!("opened")
    };
    assert!(
        matches!(error, LinkError::UnknownInterface { .. }),
        "{error}"
    );
    assert!(error.to_string().contains("lo"), "{error}");
}

#[test]
fn an_address_of_another_machine_cannot_be_bound() {
    // Address of TEST-NET-1 (RFC 5737), which no machine has.
    let Err(error) = Link::open(&spec("192.0.2.1"), 0) else {
        panic!("opened")
    };
    assert!(matches!(error, LinkError::Bind { .. }), "{error}");
    let words = error.to_string();
    assert!(
        words.starts_with("link `192.0.2.1`: cannot use 192.0.2.1: Cannot assign"),
        "{words}"
    );
    assert!(words.contains("`ip address` shows"), "{words}");
}

#[test]
fn a_taken_port_is_reported_with_the_command_that_shows_its_owner() {
    let first = Link::open(&spec("127.0.0.1"), 0).expect("loopback");
    let port = first.addresses()[0].port();
    let Err(error) = Link::open(&spec("127.0.0.1"), port) else {
        panic!("opened")
    };
    let words = error.to_string();
    assert!(words.contains(&format!("127.0.0.1:{port}: ")), "{words}");
    assert!(
        words.contains(&format!("`ss -lunp 'sport = :{port}'`")),
        "{words}"
    );
}

#[test]
fn loopback_opens_with_a_port_of_its_own_each_time() {
    let loopback = spec("127.0.0.1");
    let (a, b) = (Link::open(&loopback, 0), Link::open(&loopback, 0));
    let (a, b) = (
        a.expect("loopback").addresses(),
        b.expect("loopback").addresses(),
    );
    assert_eq!(a.len(), 1);
    assert_ne!(a, b);
    let places = attachments(&loopback).expect("a list");
    let places: Vec<_> = places.iter().map(|p| p.address).collect();
    assert_eq!(places, [a[0].ip()]);
}

#[test]
fn an_interface_with_only_a_link_local_address_is_not_a_link() {
    let addresses = [
        ("127.0.0.1", "lo"),
        ("fe80::1", "veth0"),
        ("192.0.2.2", "wlan0"),
        ("fe80::2", "wlan0"),
        ("fd00::2", "wwan0"),
        ("192.0.2.3", "eth0"),
    ];
    let addresses = addresses.map(|(ip, name)| (ip.parse().expect("an address"), name.to_owned()));
    assert_eq!(
        usable_names(addresses.into_iter()),
        ["eth0", "wlan0", "wwan0"]
    );
}

#[test]
fn sockets_that_share_a_port_get_some_of_the_datagrams_each() {
    let any = "127.0.0.1:0".parse().expect("an address");
    let sockets = super::open_shared(any, 2).expect("a free port");
    let port = sockets[0].local_addr().expect("it is bound");
    assert_eq!(sockets[1].local_addr().expect("it is bound"), port);
    for _ in 0..64 {
        let sender = std::net::UdpSocket::bind(any).expect("a free port");
        sender.send_to(b"x", port).expect("loopback takes it");
    }
    let count = |socket: &std::net::UdpSocket| {
        let mut buffer = [0; 8];
        std::iter::from_fn(|| socket.recv(&mut buffer).ok()).count()
    };
    let counts = [&sockets[0], &sockets[1]].map(count);
    assert_eq!(counts[0] + counts[1], 64);
    assert!(counts.iter().all(|count| *count > 8), "{counts:?}");
    // Another server of the same user does not share it.
    let taken = super::open_shared(port, 2).expect_err("the port is taken");
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
}
