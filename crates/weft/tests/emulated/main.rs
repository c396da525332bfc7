//! `weft lab run --engine emu` as a program: real packets and real programs in separate
//! namespaces. The runs are short: they test that it works, not its quality.

mod beside_the_simulator;
mod doctor;
mod shell;
mod srtla;
mod swarm;

use std::process::{Command, Output};

use serde_json::Value;
use weft_testing::{skipped, where_the_machine_keeps_up};

/// Accepts runs on a machine that is busy with other work.
const BUSY: &str = "--keep-rejected";

struct Ran {
    status: Option<i32>,
    output: String,
    errors: String,
}

fn weft(arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["lab", "run"]).args(arguments);
    command.envs(environment.iter().copied());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    command.current_dir(root);
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("the program starts");
    Ran {
        status: status.code(),
        output: String::from_utf8_lossy(&stdout).into_owned(),
        errors: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

/// Whether this machine can emulate; prints the reason otherwise.
fn can_emulate() -> bool {
    let found = weft_emu::Privilege::find();
    if let Err(error) = &found {
        skipped(error);
    }
    found.is_ok()
}

fn has(program: &str) -> bool {
    is_there(program, "make setup")
}

fn is_there(program: &str, installed_by: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        skipped(format!("no {program}; `{installed_by}` installs it"));
    }
    found
}

fn value(summary: &Value, metric: &str) -> f64 {
    let results = summary["results"].as_array().expect("results");
    let row = results.iter().find(|row| row["metric"] == metric);
    let row = row.unwrap_or_else(|| panic!("no {metric} in {summary:#}"));
    row["mean"].as_f64().expect("a number")
}

fn parsed(ran: &Ran) -> Value {
    serde_json::from_str(&ran.output)
        .unwrap_or_else(|e| panic!("{e}: {} {}", ran.output, ran.errors))
}

#[test]
fn a_command_is_measured_at_the_bottleneck() {
    where_the_machine_keeps_up(|| {
        if !can_emulate() || !has("iperf3") {
            return;
        }
        // 2 Mbit/s of payload in packets of 1000 + 28 bytes, for 3 of 5 s.
        let client = "exec:if [ $WEFT_ROLE = callee ]; then timeout 20 iperf3 -s -1; else \
                  sleep 1; timeout 20 iperf3 -u -c $WEFT_PEER -b 2M -l 1000 -t 3; fi";
        let arguments = [
            "gcc/wired-1",
            "--engine",
            "emu",
            "--client",
            client,
            BUSY,
            "--json",
        ];
        let more = ["--seeds", "1", "--duration", "5", "--set", "metrics=[]"];
        let ran = weft(&[&arguments[..], &more].concat(), &[]);
        assert_eq!(ran.status, Some(0), "{}", ran.errors);
        let summary = parsed(&ran);
        assert_eq!(summary["engine"], "emu");
        assert_eq!(summary["results"][0]["system"], "exec");
        let rate = value(&summary, "throughput_mbps");
        let expected = 2.0 * 1.028 * 3.0 / 5.0;
        assert!(
            (0.9 * expected..1.1 * expected).contains(&rate),
            "{rate} Mbit/s"
        );
        // A link of 100 Mbit/s carries it without a queue.
        assert!(value(&summary, "queue_ms_p95") < 5.0);
    });
}

#[test]
fn two_browsers_call_each_other() {
    where_the_machine_keeps_up(|| {
        if !can_emulate()
            || !has("node")
            || !(has("chromium") || std::env::var("WEFT_CHROMIUM").is_ok())
        {
            return;
        }
        let arguments = [
            "gcc/wired-1",
            "--engine",
            "emu",
            "--client",
            "chromium",
            BUSY,
            "--json",
        ];
        let more = [
            "--seeds",
            "1",
            "--duration",
            "10",
            "--set",
            "flows.call.resolution=360p",
        ];
        let more = [&more[..], &["--set", "metrics=[]"]].concat();
        let ran = weft(&[&arguments[..], &more].concat(), &[]);
        assert_eq!(ran.status, Some(0), "{}", ran.errors);
        let summary = parsed(&ran);
        let fps = value(&summary, "fps");
        assert!((3.0..=31.0).contains(&fps), "{fps} frames a second");
        // The client's limit is 2.5 Mbit/s, plus headers and repair.
        let rate = value(&summary, "throughput_mbps");
        assert!((0.1..3.2).contains(&rate), "{rate} Mbit/s");
        assert!(value(&summary, "height_px") <= 360.0);
        let notes = summary["notes"].to_string();
        assert!(
            notes.contains("client chromium") && notes.contains("degradation"),
            "{notes}"
        );
    });
}

