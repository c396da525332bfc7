//! A client with IPv6 only and a server with IPv4 only, connected by NAT64: tayga
//! translates addresses that begin with [`PREFIX`]. HTTP uses such an address; the
//! server's candidates have the untranslated one.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use weft_testing::{skipped, where_the_machine_keeps_up};

use super::fixture::{Namespace, PATIENCE, Program, connect, pair, sent, serve_with};
use super::networks::{CONNECTED, SERVER, join};

const PREFIX: &str = "fd64::";
/// Device of the translator, and the IPv4 addresses that it assigns to clients.
const DEVICE: &str = "nat64";
const CLIENTS: &str = "192.168.64.0/24";
/// Ends of the client's only link.
const ENDS: [&str; 2] = ["fd00:1::1", "fd00:1::2"];

#[test]
fn an_ipv6_only_client_reaches_an_ipv4_only_server() {
    let found = Command::new("sh").args(["-c", "command -v tayga"]).output();
    if found.is_ok_and(|output| output.status.success()) {
        where_the_machine_keeps_up(through_nat64);
    } else {
        skipped("no tayga: `scripts/setup --tests` installs it");
    }
}

fn through_nat64() {
    let Some((server_side, sender_side)) = pair() else {
        return;
    };
    // Without duplicate address detection, an address is usable at once.
    connect(
        &server_side,
        &sender_side,
        "a",
        ENDS.map(|end| format!("{end}/64 nodad")),
    );
    sender_side.ip(&format!("route add default via {}", ENDS[0]));
    server_side.ip(&format!("addr add {SERVER}/32 dev lo"));
    let folder = tempfile::tempdir().expect("a folder");
    let Some(_translator) = translate(&server_side, folder.path()) else {
        return;
    };
    let began = Instant::now();
    let mut ping = sender_side.command("ping");
    ping.args(["-c", "1", "-W", "1", &format!("{PREFIX}{SERVER}")]);
    while !ping.output().expect("ping runs").status.success() {
        assert!(began.elapsed() < PATIENCE, "tayga translates nothing");
    }
    let listen = format!("{SERVER}:8080");
    let options = ["--listen", &listen, "--media-interface", SERVER];
    let _server = serve_with(&server_side, &options);
    let url = format!("http://[{PREFIX}{SERVER}]:8080");
    let sender = Program::start(&mut join(&sender_side, &url, &["a"]));
    let took = sender.says("connected");
    println!("connected after {took:?}");
    assert!(took < CONNECTED, "{took:?}");
    sender.shows("sound", |figures| sent(figures, "a") > 20);
}

/// Starts tayga as the router of a namespace; `None`, with a printed reason, without TUN
/// devices.
fn translate(side: &Namespace, folder: &Path) -> Option<Program> {
    let file = folder.join("tayga.conf");
    let data = folder.display();
    let settings = format!(
        "tun-device {DEVICE}\nipv4-addr 192.168.64.1\nipv6-addr fd00:1::64\n\
         prefix {PREFIX}/96\ndynamic-pool {CLIENTS}\ndata-dir {data}\n"
    );
    std::fs::write(&file, settings).expect("it is written");
    let tayga = |option: &str| {
        let mut tayga = side.command("tayga");
        tayga.arg("--config").arg(&file).arg(option);
        tayga
    };
    let made = tayga("--mktun").output().expect("tayga runs");
    if !made.status.success() {
        let reason = String::from_utf8_lossy(&made.stderr).into_owned();
        skipped(format!("no TUN device here: {reason}"));
        return None;
    }
    side.ip(&format!("link set dev {DEVICE} up"));
    side.ip(&format!("route add {CLIENTS} dev {DEVICE}"));
    side.ip(&format!("route add {PREFIX}/96 dev {DEVICE}"));
    let forward = "echo 1 > /proc/sys/net/ipv4/ip_forward; \
                   echo 1 > /proc/sys/net/ipv6/conf/all/forwarding";
    let set = side.command("sh").args(["-c", forward]).status();
    assert!(set.expect("sh runs").success());
    Some(Program::start(&mut tayga("--nodetach")))
}
