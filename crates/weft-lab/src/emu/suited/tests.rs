use super::*;

const TEXT: &str = r#"
title = "t"
duration = "10s"
systems = ["webrtc", "single/gcc_draft", "webrtc@b"]
published = [
  { system = "webrtc", metric = "fps", value = 25, source = "s" },
  { system = "webrtc-cm", metric = "fps", value = 25, source = "s" },
  { system = "single/gcc_draft", metric = "fps", value = 25, source = "s" },
]
[links.a]
spec = "rate=5mbit,delay=10ms"
[links.b]
spec = "rate=5mbit,delay=10ms"
[flows.call]
kind = "call"
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("t.toml", text, &[]).unwrap()
}

fn names(scenario: &Scenario) -> Vec<&str> {
    scenario.variants.iter().map(|v| v.name.as_str()).collect()
}

#[test]
fn a_program_is_one_system_on_the_same_links() {
    let text = TEXT.replace("systems = [", "systems = [\"weft\", ");
    let suited = suited(&scenario(&text), &Client::Chromium).unwrap();
    assert_eq!(names(&suited), ["chromium", "chromium@b"]);
    assert_eq!(suited.variants[1].setup.flows[0].routes.len(), 1);
}

#[test]
fn what_was_published_of_webrtc_is_about_browsers() {
    let suited = suited(&scenario(TEXT), &Client::Chromium).unwrap();
    let about: Vec<&str> = suited.published.iter().map(|p| p.system.as_str()).collect();
    assert_eq!(about, ["chromium"]);
}

#[test]
fn weft_is_run_as_each_system() {
    let scenario = scenario(TEXT);
    let suited = suited(&scenario, &Client::Weft).unwrap();
    assert_eq!(names(&suited), names(&scenario));
}

#[test]
fn varied_values_stay_apart() {
    let text = format!(
        "{TEXT}\n[[vary]]\nkey = \"links.a.rate\"\nvalues = [\"1mbit\", \"2mbit\"]\nlabel = \"a\"\n"
    );
    let suited = suited(&scenario(&text), &Client::Exec("true".into())).unwrap();
    assert_eq!(suited.variants.len(), 4);
    assert!(
        names(&suited).contains(&"exec@b (a 1mbit)"),
        "{:?}",
        names(&suited)
    );
}

#[test]
fn systems_that_change_the_network_stay_apart() {
    let text = TEXT
        .replace("\"webrtc@b\"", "\"codel\"")
        .replace("{ system", "  { system");
    let text = format!("{text}\n[system.codel]\nset = {{ links.a.aqm = \"codel\" }}\n");
    let suited = suited(&scenario(&text), &Client::Chromium).unwrap();
    assert_eq!(names(&suited), ["chromium (webrtc)", "chromium (codel)"]);
}

#[test]
fn what_cannot_be_emulated_is_named() {
    let text = TEXT.replace("kind = \"call\"", "kind = \"call\"\naccess-delay = \"5ms\"");
    let trouble = suited(&scenario(&text), &Client::Weft).unwrap_err();
    assert!(
        matches!(&trouble, Trouble::Lacking(text) if text.contains("flow `call` has an access-delay")),
        "{trouble}"
    );
}
