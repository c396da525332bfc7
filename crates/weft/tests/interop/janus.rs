//! Janus, which `weft call` publishes to as docs/use/call.md says, with Debian's
//! configuration and the script of that page. Janus uses libnice, which stays with the
//! pair nominated first until another of a higher priority is nominated.

use std::time::Instant;

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::fixture::{self, Namespace, PATIENCE, Program, cable};
use super::has;

const LINKS: [&str; 2] = ["one", "two"];
const CALL: &str = "127.0.0.1:8090";
const JANUS: &str = "http://10.1.0.1:8088/janus";
/// Most that is sent, and least that shows a call with feedback: without, it falls to
/// 0.3 within seconds.
const RATE: &str = "3mbit";
const LEAST: f64 = 1.5;
/// Seconds after which a rate without feedback has fallen below that.
const NOTICED: f64 = 8.0;
/// Seconds for the rate to be back after a link has died.
const RECOVERED: f64 = 15.0;

#[test]
fn janus_keeps_its_feedback_when_the_nominated_link_dies() {
    if has("Janus", &["sh", "-c", "command -v janus"]) && has("Python", &["python3", "-V"]) {
        where_the_machine_keeps_up(publish_while_the_nominated_link_dies);
    }
}

fn publish_while_the_nominated_link_dies() {
    let Some((server_side, sender_side)) = fixture::pair() else {
        return;
    };
    for (number, link) in (1..).zip(LINKS) {
        let ends = [1, 2].map(|end| format!("10.{number}.0.{end}"));
        cable(&server_side, &sender_side, link, [&ends[0], &ends[1]]);
    }
    let _janus = start_janus(&server_side);
    let mut call = sender_side.command(env!("CARGO_BIN_EXE_weft"));
    call.args(["call", "--listen", CALL, "--camera", "clip:320x180"]);
    call.args(["--max-rate", RATE, "--stats", "/dev/stdout"]);
    call.args(LINKS.iter().flat_map(|link| ["--link", *link]));
    let call = Program::start(&mut call);
    call.told.recv_timeout(PATIENCE).expect("its address");
    let script = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(script.path(), documented("# janus.py ")).expect("it is written");
    let mut bridge = sender_side.command("python3");
    bridge.arg(script.path());
    let bridge = bridge.args([format!("http://{CALL}").as_str(), JANUS, "1234"]);
    let _bridge = Program::start(bridge);
    // The link that is up first is nominated.
    let nominated = first_up(&call);
    call.shows("a rate", |figures| rate(figures) >= LEAST);
    server_side.ip(&format!("link set dev s{nominated} down"));
    let took = recovers(&call);
    println!("`{nominated}` is dead: back at {LEAST} Mbit/s after {took:.0} s");
    assert!(took <= RECOVERED, "{took} s");
}

/// Name of the link that is up before the other.
fn first_up(call: &Program) -> &'static str {
    loop {
        let line = call.said.recv_timeout(PATIENCE).expect("a link is up");
        let is_up = |link: &&&str| line.contains(&format!("link `{link}` is up"));
        if let Some(link) = LINKS.iter().find(is_up) {
            return link;
        }
    }
}

fn rate(figures: &Value) -> f64 {
    figures["peers"][0]["target_mbps"].as_f64().unwrap_or(0.0)
}

/// Seconds until the rate is back, after a link has died now.
fn recovers(call: &Program) -> f64 {
    while call.told.try_recv().is_ok() {}
    let died = fixture::time(&call.shows("a line", |_| true));
    let missed = |figures: &Value| fixture::time(figures) >= died + NOTICED;
    let back = call.shows("a rate", |figures| {
        missed(figures) && rate(figures) >= LEAST
    });
    fixture::time(&back) - died
}

/// Code block of the page that begins with these words.
fn documented(start: &str) -> String {
    let page = include_str!("../../../../docs/use/call.md");
    let block = page.split("```").find(|block| {
        let code = block.split_once('\n').map_or("", |(_, code)| code);
        code.starts_with(start)
    });
    let (_, code) = block
        .and_then(|block| block.split_once('\n'))
        .expect("a block");
    code.to_owned()
}

fn start_janus(namespace: &Namespace) -> Program {
    let mut janus = namespace.command("janus");
    let janus = Program::start(janus.args(["--configs-folder", "/etc/janus"]));
    let began = Instant::now();
    loop {
        let line = janus.told.recv_timeout(PATIENCE).expect("Janus starts");
        if line.contains("HTTP webserver started") {
            return janus;
        }
        assert!(began.elapsed() < PATIENCE, "Janus serves no HTTP");
    }
}
