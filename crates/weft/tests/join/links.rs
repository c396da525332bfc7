//! Links that appear and disappear, in separate network namespaces: a server in
//! one, a sender with two cables to it in the other.

use std::time::Duration;

use weft_testing::where_the_machine_keeps_up;

use super::fixture::{Program, cable, pair, sent, serve, time};

/// One second, as in virtual time, plus one for a machine that is busy with a build.
const BUSY: Duration = Duration::from_secs(2);

/// Five seconds, plus two for the setup.
const UNANSWERED: Duration = Duration::from_secs(7);

#[test]
fn a_link_joins_the_call_leaves_it_and_comes_back_with_another_address() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side)) = pair() else {
            return;
        };
        cable(&server_side, &sender_side, "a", ["10.1.0.1", "10.1.0.2"]);
        let _server = serve(&server_side);
        let mut join = sender_side.command(env!("CARGO_BIN_EXE_weft"));
        join.args(["join", "http://10.1.0.1:8080", "--room", "r"]);
        join.args(["--link", "a", "--link", "b", "--mic", "tone"]);
        join.args(["--scheduler", "duplicate", "--stats", "/dev/stdout"]);
        let sender = Program::start(&mut join);
        sender.says("link `b`: the interface does not exist now");
        sender.says("link `a` is up");

        cable(&server_side, &sender_side, "b", ["10.2.0.1", "10.2.0.2"]);
        sender.says("link `b` appeared: 10.2.0.2");
        sender.says("link `b` is up");
        sender.shows("packets over the new link", |f| sent(f, "b") > 50);

        sender_side.ip("link del dev b");
        let gone = sender.says("link `b` disappeared");
        println!("told of the link's end after {gone:?}");
        let after = sender.shows("that the link is down", |f| sent(f, "b") == 0);
        let before = sent(&after, "a");
        assert!(before > 0, "the call continues: {after}");
        sender.shows("that the call continues", |f| sent(f, "a") > before + 50);

        cable(&server_side, &sender_side, "b", ["10.2.0.1", "10.2.0.3"]);
        sender.says("link `b` appeared: 10.2.0.3");
        sender.says("link `b` is up again after");
        sender.shows("packets over it again", |f| sent(f, "b") > 50);
    });
}

#[test]
fn a_call_without_links_waits_half_a_minute_and_resumes_within_a_second() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side)) = pair() else {
            return;
        };
        cable(&server_side, &sender_side, "a", ["10.1.0.1", "10.1.0.2"]);
        cable(&server_side, &sender_side, "b", ["10.2.0.1", "10.2.0.2"]);
        let _server = serve(&server_side);
        let mut join = sender_side.command(env!("CARGO_BIN_EXE_weft"));
        join.args([
            "join",
            "http://10.1.0.1:8080",
            "--room",
            "r",
            "--mic",
            "tone",
        ]);
        join.args(["--link", "a", "--link", "b", "--stats", "/dev/stdout"]);
        let sender = Program::start(&mut join);
        let before = sender.shows("packets over both links", |f| {
            sent(f, "a") > 50 && sent(f, "b") > 0
        });

        // The carrier disappears; the addresses remain.
        for far in ["sa", "sb"] {
            server_side.ip(&format!("link set dev {far} down"));
        }
        sender.says("the call waits and continues by itself");
        let end = time(&before) + 30.0;
        let waiting = sender.shows("half a minute without links", |f| time(f) > end);
        assert_eq!(sent(&waiting, "a") + sent(&waiting, "b"), 0, "{waiting}");

        server_side.ip("link set dev sb up");
        let back = sender.says("link `b` is up again after");
        println!("link b is up again {back:?} after its carrier");
        assert!(back < BUSY, "{back:?}");
        let fresh = sender.shows("sound again", |f| sent(f, "b") > 50);
        let wait = time(&fresh) - time(&waiting);
        // The connection is the same, because its packet counter continues.
        assert!(wait < 10.0, "{wait} s until a second of sound: {fresh}");
    });
}

#[test]
fn blocked_udp_is_reported_within_seconds() {
    where_the_machine_keeps_up(|| {
        let Some((server_side, sender_side)) = pair() else {
            return;
        };
        cable(&server_side, &sender_side, "a", ["10.1.0.1", "10.1.0.2"]);
        let _server = serve(&server_side);
        // A firewall: its rule precedes the rule of local addresses.
        let firewall = "pref 1 iif sa ipproto udp blackhole";
        server_side.ip("rule add pref 2 lookup local");
        server_side.ip("rule del pref 0");
        server_side.ip(&format!("rule add {firewall}"));
        let join = |more: &[&str]| {
            let mut join = sender_side.command(env!("CARGO_BIN_EXE_weft"));
            join.args(["join", "http://10.1.0.1:8080", "--room", "r"]);
            Program::start(join.args(["--link", "a", "--mic", "tone"]).args(more))
        };
        let patient = join(&[]);
        let mut hasty = join(&["--seconds", "7"]);
        let told = patient.says("nothing comes back over UDP");
        println!("told after {told:?}");
        assert!(told < UNANSWERED, "{told:?}");
        hasty.says("the call was not established");
        assert_eq!(hasty.status(), Some(1));

        server_side.ip(&format!("rule del {firewall}"));
        patient.says("connected, publishing");
    });
}
