//! Networks that fail before media flows, in separate namespaces: several cables connect
//! the sender to a server's address.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::fixture::{Namespace, PATIENCE, Program, cable, pair, sent, serve, serve_with};

/// Address of the server, which is on none of the cables.
pub(crate) const SERVER: &str = "10.9.0.1";

/// Time limit for connecting a call over a working second link, on a machine that is busy
/// with a build.
pub(crate) const CONNECTED: Duration = Duration::from_secs(5);

/// Time limit until a new link gets a socket, on such a machine.
const LOOKED: Duration = Duration::from_secs(5);

/// Starts a server at [`SERVER`] behind these cables, each with a default route at the
/// sender's end.
fn behind(links: &[&str]) -> Option<(Namespace, Namespace, Program)> {
    behind_with(links, &[])
}

/// Starts a server like [`behind`], with more options.
pub(crate) fn behind_with(
    links: &[&str],
    more: &[&str],
) -> Option<(Namespace, Namespace, Program)> {
    let (server_side, sender_side) = pair()?;
    // Like a router, the server answers ARP only for the addresses of a cable.
    let answers = "echo 1 > /proc/sys/net/ipv4/conf/all/arp_ignore";
    let set = server_side.command("sh").args(["-c", answers]).status();
    assert!(set.expect("sh runs").success());
    server_side.ip(&format!("addr add {SERVER}/32 dev lo"));
    for (number, link) in links.iter().enumerate() {
        let ends = [1, 2].map(|end| format!("10.{}.0.{end}", number + 1));
        cable(&server_side, &sender_side, link, [&ends[0], &ends[1]]);
        let metric = 100 + number;
        let route = format!(
            "route add default via {} dev {link} metric {metric}",
            ends[0]
        );
        sender_side.ip(&route);
    }
    let listen = format!("{SERVER}:8080");
    let options = ["--listen", &listen, "--media-interface", SERVER];
    let server = serve_with(&server_side, &[&options[..], more].concat());
    Some((server_side, sender_side, server))
}

/// Adds a rule at the server that drops matching packets before local delivery.
pub(crate) fn drop_at(server: &Namespace, what: &str) {
    server.ip(&format!("rule add pref 1 {what} blackhole"));
}

/// Moves the rule of local addresses after those of [`drop_at`].
pub(crate) fn allow_drops(server: &Namespace) {
    server.ip("rule add pref 2 lookup local");
    server.ip("rule del pref 0");
}

pub(crate) fn join(side: &Namespace, url: &str, links: &[&str]) -> Command {
    let mut join = side.command(env!("CARGO_BIN_EXE_weft"));
    join.args(["join", url, "--room", "r", "--mic", "tone"]);
    join.args(["--send-only", "--stats", "/dev/stdout"]);
    for link in links {
        join.args(["--link", link]);
    }
    join
}

/// Variable with the address of [`dns_server`]; if it is set, this test program runs as a
/// DNS server.
const DNS: &str = "WEFT_TEST_DNS";

/// Not a test: a DNS server that resolves every name. The test starts this program again
/// for it, in a namespace.
#[test]
#[ignore = "it serves a test"]
fn dns_server() {
    let Ok(address) = std::env::var(DNS) else {
        return;
    };
    let answer: Ipv4Addr = address.parse().expect("an address");
    let socket = UdpSocket::bind((SERVER, 53)).expect("the port of DNS");
    println!("serves");
    let mut question = [0; 512];
    while let Ok((length, from)) = socket.recv_from(&mut question) {
        // The name ends with an empty label; type and class follow.
        let name = question[12..length].iter().position(|b| *b == 0);
        let end = 12 + name.expect("the end of a name") + 5;
        let of_four = question[end - 3] == 1;
        let mut reply = question[..end].to_vec();
        reply[2..4].copy_from_slice(&[0x81, 0x80]);
        reply[6..12].copy_from_slice(&[0, u8::from(of_four), 0, 0, 0, 0]);
        if of_four {
            reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4]);
            reply.extend(answer.octets());
        }
        let _ = socket.send_to(&reply, from);
    }
}

