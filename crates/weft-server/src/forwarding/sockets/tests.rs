use super::*;

fn machine(interfaces: &[(&str, &str)]) -> Vec<(String, IpAddr)> {
    let parsed = |(name, ip): &(&str, &str)| ((*name).to_owned(), ip.parse().unwrap());
    interfaces.iter().map(parsed).collect()
}

fn words(addresses: &[IpAddr]) -> Vec<String> {
    addresses.iter().map(IpAddr::to_string).collect()
}

#[test]
fn containers_and_tunnels_are_nobodys_business_unless_named() {
    let all = machine(&[
        ("lo", "127.0.0.1"),
        ("docker0", "172.17.0.1"),
        ("wg0", "10.8.0.2"),
        ("eth0", "2001:db8::7"),
        ("eth0", "192.0.2.7"),
        ("br-12ab", "172.18.0.1"),
    ]);
    assert_eq!(words(&own(&all)), ["192.0.2.7", "2001:db8::7"]);
    let named = of_interfaces(&all, &["wg0".to_owned()]).unwrap();
    assert_eq!(words(&named), ["10.8.0.2"]);
    let missing = of_interfaces(&all, &["wg1".to_owned()]).unwrap_err();
    assert_eq!(
        missing.to_string(),
        "this machine has no interface 'wg1' with an address"
    );
    // A machine inside a container has only such an interface.
    let inside = machine(&[("lo", "127.0.0.1"), ("veth0", "172.17.0.2")]);
    assert_eq!(words(&own(&inside)), ["172.17.0.2"]);
    assert_eq!(words(&own(&machine(&[("lo", "127.0.0.1")]))), ["127.0.0.1"]);
}

#[test]
fn addresses_that_most_peers_have_come_first() {
    let v6 = (1..=9).map(|n| ("eth0".to_owned(), format!("2001:db8::{n}").parse().unwrap()));
    let mut all: Vec<(String, IpAddr)> = v6.collect();
    all.push(("eth1".to_owned(), "192.0.2.7".parse().unwrap()));
    let chosen = own(&all);
    assert_eq!(chosen.len(), MAX_ADDRESSES);
    assert_eq!(chosen[0].to_string(), "192.0.2.7");
}

#[test]
fn the_first_free_port_of_a_range_is_taken() {
    let loopback = IpAddr::from([127, 0, 0, 1]);
    let taken = UdpSocket::bind((loopback, 0)).unwrap();
    let first = taken.local_addr().unwrap().port();
    let last = first.saturating_add(50);
    let config = |ports| MediaConfig {
        ports,
        ..MediaConfig::default()
    };
    let open = |ports| open(loopback, &config(ports), 1);
    let found = open(first..=last).unwrap()[0].0.port();
    assert!((first + 1..=last).contains(&found), "{found}");
    let none = open(first..=first).unwrap_err();
    assert!(matches!(none, ServerError::PortTaken { .. }), "{none}");
}
