//! Exit behaviour of `weft emu shell`.

use std::process::{Command, Output, Stdio};

use weft_testing::skipped;

use super::{can_emulate, has};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");
const LINK: &str = "rate=2mbit,delay=5ms";

fn shell(arguments: &[&str], script: &str) -> Output {
    let mut command = Command::new(WEFT);
    command.args(["emu", "shell", "--isolated", "--link", LINK]);
    command.args(arguments).args(["--", "sh", "-c", script]);
    command.stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_signal_ends_the_shell_with_its_number() {
    if !can_emulate() {
        return;
    }
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        if signal == "HUP" && !hears_of_hangups() {
            continue;
        }
        // The parent is weft.
        let ended = shell(&[], &format!("kill -{signal} $PPID; exec sleep 30"));
        assert_eq!(ended.status.code(), Some(status), "{}", errors(&ended));
        // The measurements are still reported.
        assert!(errors(&ended).contains("packets delivered"));
    }
}

#[test]
fn a_program_that_is_missing_is_named_with_the_remedy() {
    if !can_emulate() {
        return;
    }
    let run = |program: &str| {
        let mut command = Command::new(WEFT);
        command.args(["emu", "shell", "--isolated", "--link", LINK, "--", program]);
        command.stdin(Stdio::null());
        command.output().expect("the program starts")
    };
    let document = tempfile::NamedTempFile::new().expect("a temporary file");
    let document = document.path().to_str().expect("a name in UTF-8");
    for (program, message) in [
        (
            "nosuchprogram",
            "nosuchprogram: program not found: install it",
        ),
        (document, "not executable"),
    ] {
        let ended = run(program);
        assert_eq!(ended.status.code(), Some(3), "{}", errors(&ended));
        assert!(errors(&ended).contains(message), "{}", errors(&ended));
    }
}

/// Whether SIGHUP is delivered: after `nohup`, children inherit the ignored
/// signal.
fn hears_of_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.map(|mask| u64::from_str_radix(mask.trim(), 16));
    let hears = ignored.is_some_and(|mask| mask.is_ok_and(|mask| mask & 1 == 0));
    if !hears {
        skipped("SIGHUP is ignored, as under nohup");
    }
    hears
}

#[test]
fn at_a_terminal_ctrl_c_is_the_programs_and_sigterm_is_not() {
    if !can_emulate() || !has("script") {
        return;
    }
    let at_terminal = |signals: &str| {
        let shell = format!("{WEFT} emu shell --isolated --link {LINK} -- sh -c '{signals}'");
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--command", &shell, "/dev/null"]);
        command.stdin(Stdio::null());
        command.output().expect("script, of util-linux")
    };
    let left = at_terminal("kill -INT $PPID; sleep 0.2; exit 5");
    assert_eq!(left.status.code(), Some(5), "{left:?}");
    for (signal, status) in [("TERM", 143), ("HUP", 129)] {
        if signal == "HUP" && !hears_of_hangups() {
            continue;
        }
        let ended = at_terminal(&format!("kill -{signal} $PPID; exec sleep 30"));
        assert_eq!(ended.status.code(), Some(status), "{ended:?}");
    }
}

#[test]
fn a_log_that_cannot_be_created_is_reported_before_anything_starts() {
    let refused = shell(&["--log", "/nowhere/log.csv"], "echo started");
    assert_eq!(refused.status.code(), Some(2), "{}", errors(&refused));
    assert!(errors(&refused).contains("--log /nowhere/log.csv"));
    assert_eq!(refused.stdout, b"");
}

#[test]
fn trouble_with_the_log_hides_neither_the_status_nor_what_was_measured() {
    if !can_emulate() {
        return;
    }
    // Every write to this file fails (full(4)).
    for (script, status) in [("exit 7", 7), ("exit 0", 1)] {
        let ended = shell(&["--log", "/dev/full"], script);
        assert_eq!(ended.status.code(), Some(status), "{}", errors(&ended));
        for told in ["packets delivered", "--log: No space left"] {
            assert!(errors(&ended).contains(told), "{}", errors(&ended));
        }
    }
}

#[test]
fn links_have_different_names_or_none() {
    let refused = |links: [&str; 2]| {
        let mut command = Command::new(WEFT);
        command.args(["emu", "shell", "--isolated"]);
        command.args(links.iter().flat_map(|link| ["--link", link]));
        let output = command.args(["--", "true"]).output();
        let output = output.expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        errors(&output)
    };
    let twice = refused(["a=rate=1mbit,loss=5%", "a=rate=2mbit,loss=5%"]);
    assert!(
        twice.contains("`a`") && twice.contains("NAME=SPEC"),
        "{twice}"
    );
    // The default name of the second link.
    let twice = refused(["link2=rate=1mbit", "rate=2mbit"]);
    assert!(twice.contains("`link2`"), "{twice}");
    let empty = refused(["=rate=1mbit", "rate=2mbit"]);
    assert!(empty.contains("is empty"), "{empty}");
}

#[test]
fn the_program_at_the_other_end_ends_with_the_shell_also_on_the_machine() {
    if !matches!(
        weft_emu::Privilege::find(),
        Ok(weft_emu::Privilege::Capabilities)
    ) {
        skipped("without capabilities the other end is a network of its own");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("id").display().to_string();
    // The program leaves its process group, like a daemon.
    let far = format!("setsid sleep 1000 & echo $! > {file}");
    let inside = format!("until [ -s {file} ]; do sleep 0.01; done");
    let mut command = Command::new("timeout");
    command.args(["-s", "KILL", "30", WEFT, "emu", "shell", "--link", LINK]);
    command.args(["--far", &far, "--", "sh", "-c", &inside]);
    let ended = command.output().expect("the program starts");
    assert_eq!(ended.status.code(), Some(0), "{}", errors(&ended));
    let id = std::fs::read_to_string(&file).expect("a number");
    let left = std::fs::read(format!("/proc/{}/cmdline", id.trim()));
    // The command line of a zombie is empty.
    assert!(left.is_err() || left.is_ok_and(|words| words.is_empty()));
}
