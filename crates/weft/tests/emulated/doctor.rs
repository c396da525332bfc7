//! What `weft doctor` says of the emulator.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use weft_testing::skipped;

use super::{can_emulate, has};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");

/// What it says with this search path, below other words of the command line.
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
fn missing_programs_are_told_with_what_they_are_for() {
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
    // A file that cannot be run is no program.
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
