use super::*;
use clap::CommandFactory;

/// Completes a command line with this file.
fn with(text: &str, line: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("serve.toml");
    std::fs::write(&path, text).expect("written");
    let line = line.replace("FILE", &path.display().to_string());
    let line = line.split(' ').map(OsString::from).collect();
    let shown = |failure: Failure| {
        let place = path.display().to_string();
        failure.to_string().replace(&place, "FILE")
    };
    let completed = Completed::read(line).map_err(shown)?;
    let text = |argument: &OsString| argument.to_string_lossy().into_owned();
    Ok(completed.line[4..].iter().map(text).collect())
}

fn of_file(text: &str) -> Result<Vec<String>, String> {
    with(text, "weft serve --config FILE")
}

#[test]
fn every_option_of_the_command_line_is_a_key() {
    let cli = crate::cli::Cli::command();
    let serve = cli.find_subcommand("serve").expect("a command");
    let options = serve.get_arguments().filter_map(Arg::get_long);
    let options: BTreeSet<String> = options.map(str::to_owned).collect();
    let definition = definition();
    let keys: BTreeSet<String> = keys(&definition).map(|(name, _)| name.to_owned()).collect();
    let missing: Vec<&String> = options.difference(&keys).collect();
    assert_eq!(missing, ["check", "config"]);
    // Form of each option according to its definition.
    for key in &keys {
        let option = definition
            .get_arguments()
            .find(|arg| arg.get_long() == Some(key));
        let wrong = match option.map(Arg::get_action) {
            Some(ArgAction::SetTrue) => "1",
            _ => "{}",
        };
        let error = of_file(&format!("{key} = {wrong}")).expect_err(key);
        let start = format!("FILE:1:{}: `{key}` takes ", key.chars().count() + 4);
        assert!(error.starts_with(&start), "{error}");
    }
}

#[test]
fn keys_become_arguments() {
    let text = "listen = \"0.0.0.0:8443\"\nmax-rooms = 1_000\ninsecure-http = true\nturn = true\n\
                allow-origin = [\"https://a.example\", \"https://b.example\"]\n\
                media-interface = \"eth0\"\n";
    let mut arguments = of_file(text).expect("valid");
    arguments.sort();
    let expected = [
        "--allow-origin=https://a.example",
        "--allow-origin=https://b.example",
        "--insecure-http",
        "--listen=0.0.0.0:8443",
        "--max-rooms=1000",
        "--media-interface=eth0",
        "--turn",
    ];
    assert_eq!(arguments, expected);
    assert_eq!(of_file("turn = false\ninsecure-http = false"), Ok(vec![]));
    assert_eq!(
        of_file("turn = \"h:443\""),
        Ok(vec!["--turn=h:443".to_owned()])
    );
    assert_eq!(with("", "weft rooms --state FILE"), Ok(vec![]));
}

#[test]
fn the_command_line_wins_also_over_what_it_excludes() {
    let text =
        "log = \"debug\"\nmax-rooms = 7\ncertificate = \"c\"\nkey = \"k\"\ntoken-file = \"t\"";
    let line = "weft serve --config FILE --log info --insecure-http --token x";
    let arguments = with(text, line).expect("valid");
    assert_eq!(arguments[5..], ["--max-rooms=7"]);
    // One of two options that require each other may be in the file.
    let arguments = with("key = \"k\"", "weft serve --config FILE --certificate c");
    assert_eq!(
        arguments.map(|a| a[2..].to_vec()),
        Ok(vec!["--key=k".to_owned()])
    );
}

#[test]
fn errors_have_place_and_remedy() {
    for (text, words) in [
        (
            "\n  listne = \"x\"",
            "FILE:2:3: `weft serve` has no option `listne`: did you mean `listen`?",
        ),
        ("media_port = 1", "did you mean `media-port`?"),
        (
            "config = \"x\"",
            "FILE:1:1: `weft serve` has no option `config`",
        ),
        (
            "# é\nlisten = \"8080\"",
            "FILE:2:10: invalid value '8080' for '--listen <ADDR>'",
        ),
        ("log = \"loud\"", "possible values: off, error, info, debug"),
        ("max-rooms = \"many\"", "FILE:1:13: invalid value 'many'"),
        ("max-rooms = -1", "FILE:1:13: "),
        (
            "max-rooms = 1.5",
            "FILE:1:13: `max-rooms` takes a text or a whole number",
        ),
        (
            "[limits]\nmax-rooms = 1",
            "FILE:1:2: `weft serve` has no option `limits`",
        ),
        ("log = \"info\"\nlog = \"off\"", "FILE:2:1: duplicate key"),
        ("log = ", "FILE:1:"),
        (
            "allow-origin = [\"https://a.example\", 7]",
            "is not an origin",
        ),
        ("turn = 443", "FILE:1:8: "),
    ] {
        let error = of_file(text).expect_err(text);
        assert!(error.contains(words), "{text:?} says: {error}");
    }
    let error = of_file("token = \"a secret\"").expect_err("a space");
    assert!(
        error.contains("openssl rand") && !error.contains("a secret"),
        "{error}"
    );
    let line = ["weft", "serve", "--config", "/no/such/file"].map(OsString::from);
    let missing = Completed::read(line.to_vec()).err().map(|f| f.to_string());
    assert!(missing.is_some_and(|words| words.contains("/no/such/file: No such file")));
}