#[test]
fn weft_calls_a_browser_over_two_links() {
    where_the_machine_keeps_up(|| {
        if !can_emulate()
            || !has("node")
            || !(has("chromium") || std::env::var("WEFT_CHROMIUM").is_ok())
        {
            return;
        }
        let arguments = ["calm/driving", "--engine", "emu", "--client", "weft-call"];
        let steady = [
            "--systems",
            "balanced",
            "--seeds",
            "1",
            "--duration",
            "10",
            BUSY,
            "--json",
            "--set",
            "links.verizon={spec=\"rate=6mbit,delay=20ms\"}",
            "--set",
            "links.tmobile={spec=\"rate=6mbit,delay=30ms\"}",
            "--set",
            "flows.call.resolution=360p",
            "--set",
            "metrics=[\"fps\",\"e2e_ms_mean\",\"throughput_mbps\",\"utilisation.tmobile\"]",
        ];
        let ran = weft(&[&arguments[..], &steady].concat(), &[]);
        assert_eq!(ran.status, Some(0), "{}", ran.errors);
        let summary = parsed(&ran);
        let fps = value(&summary, "fps");
        assert!((10.0..=31.0).contains(&fps), "{fps} frames a second");
        // From the camera to the browser's screen, by the numbers in the pictures.
        let latency = value(&summary, "e2e_ms_mean");
        assert!((25.0..500.0).contains(&latency), "{latency} ms");
        let second = value(&summary, "utilisation.tmobile");
        assert!((0.01..0.9).contains(&second), "{second} of the second link");
        let rate = value(&summary, "throughput_mbps");
        assert!((0.3..12.0).contains(&rate), "{rate} Mbit/s");
    });
}

#[test]
fn simulator_and_emulator_are_compared() {
    where_the_machine_keeps_up(|| {
        if !can_emulate() {
            return;
        }
        let arguments = [
            "gcc/wired-1",
            "--engine",
            "both",
            "--systems",
            "single/gcc",
            BUSY,
            "--json",
        ];
        let more = [
            "--seeds",
            "1",
            "--duration",
            "8",
            "--set",
            "flows.call.resolution=360p",
        ];
        let ran = weft(&[&arguments[..], &more].concat(), &[]);
        assert_eq!(ran.status, Some(0), "{}", ran.errors);
        let both = parsed(&ran);
        assert_eq!(
            (&both["sim"]["engine"], &both["emu"]["engine"]),
            (&"sim".into(), &"emu".into())
        );
        let rows = both["disagreements"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["metric"] == "throughput_mbps");
        let row = row.expect("throughput in both");
        assert!(row["sim"].as_f64().expect("a rate") > 0.1, "{row}");
        assert!(row["emu"].as_f64().expect("a rate") > 0.1, "{row}");
        assert!(value(&both["emu"], "fps") > 3.0);
    });
}

#[test]
fn a_user_without_rights_gets_a_network_of_its_own() {
    const BINARY: &str = env!("CARGO_BIN_EXE_weft");
    let nobody = |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        command.args(words).env("HOME", "/tmp").output()
    };
    let works = |words: &[&str]| nobody(words).is_ok_and(|output| output.status.success());
    let may = works(&["unshare", "--user", "--map-root-user", "--net", "true"])
        && works(&["test", "-w", "/dev/net/tun"]);
    // Only root can become "nobody", which cannot read root's folder.
    if !has("ping") || !may || !works(&["test", "-x", BINARY]) {
        skipped("no user namespaces here for a user without rights");
        return;
    }
    let link = "rate=2mbit,delay=25ms";
    let ping = "ping -c 1 -W 5 $WEFT_EMU_FAR";
    let output = nobody(&[
        BINARY, "emu", "shell", "--link", link, "--", "sh", "-c", ping,
    ]);
    let output = output.expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("1 received"), "{text} {errors}");
    assert!(errors.contains("1 packets delivered"), "{errors}");
}

#[test]
fn failures_have_a_status_and_a_remedy() {
    let run = |client: &str, environment: &[(&str, &str)]| {
        let arguments = ["gcc/wired-1", "--engine", "emu", "--client", client, BUSY];
        weft(
            &[&arguments[..], &["--seeds", "1", "--duration", "3"]].concat(),
            environment,
        )
    };
    let unknown = run("firefox", &[]);
    assert_eq!(unknown.status, Some(2));
    assert!(
        unknown.errors.contains("exec:COMMAND"),
        "{}",
        unknown.errors
    );
    let simulated = weft(&["gcc/wired-1", "--client", "chromium"], &[]);
    assert_eq!(simulated.status, Some(2));
    assert!(
        simulated.errors.contains("--engine emu"),
        "{}",
        simulated.errors
    );
    if !can_emulate() {
        return;
    }
    let died = run("exec:echo nothing works >&2; exit 7", &[]);
    assert_eq!(died.status, Some(1), "{}", died.errors);
    assert!(died.errors.contains("nothing works"), "{}", died.errors);
    // A server that reports success, and clients that never connect.
    let folder = tempfile::tempdir().expect("a folder");
    let stub = folder.path().join("weft");
    let script = "#!/bin/sh\necho here\nexec sleep 30\n";
    std::fs::write(&stub, script).expect("a file");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&stub, executable).expect("a file");
    let hangs = run("weft", &[("WEFT_BIN", &stub.display().to_string())]);
    assert_eq!(hangs.status, Some(1), "{}", hangs.errors);
    assert!(
        hangs.errors.contains("has reported no statistics"),
        "{}",
        hangs.errors
    );
    let missing = run("exec:no-such-program-anywhere", &[]);
    assert_eq!(missing.status, Some(3), "{}", missing.errors);
    if has("node") {
        let none = run("chromium", &[("WEFT_CHROMIUM", "/nowhere/chromium")]);
        assert_eq!(none.status, Some(3), "{}", none.errors);
        assert!(none.errors.contains("set WEFT_CHROMIUM"), "{}", none.errors);
    }
}
