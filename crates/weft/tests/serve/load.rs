//! `weft load` against a real server: whether its figures are plausible, and whether it
//! reports failures.

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::*;

/// Small pictures, so that a development build can keep up.
const SMALL: [&str; 8] = [
    "--size",
    "180p",
    "--fps",
    "15",
    "--rate",
    "150kbit",
    "--seconds",
    "3",
];

/// Loads the server with small pictures; returns the figures, and the output of the command.
fn load(url: &str, state: &Path, options: &[&str]) -> (Value, Output) {
    load_as(url, state, &[&SMALL, options].concat())
}

fn load_as(url: &str, state: &Path, options: &[&str]) -> (Value, Output) {
    let file = state.join("load.json");
    let mut command = weft(state);
    command.args(["load", url]).args(options);
    let output = command.arg("--json").arg(&file).output().expect("it runs");
    let figures = std::fs::read_to_string(&file).unwrap_or_default();
    (serde_json::from_str(&figures).unwrap_or_default(), output)
}

fn serve(state: &Path, options: &[&str]) -> Server {
    let mut command = weft(state);
    Server::start(
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(options),
    )
}

fn url(server: &Server) -> String {
    format!("http://{}", server.address)
}

/// Returns the number at a path of keys.
fn number(figures: &Value, path: &str) -> f64 {
    let value = figures.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{path} in {figures:#}"))
}

fn assert_within(figures: &Value, path: &str, low: f64, high: f64) {
    let value = number(figures, path);
    assert!(
        (low..=high).contains(&value),
        "{path} = {value}, not {low} to {high}"
    );
}

#[test]
fn figures_of_publishers_and_viewers_are_plausible() {
    where_the_machine_keeps_up(|| {
        let state = TempDir::new().expect("a folder");
        let server = serve(state.path(), &[]);
        let pid = server.child.id().to_string();
        let page = state.path().join("load.html");
        let page = page.to_str().expect("a name");
        let options = [
            "--rooms",
            "2",
            "--publishers",
            "3",
            "--viewers",
            "10",
            "--join-within",
            "1s",
            "--server-pid",
            &pid,
            "--page",
            page,
        ];
        let (figures, output) = load(&url(&server), state.path(), &options);
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words}");
        let within = |path, low, high| assert_within(&figures, path, low, high);
        for (path, value) in [
            ("/participants/joined", 26.0),
            ("/participants/failed", 0.0),
            ("/participants/without_picture", 0.0),
            ("/viewers/viewers", 20.0),
            ("/viewers/streams", 60.0),
            ("/viewers/streams_seen", 60.0),
            ("/publishers/connected", 6.0),
            ("/setup_ms/first_picture/count", 20.0),
            ("/setup_ms/each_publisher/count", 60.0),
        ] {
            within(path, value, value);
        }
        within("/viewers/share_whole", 0.97, 1.0);
        // 60 streams of 15 pictures a second for 3 s.
        within("/viewers/pictures_sent", 2_500.0, 2_760.0);
        within("/viewers/fps", 14.0, 15.5);
        within("/viewers/latency_ms/p50", 0.05, 100.0);
        within("/viewers/packets/loss_after_repair", 0.0, 0.01);
        // Between 75 and 150 kbit/s for each stream, plus headers.
        within("/viewers/received_mbps", 4.0, 14.0);
        within("/publishers/sent_mbps", 0.4, 1.4);
        let order = ["answered", "connected", "first_rtp", "first_picture"];
        let p50 = order.map(|name| number(&figures, &format!("/setup_ms/{name}/p50")));
        assert!(p50.is_sorted() && p50[0] > 0.0, "{p50:?}");
        within("/server/cores", 0.001, 2.0);
        within("/server/memory_mb", 5.0, 500.0);
        let packets = number(&figures, "/viewers/rtp_packets");
        let cpu = number(&figures, "/server/cpu_s");
        let expected = packets / cpu;
        within(
            "/server/packets_per_cpu_s",
            expected * 0.99,
            expected * 1.01,
        );
        within("/generator/threads/0/busy", 0.001, 1.0);
        within("/generator/machine_idle", 0.0, 1.0);
        let summary = text(&output.stdout);
        assert!(summary.contains("26 of 26 joined"), "{summary}");
        let html = std::fs::read_to_string(page).expect("a page");
        assert!(html.contains("viewer-2-10") && html.contains("26 of 26 joined"));
    });
}

