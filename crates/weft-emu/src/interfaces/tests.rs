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
    let script = script(None, &interfaces(&["wifi", "lte"]), Routes::Default, true);
    for line in [
        "link set dev lo up",
        "addr add 198.18.1.1/24 dev lte",
        "addr add 2001:2:0:1::1/64 dev lte nodad",
        "route add 0.0.0.0/0 dev wifi metric 100",
        "route add 0.0.0.0/0 dev lte table 101",
        "rule add from 198.18.1.1 table 101",
        "route add ::/0 dev lte table 101",
        "rule add from 2001:2:0:1::1 table 101",
    ] {
        assert!(
            script.lines().any(|l| l == line),
            "no '{line}' in\n{script}"
        );
    }
}

#[test]
fn one_link_needs_no_rules_and_a_kernel_without_ipv6_gets_none() {
    let script = script(None, &interfaces(&["only"]), Routes::Default, false);
    assert!(!script.contains("rule"), "{script}");
    assert!(!script.contains(':'), "{script}");
}

#[test]
fn on_the_machine_itself_only_the_links_are_added() {
    let script = script(None, &interfaces(&["out"]), Routes::LinksOnly, false);
    assert!(
        !script.contains("route") && !script.contains("dev lo"),
        "{script}"
    );
    assert!(
        script.contains("addr add 198.18.0.1/24 dev out"),
        "{script}"
    );
}

#[test]
fn a_network_is_found_in_the_routing_table() {
    // 198.18.3.0 on a little-endian machine, as proc(5) shows it.
    if cfg!(target_endian = "little") {
        assert_eq!(hexadecimal(v4_network(3)), "\t000312C6\t");
    }
}
