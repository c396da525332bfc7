//! Files for operators: their metrics, options and alerts exist, and the programs that
//! read them accept them.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;
use weft_testing::skipped;

use super::{Server, text, weft};

fn packaging(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../packaging")
        .join(file)
}

fn read(file: &str) -> String {
    std::fs::read_to_string(packaging(file)).expect("a file of the package")
}

/// Returns the metrics named in a text.
fn names(text: &str) -> BTreeSet<String> {
    let is_sign = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c| !is_sign(c));
    let names = words.filter(|word| word.starts_with("weft_"));
    names.map(str::to_owned).collect()
}

/// Returns the metrics of a server with a participant in a room.
fn metrics() -> String {
    let state = TempDir::new().expect("a folder");
    let mut command = weft(state.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--metrics-rooms", "5"]);
    let server = Server::start(&mut command);
    let mut ada = TcpStream::connect(server.address).expect("it listens");
    let get = "GET /api/rooms/ride/events?name=Ada HTTP/1.1\r\nhost: localhost\r\n\r\n";
    ada.write_all(get.as_bytes()).expect("it reads");
    let mut stream = BufReader::new(ada);
    let mut line = String::new();
    while !line.contains("welcome") {
        line.clear();
        assert_ne!(stream.read_line(&mut line).expect("a line"), 0);
    }
    let answer = server.get("/metrics");
    let (_, metrics) = answer.split_once("\r\n\r\n").expect("a body");
    assert!(
        metrics.contains("weft_room_participants{room=\"ride\"} 1"),
        "{metrics}"
    );
    metrics.to_owned()
}

/// Runs a program if the machine has it.
fn run(mut command: Command, input: &str) -> Option<Output> {
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = piped.stderr(Stdio::piped()).spawn() else {
        let program = command.get_program().to_string_lossy();
        skipped(format_args!("no {program} here"));
        return None;
    };
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    Some(child.wait_with_output().expect("it ends"))
}

fn succeeds(command: Command, input: &str) -> Option<String> {
    let output = run(command, input)?;
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{said}");
    Some(text(&output.stdout))
}

#[test]
fn dashboard_and_alerts_have_the_metrics_of_the_server() {
    let metrics = metrics();
    let known = names(&metrics);
    let dashboard = read("grafana/weft.json");
    serde_json::from_str::<serde_json::Value>(&dashboard).expect("JSON");
    assert_eq!(names(&dashboard), known, "the dashboard shows every metric");
    let alerts = names(&read("prometheus/weft-alerts.yml"));
    let unknown: Vec<&String> = alerts.difference(&known).collect();
    assert!(unknown.is_empty() && !alerts.is_empty(), "{unknown:?}");
    let folder = packaging("prometheus");
    let promtool = |args: &[&str]| {
        let mut command = Command::new("promtool");
        command.current_dir(&folder).args(args);
        command
    };
    succeeds(promtool(&["check", "metrics"]), &metrics);
    succeeds(promtool(&["check", "rules", "weft-alerts.yml"]), "");
    succeeds(promtool(&["test", "rules", "weft-alerts-test.yml"]), "");
}

/// Checks a configuration whose secret files are elsewhere.
fn accepts(configuration: &str) {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("serve.toml");
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "0123456789abcdef0123456789abcdef").expect("written");
    let own = format!("token-file = {secret:?}");
    let lines = configuration
        .lines()
        .map(|line| match line.split_once(" = ") {
            Some(("token-file", _)) => own.clone(),
            Some(("admin-token-file", _)) => format!("admin-{own}"),
            Some(("cluster-login", _)) => format!("cluster-login = {secret:?}"),
            _ => line.to_owned(),
        });
    std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).expect("written");
    let mut command = weft(folder.path());
    command.args(["serve", "--check", "--config"]).arg(&file);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn the_compose_file_and_its_configuration_are_valid() {
    let configuration = read("compose/serve.toml");
    accepts(&configuration);
    let mut command = Command::new("docker-compose");
    command
        .current_dir(packaging("compose"))
        .args(["-f", "compose.yaml", "config", "-q"]);
    succeeds(command, "");
    let mut command = Command::new("promtool");
    command.current_dir(packaging("compose"));
    command.args(["check", "config", "--syntax-only", "prometheus.yml"]);
    succeeds(command, "");
}

#[test]
fn the_chart_writes_options_of_the_server() {
    let state = TempDir::new().expect("a folder");
    let help = weft(state.path())
        .args(["serve", "--help"])
        .output()
        .expect("it runs");
    let help = text(&help.stdout);
    let template = read("helm/weft/templates/_helpers.tpl");
    let is_key = |key: &&str| key.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let keys = template.lines().filter_map(|line| line.split_once(" = "));
    let keys: Vec<&str> = keys.map(|(key, _)| key).filter(is_key).collect();
    assert!(keys.len() > 8, "{keys:?}");
    for key in keys {
        assert!(help.contains(&format!("--{key}")), "{key} is no option");
    }
}

#[test]
fn the_chart_is_rendered_with_every_value() {
    let chart = packaging("helm/weft");
    let helm = |args: &[&str]| {
        let mut command = Command::new("helm");
        command
            .arg(args[0])
            .args(["weft"].iter().filter(|_| args[0] == "template"));
        command.arg(&chart).args(&args[1..]);
        command
    };
    let all = [
        "--set=tls.secretName=tls,tokens.secretName=s,tokens.adminToken=admin-token",
        "--set=tokens.webhookSecret=hook,webhook.url=https://app.example/weft",
        "--set=persistence.enabled=true,podMonitor.enabled=true,publicAddress=198.51.100.7",
        "--set=cluster.nats=nats://nats.example,cluster.login=nats",
    ];
    if succeeds(helm(&["lint", "--strict"]), "").is_none() {
        return;
    }
    for values in [&[][..], &all, &["--set=tls.insecureHttp=true"]] {
        let args = [&["template"], values].concat();
        let rendered = succeeds(helm(&args), "").expect("helm is there");
        let (_, configuration) = rendered
            .split_once("serve.toml: |\n")
            .expect("a configuration");
        let lines = configuration
            .lines()
            .map_while(|line| line.strip_prefix("    "));
        let lines: Vec<&str> = lines.filter(|line| !line.starts_with("webhook")).collect();
        accepts(
            &lines
                .join("\n")
                .replace("certificate = ", "# ")
                .replace("\nkey = ", "\n# "),
        );
    }
}
