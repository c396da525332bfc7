use super::*;

fn interfaces(names: &[&str]) -> Vec<Interface> {
    let interface = |(subnet, name): (usize, &&str)| Interface {
        name: (*name).to_owned(),
        addresses: Addresses::on_link(subnet, 0),
    };
    names.iter().enumerate().map(interface).collect()
}

#[test]
fn a_host_of_two_links_routes_by_source() {
    let interfaces = interfaces(&["wifi", "lte"]);
    let v4 = family(Family::V4, None, &interfaces, Routes::Default);
    let v6 = family(Family::V6, None, &interfaces, Routes::Default);
    let expected = |address: &str| {
        [
            format!("addr add {address} dev lte").replace("::1/64 dev lte", "::1/64 dev lte nodad"),
            "route add default dev lte metric 101".to_owned(),
            "route add default dev lte table 101".to_owned(),
            format!(
                "rule add from {} table 101",
                address.split('/').next().unwrap()
            ),
        ]
    };
    assert_eq!(v4[4..], expected("198.18.1.1/24"));
    assert_eq!(v6[4..], expected("2001:2:0:1::1/64"));
}

#[test]
fn one_link_needs_no_rules() {
    let lines = family(Family::V4, None, &interfaces(&["only"]), Routes::Default);
    let expected = [
        "addr add 198.18.0.1/24 dev only",
        "route add default dev only metric 100",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn on_the_machine_itself_only_the_links_are_added() {
    let interfaces = interfaces(&["out"]);
    let lines = family(Family::V4, None, &interfaces, Routes::LinksOnly);
    assert_eq!(lines, ["addr add 198.18.0.1/24 dev out"]);
    let lines = devices(&interfaces, Routes::LinksOnly);
    assert!(
        lines.len() == 1 && lines[0].starts_with("link set dev out "),
        "{lines:?}"
    );
}

#[test]
fn a_network_is_found_in_the_routing_table() {
    // 198.18.3.0 on a little-endian machine, as proc(5) shows it.
    if cfg!(target_endian = "little") {
        assert_eq!(hexadecimal(v4_network(3)), "\t000312C6\t");
    }
}
