//! Checks of the emulator in `weft doctor`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;
use weft_testing::skipped;

use super::{can_emulate, has};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");

/// Returns the output with this search path, run through a command prefix.
fn said(before: &[&str], path: &str) -> String {
    let words = [before, &[WEFT, "doctor"]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).env_remove("WEFT_CHROMIUM");
    if !path.is_empty() {
        command.env("PATH", path);
    }
    let output = command.output().expect("the program starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn missing_programs_are_reported_with_their_purpose() {
    let folder = tempfile::tempdir().expect("a folder");
    let node = folder.path().join("node");
    std::fs::write(&node, "").expect("a file");
    let mode = |bits| std::fs::set_permissions(&node, PermissionsExt::from_mode(bits));
    mode(0o755).expect("a file of ours");
    let text = said(&[], &folder.path().display().to_string());
    assert!(text.contains("ok    for the emulator: node\n"), "{text}");
    for told in [
        "note  no ip: no emulated network at all",
        "install iproute2",
        "note  no iperf3: ",
        "note  no chromium: no `--client chromium`",
        "set WEFT_CHROMIUM",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    // A file without execute permission is not a program.
    mode(0o644).expect("a file of ours");
    let text = said(&[], &folder.path().display().to_string());
    assert!(text.contains("note  no node: "), "{text}");
}

#[test]
fn real_time_scheduling_is_tried() {
    let without = [
        "setpriv",
        "--bounding-set=-sys_nice",
        "--inh-caps=-sys_nice",
    ];
    if !can_emulate() || !has("setpriv") || !said(&[], "").contains("and real-time scheduling") {
        skipped("only root with CAP_SYS_NICE can go without it");
        return;
    }
    let text = said(&without, "");
    assert!(
        text.contains("the kernel refuses real-time scheduling"),
        "{text}"
    );
    assert!(text.contains("CAP_SYS_NICE"), "{text}");
}

/// JSON form: every line of the text, with a stable name.
#[test]
fn programs_read_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().display().to_string();
    let lines = said(&[], &path);
    let mut command = Command::new(WEFT);
    command.args(["doctor", "--json"]).env("PATH", &path);
    let output = command.env_remove("WEFT_CHROMIUM").output();
    let output = output.expect("the program starts");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(told["version"].as_str().is_some_and(|v| v.contains('.')));
    let findings = told["findings"].as_array().expect("a list");
    // Numbers differ from run to run; names do not.
    let begins = |text: &str| text.split([' ', ':']).next().map(str::to_owned);
    let texts = lines.lines().filter(|line| !line.starts_with("      -> "));
    let expected: Vec<_> = texts.map(|line| begins(&line[6..])).collect();
    let text = |each: &Value| begins(each["text"].as_str().expect("a text"));
    assert_eq!(findings.iter().map(text).collect::<Vec<_>>(), expected);
    let find = |name: &str, of: &str| {
        let mut all = findings.iter();
        let found = all.find(|each| each["name"] == name && each["of"] == of);
        found.unwrap_or_else(|| panic!("{name} {of}: {told}"))
    };
    let node = find("program", "node");
    assert_eq!(node["state"], "note");
    assert_eq!(node["remedy"], "install Node.js");
    let vp8 = find("codec", "vp8");
    assert!(vp8["value"]["pictures_per_second"].as_f64() > Some(0.0));
    let unusable = findings.iter().any(|each| each["state"] == "no");
    assert_eq!(output.status.code(), Some(if unusable { 3 } else { 0 }));
}

/// A copy of the program outside its source tree contains the clients.
#[test]
fn clients_come_with_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("weft");
    std::fs::copy(WEFT, &copy).expect("room for a copy");
    let mut command = Command::new(&copy);
    command.arg("doctor").current_dir(folder.path());
    command
        .env_remove("WEFT_CLIENTS")
        .env("XDG_CACHE_HOME", folder.path().join("cache"));
    let output = command.output().expect("the copy starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let cache = folder
        .path()
        .join("cache/weft/clients-")
        .display()
        .to_string();
    let remedies = text.lines().filter(|line| line.contains(&cache));
    let commands: Vec<&str> = remedies
        .filter_map(|line| line.split("run ").nth(1))
        .collect();
    assert_eq!(commands.len(), 2, "{text}");
    assert!(commands[0].contains("go build -o pion ./lab"), "{text}");
    assert!(
        commands[1].contains("pip install -r requirements.txt"),
        "{text}"
    );
}
