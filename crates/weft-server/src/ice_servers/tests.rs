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
    let issued = IceServers::new(servers, None).issue("p1", None, UNIX_EPOCH);
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
    let servers = IceServers::new(
        vec![
            "stun:stun.example".parse().unwrap(),
            format!("turn:host?transport=udp,login={login}")
                .parse()
                .unwrap(),
        ],
        None,
    );
    let links = servers.links("p1", None, UNIX_EPOCH);
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

#[test]
fn the_built_in_server_has_the_host_of_the_request() {
    let own = |name: Option<&str>, is_secure, is_trusted| OwnTurn {
        secret: "north".to_owned(),
        name: name.map(|name| name.parse().unwrap()),
        listen: [127, 0, 0, 1].into(),
        is_secure,
        is_trusted,
    };
    let urls = |own: OwnTurn, host: Option<&str>| -> Vec<String> {
        let issued = IceServers::new(vec![], Some(own)).issue("p1", host, UNIX_EPOCH);
        assert!(issued.iter().all(|server| server.login.is_some()));
        issued.into_iter().map(|server| server.urls).collect()
    };
    for (host, wanted) in [
        ("127.0.0.1:8080", "turn:127.0.0.1:8080?transport=tcp"),
        ("localhost:9000", "turn:127.0.0.1:9000?transport=tcp"),
        ("weft.example", "turn:weft.example:80?transport=tcp"),
        ("[2001:db8::1]:81", "turn:[2001:db8::1]:81?transport=tcp"),
    ] {
        assert_eq!(urls(own(None, false, false), Some(host)), [wanted]);
    }
    let both = [
        "turn:weft.example:443?transport=tcp",
        "turns:weft.example:443?transport=tcp",
    ];
    assert_eq!(urls(own(None, true, true), Some("weft.example")), both);
    // Browsers do not accept a self-signed certificate here.
    assert_eq!(
        urls(own(None, true, false), Some("weft.example")),
        both[..1]
    );
    let named = own(Some("turn.example:5349"), false, true);
    assert_eq!(
        urls(named, Some("proxy")),
        ["turn:turn.example:5349?transport=tcp"]
    );
    for host in [None, Some("a b"), Some("a>;rel=x"), Some("")] {
        assert_eq!(urls(own(None, true, true), host), Vec::<String>::new());
    }
    for text in ["", "turn.example", "turn.example:0", "turn:x:1", "a@b:1"] {
        assert!(text.parse::<TurnName>().is_err(), "{text}");
    }
}