#[test]
fn names_are_looked_up_over_any_link_that_answers() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side, _server)) = behind(&["a", "b"]) else {
            return;
        };
        let this = std::env::current_exe().expect("this program");
        let mut dns = server_side.command(&this.to_string_lossy());
        dns.env(DNS, SERVER);
        dns.args([
            "--ignored",
            "--exact",
            "networks::dns_server",
            "--nocapture",
        ]);
        let dns = Program::start(&mut dns);
        while !dns
            .told
            .recv_timeout(PATIENCE)
            .expect("a server")
            .contains("serves")
        {}
        // The link of the default route has lost its network.
        allow_drops(&server_side);
        drop_at(&server_side, "iif sa");
        let file = tempfile::NamedTempFile::new().expect("a file");
        let resolv = format!("nameserver {SERVER}\n");
        std::fs::write(file.path(), resolv).expect("it is written");

        let mut inner = join(&sender_side, "http://weft.test:8080", &["a", "b"]);
        let weft: Vec<String> = inner
            .get_args()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        // A separate /etc/resolv.conf.
        let at = weft.iter().position(|arg| arg.ends_with("/weft"));
        let (enter, weft) = weft.split_at(at.expect("the program"));
        let mount = "mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"";
        let mut command = Command::new(inner.get_program());
        command
            .args(enter)
            .args(["unshare", "-m", "sh", "-c", mount]);
        command.arg(file.path()).args(weft);
        inner = command;
        let sender = Program::start(&mut inner);
        let took = sender.says("link `b` is up");
        println!("up after {took:?}");
        assert!(took < CONNECTED, "{took:?}");
        sender.shows("sound", |f| sent(f, "b") > 20);
    });
}

fn trouble(figures: &Value, link: &str) -> Option<String> {
    let peers = figures["peers"].as_array().expect("peers").iter();
    let links = peers.flat_map(|p| p["links"].as_array().expect("links"));
    let mut own = links.filter(|l| l["name"] == link);
    Some(own.next()?["trouble"].as_str()?.to_owned())
}

#[test]
fn links_that_carry_nothing_are_named_within_seconds_with_the_reason() {
    where_the_machine_keeps_up(|| {
        let all = ["good", "routeless", "udpless", "filtered"];
        let Some((server_side, sender_side, _server)) = behind(&all) else {
            return;
        };
        sender_side.ip("route del default dev routeless");
        allow_drops(&server_side);
        drop_at(&server_side, "iif sudpless ipproto udp");
        let strict = "echo 1 > /proc/sys/net/ipv4/conf/filtered/rp_filter && \
                      echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter";
        let set = sender_side.command("sh").args(["-c", strict]).status();
        assert!(set.expect("sh runs").success());

        let doctor = sender_side
            .command(env!("CARGO_BIN_EXE_weft"))
            .args(["doctor", "--json"])
            .output();
        let told: Value =
            serde_json::from_slice(&doctor.expect("it runs").stdout).expect("a line of JSON");
        let findings = told["findings"].as_array().expect("a list");
        let of = |name: &str| {
            let found = findings
                .iter()
                .find(|f| f["name"] == "link" && f["of"] == name);
            found.expect(name).to_string()
        };
        assert!(of("good").contains("\"state\":\"ok\""), "{}", of("good"));
        assert!(
            of("routeless").contains("ip route add default"),
            "{}",
            of("routeless")
        );
        assert!(
            of("filtered").contains("filtered.rp_filter=2"),
            "{}",
            of("filtered")
        );

        let url = format!("http://{SERVER}:8080");
        let sender = Program::start(&mut join(&sender_side, &url, &all));
        let figures = sender.shows("three troubles", |f| {
            all.iter().filter(|link| trouble(f, link).is_some()).count() == 3
        });
        let seconds = figures["t"].as_f64().expect("a time");
        assert!(seconds < 12.0, "after {seconds} s");
        for (link, expected) in [
            ("good", None),
            ("routeless", Some("no_route")),
            ("udpless", Some("udp_blocked")),
            ("filtered", Some("rp_filter")),
        ] {
            assert_eq!(trouble(&figures, link).as_deref(), expected, "{link}");
        }
        let mut said = String::new();
        while let Ok(line) = sender.said.recv_timeout(Duration::from_secs(1)) {
            said.push_str(&line);
        }
        for words in [
            "link `routeless` carries nothing: there is no route over routeless",
            "link `udpless` carries nothing: TCP reaches the server over it",
            "link `filtered` carries nothing: this machine drops packets that arrive over filtered",
        ] {
            assert!(said.contains(words), "{said}");
        }
        assert!(!said.contains("that the server is running"), "{said}");
    });
}

