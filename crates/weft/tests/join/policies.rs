//! Link policies in a call of the program.

use std::process::Command;

use serde_json::Value;
use weft_testing::where_the_machine_keeps_up;

use super::fixture::{PATIENCE, Program, cable, carried, heard, pair, sent, serve, time};

/// Sound packets per second: 20 ms each.
const SOUNDS: f64 = 50.0;

/// Server on loopback, and its URL.
fn server() -> (Program, String) {
    let mut serve = Command::new(env!("CARGO_BIN_EXE_weft"));
    serve.args(["serve", "--listen", "127.0.0.1:0"]);
    let server = Program::start(&mut serve);
    let url = server.told.recv_timeout(PATIENCE);
    (server, url.expect("it says where it is"))
}

/// Starts a participant in the room who writes statistics each second.
fn join(command: &mut Command, url: &str, more: &[&str]) -> Program {
    let about = ["join", url, "--room", "r", "--stats", "/dev/stdout"];
    Program::start(command.args(about).args(more))
}

fn weft() -> Command {
    Command::new(env!("CARGO_BIN_EXE_weft"))
}

/// Returns the sound packets per second between two lines.
fn rate(before: &Value, after: &Value) -> f64 {
    (heard(after) - heard(before)) as f64 / (time(after) - time(before))
}

#[test]
fn when_a_budget_ends_in_mid_call_the_backup_takes_over() {
    where_the_machine_keeps_up(|| {
        let (_server, url) = server();
        let listener = join(&mut weft(), &url, &["--name", "Bob", "--link", "127.0.0.1"]);
        let links = ["--link", "paid=127.0.0.2,budget=120kB"];
        let spare = ["--link", "spare=127.0.0.3,backup"];
        let sound = ["--name", "Ada", "--send-only", "--mic", "tone"];
        let sender = [&links[..], &spare, &sound].concat();
        let sender = join(&mut weft(), &url, &sender);

        // Sound with headers, 9 kB per second: a budget for about 13 s.
        let before = sender.shows("both links", |f| sent(f, "paid") > 150);
        let beside = sent(&before, "spare") as f64;
        // In the meantime the backup may only carry a duplicate every 250 ms.
        let most = 4.0 * time(&before) + 5.0;
        assert!(beside <= most, "{beside} packets over the backup: {before}");
        assert!(carried(&before, "paid").1 > Some(0.0), "{before}");
        sender.says("link `paid` has used up its budget and carries no more traffic");

        let after = sender.shows("the end of the link", |f| sent(f, "paid") == 0);
        let (used, left) = carried(&after, "paid");
        // Counted every 200 ms, so at most the bytes of that time exceed the budget.
        assert!((0.12..0.126).contains(&used), "{used} MB: {after}");
        assert_eq!(left, Some(0.0));
        let begun = sent(&after, "spare");
        let later = sender.shows("the backup at work", |f| sent(f, "spare") > begun + 200);
        let (still, _) = carried(&later, "paid");
        assert!((still - used).abs() < 0.001, "{still} MB after {used}");

        // The change is inaudible, because the sound continued.
        let first = listener.shows("sound", |f| heard(f) > 50);
        let span = time(&later);
        let last = listener.shows("all of it", |f| time(f) - time(&first) > span);
        let rate = rate(&first, &last);
        assert!(
            (0.9 * SOUNDS..1.1 * SOUNDS).contains(&rate),
            "{rate} a second"
        );
    });
}

/// The sender schedules incoming media and does not know our budgets, so a
/// receive-only call opens a metered link only if necessary.
#[test]
fn a_receiver_opens_a_metered_link_when_no_other_is_left() {
    let Some((server_side, listener_side)) = pair() else {
        return;
    };
    cable(&server_side, &listener_side, "a", ["10.1.0.1", "10.1.0.2"]);
    cable(&server_side, &listener_side, "b", ["10.2.0.1", "10.2.0.2"]);
    let _server = serve(&server_side);
    let url = "http://10.1.0.1:8080";
    let sound = [
        "--name",
        "Ada",
        "--send-only",
        "--mic",
        "tone",
        "--link",
        "sb",
    ];
    let mut beside = server_side.command(env!("CARGO_BIN_EXE_weft"));
    let _sender = join(&mut beside, url, &sound);
    let links = ["--name", "Bob", "--link", "a", "--link", "b,metered"];
    let mut apart = listener_side.command(env!("CARGO_BIN_EXE_weft"));
    let listener = join(&mut apart, url, &links);

    let quiet = listener.shows("sound", |f| heard(f) > 150);
    assert_eq!(carried(&quiet, "b").0, 0.0, "the metered link: {quiet}");
    assert!(carried(&quiet, "a").0 > 0.01, "the free link: {quiet}");

    listener_side.ip("link del dev a");
    listener.says("link `a` disappeared");
    let cut = heard(&quiet);
    let after = listener.shows("sound over the metered link", |f| {
        heard(f) > cut + 200 && carried(f, "b").0 > 0.02
    });
    println!(
        "{} packets of sound over the metered link",
        heard(&after) - cut
    );
}
