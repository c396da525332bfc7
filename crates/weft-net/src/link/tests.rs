use super::{Link, LinkError, LinkSpec, Target, link_addresses, usable_names};

fn spec(text: &str) -> LinkSpec {
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
    for text in ["", "=", "a=", "=b", "a b", "eth0/1"] {
        assert!(text.parse::<LinkSpec>().is_err(), "accepted `{text}`");
    }
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
    // TEST-NET-1 (RFC 5737) is nobody's.
    let Err(error) = Link::open(&spec("192.0.2.1"), 0) else {
        panic!("opened")
    };
    assert!(matches!(error, LinkError::Bind { .. }), "{error}");
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
    assert_eq!(link_addresses(&loopback).expect("loopback"), [a[0].ip()]);
}

#[test]
fn an_interface_with_nothing_but_a_link_local_address_is_no_link() {
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