/// Local ports of UDP sockets in a namespace, in hexadecimal.
fn udp_ports(side: &Namespace) -> BTreeSet<String> {
    let table = side.command("cat").arg("/proc/net/udp").output();
    let table = String::from_utf8_lossy(&table.expect("cat runs").stdout).into_owned();
    let rows = table
        .lines()
        .skip(1)
        .filter_map(|row| row.split_whitespace().nth(1));
    rows.filter_map(|local| local.rsplit_once(':'))
        .map(|(_, port)| port.to_owned())
        .collect()
}

/// Two modems of the same model assign the same address. The system may then also assign
/// both links' sockets the same port; here it happens in half of the runs.
#[test]
fn two_links_of_one_address_have_sockets_on_different_ports() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side)) = pair() else {
            return;
        };
        cable(&server_side, &sender_side, "a", ["10.1.0.1", "10.1.0.2"]);
        cable(&server_side, &sender_side, "b", ["10.2.0.1", "10.1.0.2"]);
        let _server = serve(&server_side);
        let two = "echo 40000 40001 > /proc/sys/net/ipv4/ip_local_port_range";
        let set = sender_side.command("sh").args(["-c", two]).status();
        assert!(set.expect("sh runs").success());
        let mut join = join(&sender_side, "http://10.1.0.1:8080", &["a", "b"]);
        let sender = Program::start(&mut join);
        sender.says("is up");
        let both = BTreeSet::from(["9C40", "9C41"].map(str::to_owned));
        // The second link may appear only after the first is up.
        let began = Instant::now();
        while udp_ports(&sender_side) != both && began.elapsed() < LOOKED {
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(udp_ports(&sender_side), both);
    });
}

/// A tunnel on the path has a smaller MTU, and ICMP is filtered. Larger packets vanish,
/// both TCP segments and media; connectivity checks are small and pass.
#[test]
fn a_link_that_drops_large_packets_is_left_for_another() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side, _server)) = behind(&["a", "b"]) else {
            return;
        };
        // An end of a cable drops frames above its MTU. The server still announces the
        // usual segment size, and the sender's segments are not merged into larger ones.
        server_side.ip("link set dev sa mtu 900");
        server_side.ip("route change 10.1.0.0/24 dev sa src 10.1.0.1 advmss 1460");
        sender_side.ip("link set dev a gso_max_segs 1");
        let url = format!("http://{SERVER}:8080");
        let mut join = join(&sender_side, &url, &["a", "b"]);
        let sender = Program::start(join.args(["--camera", "clip:640x360"]));
        let took = sender.says("connected");
        println!("connected after {took:?}");
        assert!(took < CONNECTED, "{took:?}");
        sender.shows("pictures", |f| sent(f, "b") > 300);
    });
}

/// Large packets vanish on all links, although the server is running.
#[test]
fn links_that_all_drop_large_packets_are_named_with_the_remedy() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side, _server)) = behind(&["a", "b"]) else {
            return;
        };
        for (number, link) in ["a", "b"].iter().enumerate() {
            let net = format!("10.{}.0", number + 1);
            server_side.ip(&format!("link set dev s{link} mtu 900"));
            server_side.ip(&format!(
                "route change {net}.0/24 dev s{link} src {net}.1 advmss 1460"
            ));
            sender_side.ip(&format!("link set dev {link} gso_max_segs 1"));
        }
        let url = format!("http://{SERVER}:8080");
        let mut join = join(&sender_side, &url, &["a", "b"]);
        let sender = Program::start(join.args(["--camera", "clip:640x360"]));
        let took = sender.says("large packets do not arrive; lower the MTU");
        println!("named after {took:?}");
        let mut said = String::new();
        while let Ok(line) = sender.said.recv_timeout(Duration::from_secs(1)) {
            said.push_str(&line);
        }
        assert!(!said.contains("that the server is running"), "{said}");
    });
}

/// A server offers an address that does not lead to it, as behind NAT64 or after its
/// public address has changed.
#[test]
fn media_goes_where_http_reached_the_server() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side)) = pair() else {
            return;
        };
        cable(&server_side, &sender_side, "a", ["10.1.0.1", "10.1.0.2"]);
        let wrong = [
            "--listen",
            "0.0.0.0:8080",
            "--public-address",
            "198.51.100.7",
        ];
        let _server = serve_with(&server_side, &wrong);
        let sender = Program::start(&mut join(&sender_side, "http://10.1.0.1:8080", &["a"]));
        let took = sender.says("connected");
        println!("connected after {took:?}");
        assert!(took < CONNECTED, "{took:?}");
        sender.shows("sound", |f| sent(f, "a") > 20);
    });
}
