//! Janus: `weft call` publishes to it as in docs/use/call.md, and `weft play` plays from
//! it as in docs/use/play.md, with Debian's configuration and the scripts of these pages.
//! Janus uses libnice, which keeps the pair that was nominated first until one with a
//! higher priority is nominated.

use std::time::Instant;

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::fixture::{self, Namespace, PATIENCE, Program};
use super::has;
use super::lossy::{LINKS, Links};
use super::script::{Script, documented};

const CALL: &str = "127.0.0.1:8090";
const JANUS: &str = "http://10.1.0.1:8088/janus";
const ROOM: &str = "1234";
const VIEWER_PORT: &str = "8091";
/// Maximum sending rate, and the minimum rate that shows that the call gets feedback:
/// without feedback, it falls to 0.3 within seconds.
const RATE: &str = "3mbit";
const LEAST: f64 = 1.5;
/// Seconds after which a rate without feedback has fallen below that minimum.
const NOTICED: f64 = 8.0;
/// Seconds until the rate has recovered after a link has died.
const RECOVERED: f64 = 15.0;

#[test]
fn janus_keeps_its_feedback_when_the_nominated_link_dies() {
    if is_here() {
        where_the_machine_keeps_up(publish_while_the_nominated_link_dies);
    }
}

#[test]
fn janus_passes_on_a_picture_that_lost_packets_on_the_way_to_it() {
    if is_here() && Links::can_lose() {
        where_the_machine_keeps_up(publish_with_losses);
    }
}

fn is_here() -> bool {
    has("Janus", &["sh", "-c", "command -v janus"]) && has("Python", &["python3", "-V"])
}

/// Janus, a `weft call` that publishes to it, and the script that connects them.
struct Published {
    _janus: Program,
    call: Program,
    _bridge: Script,
    nominated: &'static str,
}

fn publish(links: &Links) -> Published {
    let janus = start_janus(&links.server_side);
    let mut call = links.sender_side.command(env!("CARGO_BIN_EXE_weft"));
    call.args(["call", "--listen", CALL, "--camera", "clip:320x180"]);
    call.args(["--max-rate", RATE, "--stats", "/dev/stdout"]);
    call.args(LINKS.iter().flat_map(|link| ["--link", *link]));
    let call = Program::start(&mut call);
    call.told.recv_timeout(PATIENCE).expect("its address");
    let page = include_str!("../../../../docs/use/call.md");
    let url = format!("http://{CALL}");
    let about = [url.as_str(), JANUS, ROOM];
    let bridge = Script::start(&links.sender_side, documented(page, "# janus.py "), &about);
    // The first link that is up is nominated.
    let nominated = first_up(&call);
    call.shows("a rate", |figures| rate(figures) >= LEAST);
    Published {
        _janus: janus,
        call,
        _bridge: bridge,
        nominated,
    }
}

fn publish_while_the_nominated_link_dies() {
    let Some(links) = Links::open() else {
        return;
    };
    let published = publish(&links);
    let nominated = published.nominated;
    let side = &links.server_side;
    side.ip(&format!("link set dev s{nominated} down"));
    let took = recovers(&published.call);
    println!("`{nominated}` is dead: back at {LEAST} Mbit/s after {took:.0} s");
    assert!(took <= RECOVERED, "{took} s");
}

fn publish_with_losses() {
    let Some(links) = Links::open() else {
        return;
    };
    links.add_viewer();
    let published = publish(&links);
    let page = include_str!("../../../../docs/use/play.md");
    let about = [JANUS, ROOM, VIEWER_PORT];
    let _whep = Script::start(&links.sender_side, documented(page, "# whep.py "), &about);
    // Janus numbers the viewer's packets from the first one that it receives, which may
    // follow a lost one.
    links.lose();
    links.watch(VIEWER_PORT);
    drop(published);
}

/// Returns the name of the link that is up first.
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

/// Returns the seconds until the rate has recovered after a link has died now.
fn recovers(call: &Program) -> f64 {
    while call.told.try_recv().is_ok() {}
    let died = fixture::time(&call.shows("a line", |_| true));
    let missed = |figures: &Value| fixture::time(figures) >= died + NOTICED;
    let back = call.shows("a rate", |figures| {
        missed(figures) && rate(figures) >= LEAST
    });
    fixture::time(&back) - died
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
