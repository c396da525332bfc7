use super::*;
use crate::engine::emu::{Emulator, Late, Settings};
use crate::engine::{Engine, EngineError};

/// Returns the scenario for this client, if it can be run.
fn supported(scenario: &Scenario, client: &Client) -> Result<Scenario, EngineError> {
    let emulator = Emulator::new(Settings {
        client: client.clone(),
        late: Late::Rejected,
    })?;
    let mut variants = scenario.variants.iter();
    variants.try_for_each(|variant| emulator.check(&variant.setup))?;
    Ok(as_seen_by(client, scenario))
}

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
    let supported = supported(&scenario(&text), &Client::Chromium).unwrap();
    assert_eq!(names(&supported), ["chromium", "chromium@b"]);
    assert_eq!(supported.variants[1].setup.flows[0].routes.len(), 1);
}

#[test]
fn published_values_of_webrtc_concern_browsers() {
    let supported = supported(&scenario(TEXT), &Client::Chromium).unwrap();
    let about: Vec<&str> = supported
        .published
        .iter()
        .map(|p| p.system.as_str())
        .collect();
    assert_eq!(about, ["chromium"]);
}

#[test]
fn weft_is_run_as_each_system() {
    let scenario = scenario(TEXT);
    let supported = supported(&scenario, &Client::Weft).unwrap();
    assert_eq!(names(&supported), names(&scenario));
}

#[test]
fn varied_values_stay_apart() {
    let text = format!(
        "{TEXT}\n[[vary]]\nkey = \"links.a.rate\"\nvalues = [\"1mbit\", \"2mbit\"]\nlabel = \"a\"\n"
    );
    let supported = supported(&scenario(&text), &Client::Exec("true".into())).unwrap();
    assert_eq!(supported.variants.len(), 4);
    assert!(
        names(&supported).contains(&"exec@b (a 1mbit)"),
        "{:?}",
        names(&supported)
    );
}

#[test]
fn systems_that_change_the_network_stay_apart() {
    let text = TEXT
        .replace("\"webrtc@b\"", "\"codel\"")
        .replace("{ system", "  { system");
    let text = format!("{text}\n[system.codel]\nset = {{ links.a.aqm = \"codel\" }}\n");
    let supported = supported(&scenario(&text), &Client::Chromium).unwrap();
    assert_eq!(names(&supported), ["chromium (webrtc)", "chromium (codel)"]);
}

/// Signal and Telegram are calls of WebRTC within limits, WhatsApp is a model.
const APPS: &str = r#"
title = "t"
duration = "10s"
systems = ["signal", "telegram", "again", "whatsapp"]
published = [{ system = "whatsapp", metric = "loss", value = 0, source = "s" }]
[links.a]
rate = "5mbit"
[flows.call]
kind = "call"
app = "signal"
[system.signal]
[system.telegram]
set = { flows.call.app = "telegram" }
[system.again]
set = { flows.call.app = "telegram" }
[system.whatsapp]
set = { flows.call.app = "whatsapp" }
"#;

#[test]
fn calls_with_other_limits_stay_apart() {
    let supported = supported(&scenario(APPS), &Client::Chromium).unwrap();
    let expected = ["chromium (signal)", "chromium (telegram)", "whatsapp"];
    assert_eq!(names(&supported), expected);
    assert_eq!(supported.published.len(), 1);
}

#[test]
fn the_client_model_makes_no_calls_of_webrtc() {
    let error = supported(&scenario(APPS), &Client::Model).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("--client chromium") && text.contains("--systems"),
        "{text}"
    );
    let set = ["systems=[\"whatsapp\"]".to_owned()];
    let model = Scenario::parse("t.toml", APPS, &set).unwrap();
    let seen = supported(&model, &Client::Model).unwrap();
    assert_eq!(names(&seen), ["whatsapp"]);
}

#[test]
fn two_stations_of_one_cell_cannot_be_two_links_of_a_flow() {
    let text = TEXT.replace(
        "spec = \"rate=5mbit,delay=10ms\"",
        "medium = \"home\"\nrate = \"mcs7\"",
    );
    let text = format!("{text}[media.home]\nkind = \"wifi\"\n");
    let error = supported(&scenario(&text), &Client::Chromium).unwrap_err();
    assert!(
        error.to_string().contains("two stations of one medium"),
        "{error}"
    );
}

#[test]
fn unsupported_parts_of_a_scenario_are_named() {
    let refused = |more: &str, client: &Client| {
        let text = format!("{TEXT}{more}");
        match supported(&scenario(&text), client) {
            Err(EngineError::Lacking(text)) => Some(text),
            Err(other) => panic!("{other}"),
            Ok(_) => None,
        }
    };
    let all = [Client::Weft, Client::Chromium, Client::Exec("true".into())];
    const TCP: &str = "[flows.tcp]\nkind = \"tcp\"\nvia = [\"a\"]";
    const UDP: &str = "[flows.udp]\nkind = \"udp\"\nvia = [\"a\"]\nrate = \"1mbit\"";
    for (more, what, by) in [
        (
            "access-delay = \"5ms\"\n",
            "`call` has an access-delay",
            [true; 3],
        ),
        (
            "access-jitter = \"5ms\"\n",
            "`call` has an access-jitter",
            [true; 3],
        ),
        (
            "repair-decoding = \"5ms\"\n",
            "`call` has a repair-decoding",
            [true; 3],
        ),
        ("weight = 2.0\n", "`call` has a weight", [true, true, false]),
        (
            "encoder = \"h264\"\n",
            "has the encoder h264",
            [false, true, false],
        ),
        (
            &format!("{TCP}\necn = true\n"),
            "`tcp` uses TCP with ECN",
            [true; 3],
        ),
        (
            &format!("{UDP}\npacket = \"3000B\"\n"),
            "`udp` sends packets of more than 1500",
            [true; 3],
        ),
        (&format!("{TCP}\n{UDP}\n"), "", [false; 3]),
    ] {
        for (client, expected) in all.iter().zip(by) {
            let text = refused(more, client);
            assert_eq!(text.is_some(), expected, "{more} {client}: {text:?}");
            assert!(
                text.as_ref().is_none_or(|text| text.contains(what)),
                "{more}: {text:?}"
            );
        }
    }
}

#[test]
fn a_part_is_left_out_in_the_simulator_only() {
    let text = TEXT.replace("\"webrtc@b\"", "\"deaf\"");
    let text = format!("{text}[system.deaf]\nscheduler = \"converge\"\nwithout = \"feedback\"\n");
    let error = supported(&scenario(&text), &Client::Weft).unwrap_err();
    assert!(error.to_string().contains("`without` a part"), "{error}");
    supported(&scenario(&text), &Client::Chromium).unwrap();
}