#[test]
fn people_see_each_other_in_the_encoding_of_their_tiles_and_a_weak_one_is_reported() {
    where_the_machine_keeps_up(|| {
        let state = TempDir::new().expect("a folder");
        let server = serve(state.path(), &[]);
        let options = [
            "--people",
            "3",
            "--size",
            "360p",
            "--rate",
            "600kbit",
            "--encodings",
            "2",
            "--sound",
            "--weak",
            "1",
            "--weak-rate",
            "250kbit/s",
            "--seconds",
            "5",
        ];
        let (figures, output) = load_as(&url(&server), state.path(), &options);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let within = |path, low, high| assert_within(&figures, path, low, high);
        within("/viewers/viewers", 2.0, 2.0);
        within("/viewers/streams_seen", 4.0, 4.0);
        within("/viewers/share_whole", 0.9, 1.0);
        within("/weak_viewers/viewers", 1.0, 1.0);
        // Two publishers of 600 kbit/s do not fit into 250 kbit/s.
        within("/weak_viewers/received_mbps", 0.03, 0.26);
        within("/weak_viewers/encodings/1", 0.0, 0.5);
        let strong = number(&figures, "/viewers/received_mbps") / 2.0;
        assert!(
            strong > number(&figures, "/weak_viewers/received_mbps"),
            "{strong}"
        );
        assert!(text(&output.stdout).contains("weak: pictures"));
        assert_eq!(figures["each_viewer"].as_array().map(Vec::len), Some(3));
    });
}

#[test]
fn endpoints_of_whip_and_whep_are_loaded_by_their_addresses() {
    where_the_machine_keeps_up(|| {
        let state = TempDir::new().expect("a folder");
        let server = serve(state.path(), &[]);
        let file = state.path().join("load.json");
        let base = url(&server);
        let mut command = weft(state.path());
        command.args([
            "load",
            "--whip",
            &format!("{base}/whip/{{room}}?name={{publisher}}"),
        ]);
        command.args(["--whep", &format!("{base}/whep/{{room}}/{{publisher}}")]);
        command
            .args(["--publishers", "2", "--viewers", "4"])
            .args(SMALL);
        command.args(["--metrics", &format!("{base}/metrics")]);
        let output = command.arg("--json").arg(&file).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let figures = std::fs::read_to_string(&file).expect("figures");
        let figures: Value = serde_json::from_str(&figures).expect("JSON");
        assert_within(&figures, "/viewers/streams_seen", 4.0, 4.0);
        assert_within(&figures, "/viewers/share_whole", 0.97, 1.0);
        assert_within(&figures, "/server/memory_mb", 5.0, 500.0);
        assert_within(&figures, "/server/cpu_s", 0.001, 10.0);
    });
}

#[test]
fn refusals_are_reported_with_the_remedy() {
    let state = TempDir::new().expect("a folder");
    let failed = |url: &str, options: &[&str], status, words: &[&str]| {
        let (_, output) = load(url, state.path(), options);
        let told = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{told}");
        for words in words {
            assert!(told.contains(words), "no `{words}` in {told}");
        }
    };
    failed("host:1", &[], 2, &["write it like http"]);
    failed(
        "http://127.0.0.1:1",
        &["--viewers", "1"],
        1,
        &["127.0.0.1:1"],
    );
    // It contacts the server before it encodes, which takes longer.
    let (_, output) = load("http://127.0.0.1:1", state.path(), &["--viewers", "1"]);
    let told = text(&output.stderr);
    assert!(
        told.contains("cannot reach") && !told.contains("encoding"),
        "{told}"
    );
    failed("http://127.0.0.1:1", &["--people", "1"], 2, &["--people 2"]);
    failed(
        "http://127.0.0.1:1",
        &["--server-pid", "4194999"],
        2,
        &["--server-pid"],
    );
    let server = serve(state.path(), &["--token", "secret"]);
    failed(&url(&server), &[], 2, &["--token"]);
    drop(server);
    let server = serve(state.path(), &["--max-participants", "3"]);
    let words = ["failed: 2 x", "full", "2 of 5 participants failed"];
    let options = ["--viewers", "4", "--ramp", "50", "--token", "secret"];
    failed(&url(&server), &options, 1, &words);
}
