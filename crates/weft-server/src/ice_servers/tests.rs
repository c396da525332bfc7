use super::*;

fn file(content: &str) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content).unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    (file, path)
}

#[test]
fn time_limited_credentials_are_those_of_coturn() {
    // Computed with: printf 1700086400:p1 | openssl dgst -sha1 -hmac north -binary | base64
    let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let login = Login::limited("north", "p1", now);
    assert_eq!(login.username, "1700086400:p1");
    assert_eq!(login.password, "wvPNN3c0G6oSzh1a6V6lXwVCp3M=");
}

#[test]
fn a_server_is_read_with_its_credentials() {
    let (_kept, secret) = file("north\n");
    let (_kept, login) = file("kim:pass:word\n");
    let servers: Vec<IceServer> = [
        "stun:stun.example".to_owned(),
        format!("turn:192.0.2.1:3478,secret={secret}"),
        format!("turns:[2001:db8::1]:443?transport=tcp,login={login}"),
    ]
    .iter()
    .map(|text| text.parse().expect(text))
    .collect();
    assert!(
        !format!("{servers:?}").contains("north"),
        "a secret in a log"
    );
    let issued = IceServers::new(servers).issue("p1", UNIX_EPOCH);
    assert_eq!(
        serde_json::to_value(&issued).unwrap(),
        serde_json::json!([
            { "urls": "stun:stun.example" },
            {
                "urls": "turn:192.0.2.1:3478",
                "username": "86400:p1",
                "credential": password_of("north", "86400:p1"),
            },
            {
                "urls": "turns:[2001:db8::1]:443?transport=tcp",
                "username": "kim",
                "credential": "pass:word",
            },
        ])
    );
}

#[test]
fn a_wrong_server_is_refused_with_the_remedy() {
    let (_kept, secret) = file("north\n");
    let (_kept, empty) = file("\n");
    let (_kept, two) = file("a\nb\n");
    for (text, part) in [
        ("turn.example".to_owned(), "write it like stun:"),
        ("http://turn.example".to_owned(), "write it like stun:"),
        ("turn:".to_owned(), "write it like stun:"),
        ("turn:a b".to_owned(), "write it like stun:"),
        ("turn:host:0".to_owned(), "write it like stun:"),
        ("turn:host:99999".to_owned(), "write it like stun:"),
        ("turn:user@host".to_owned(), "write it like stun:"),
        ("turn:host?transport=sctp".to_owned(), "write it like stun:"),
        ("stun:host?transport=udp".to_owned(), "write it like stun:"),
        ("turn:host".to_owned(), "append ,secret=FILE"),
        (format!("stun:host,secret={secret}"), "remove them"),
        (format!("turn:host,key={secret}"), "write ,secret=FILE"),
        (
            format!("turn:host,secret={secret},login={secret}"),
            "write ,secret=FILE",
        ),
        (
            "turn:host,secret=/nowhere/at/all".to_owned(),
            "/nowhere/at/all",
        ),
        (format!("turn:host,secret={empty}"), "one line"),
        (format!("turn:host,secret={two}"), "one line"),
        (format!("turn:host,login={secret}"), "USER:PASSWORD"),
    ] {
        let error = text.parse::<IceServer>().expect_err(&text).to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(!error.contains("north"), "the secret in the error: {error}");
    }
}

#[test]
fn links_have_the_form_of_the_standard() {
    let (_kept, login) = file("k\"m:p\\w\n");
    let servers = IceServers::new(vec![
        "stun:stun.example".parse().unwrap(),
        format!("turn:host?transport=udp,login={login}")
            .parse()
            .unwrap(),
    ]);
    let links = servers.links("p1", UNIX_EPOCH);
    let links: Vec<&str> = links
        .get_all(LINK)
        .iter()
        .map(|l| l.to_str().unwrap())
        .collect();
    assert_eq!(
        links,
        [
            r#"<stun:stun.example>; rel="ice-server""#,
            r#"<turn:host?transport=udp>; rel="ice-server"; username="k\"m"; credential="p\\w"; credential-type="password""#,
        ]
    );
}
