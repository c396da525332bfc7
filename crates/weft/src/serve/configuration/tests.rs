use super::*;

/// Returns the configuration of a file with this text and a token file.
fn load(text: &str, more: &[&str]) -> Result<Configuration, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("token"), "s3cret\n").expect("written");
    let token = path("token").display().to_string();
    std::fs::write(path("serve.toml"), text.replace("TOKEN", &token)).expect("written");
    let mut line = vec!["weft".into(), "serve".into(), "--config".into()];
    line.push(path("serve.toml").into_os_string());
    line.extend(more.iter().map(OsString::from));
    Configuration::load(line).map_err(|failure| failure.to_string())
}

#[test]
fn settings_that_can_change_differ_from_those_that_need_a_restart() {
    let before = load(
        "log = \"info\"\nmax-rooms = 7\nthreads = 1\ntoken = \"a\"",
        &[],
    );
    let before = before.expect("valid");
    let after = load(
        "max-rooms = 8\nthreads = 2\ntoken-file = \"TOKEN\"\ndrain = 9",
        &[],
    );
    let after = after.expect("valid");
    let changes = before.changes(&after);
    assert_eq!(changes.changed, ["max-rooms", "log", "drain", "token"]);
    assert_eq!(changes.restart, ["threads"]);
    assert_eq!(before.changes(&before), Changes::default());
    let open = load("", &[]).expect("valid");
    assert_eq!(open.changes(&after).restart, ["threads", "token"]);
    let new = after.reconfiguration();
    assert_eq!(new.token.as_deref(), Some("s3cret"));
    assert_eq!(new.limits.rooms, 8);
}

#[test]
fn every_option_is_either_taken_over_or_needs_a_restart() {
    let definition = definition();
    for name in RELOADED.iter().chain(&BY_CONTENT) {
        assert!(keys(&definition).any(|(key, _)| key == *name), "{name}");
    }
}

#[test]
fn the_effective_configuration_is_a_file_without_secrets() {
    let text = "max-rooms = 7\nturn = true\nallow-origin = [\"https://a.example\"]\n\
                token-file = \"TOKEN\"\nmedia-port = \"8443-8450\"";
    let shown = load(text, &["--max-rooms", "8"])
        .expect("valid")
        .to_string();
    for line in [
        "max-rooms = 8 # command line",
        "turn = true # file",
        "allow-origin = [\"https://a.example\"] # file",
        "media-port = \"8443-8450\" # file",
        "listen = \"127.0.0.1:8080\" # default",
        "insecure-http = false # default",
        "# max-egress is not set",
        "# token is not set",
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "{line} in\n{shown}"
        );
    }
    assert!(!shown.contains("s3cret"), "{shown}");
    let again = load(&shown.replace("token-file", "# "), &[]).expect("it is a file");
    assert_eq!(again.args.limits.max_rooms, 8);
    let shown = load("token = \"s3cret\"", &[]).expect("valid").to_string();
    assert!(
        shown.contains("# token is set and not shown (file)"),
        "{shown}"
    );
    assert!(!shown.contains("s3cret"), "{shown}");
}

#[test]
fn options_that_need_each_other_name_the_file() {
    let error = load("certificate = \"c\"", &[]).err().unwrap_or_default();
    assert!(error.starts_with("with the options of "), "{error}");
    assert!(error.contains("--key <FILE>"), "{error}");
    let error = load("token-file = \"/no/such/file\"", &[])
        .err()
        .unwrap_or_default();
    assert!(error.contains("/no/such/file: No such file"), "{error}");
}
