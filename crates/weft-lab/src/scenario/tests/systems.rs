use weft_experiment::SideSetup;
use weft_session::Reporting;

use super::*;

#[test]
fn the_rivals_of_converge_go_by_the_names_of_its_paper() {
    const CALL: &str = r#"
title = "A call"
duration = "30s"
systems = ["webrtc-cm", "m-rtp", "m-tput", "srtt", "bare"]
[links]
line = "rate=2mbit"
[flows.call]
kind = "call"
[system.bare]
scheduler = "converge"
without = "feedback"
"#;
    let scenario = parse(CALL, &[]).unwrap();
    let side = |variant: &super::super::Variant| match &variant.setup.flows[0].kind {
        FlowKind::Call(call) => (call.caller.scheduler, call.caller.ablations),
        _ => panic!("not a call"),
    };
    let sides: Vec<_> = scenario.variants.iter().map(side).collect();
    let expected = [
        (SchedulerKind::Migrate, Ablations::NONE),
        (SchedulerKind::Mprtp, Ablations::NONE),
        (SchedulerKind::Throughput, Ablations::NONE),
        (SchedulerKind::MinRtt, Ablations::NONE),
        (SchedulerKind::Converge, Ablation::Feedback.into()),
    ];
    assert_eq!(sides, expected);
}

#[test]
fn a_system_says_what_its_ends_know_and_a_call_how_its_pictures_depend() {
    const CALL: &str = r#"
title = "A call"
duration = "30s"
systems = ["browser"]
[links]
line = "rate=2mbit"
[flows.call]
kind = "call"
temporal-layers = 3
clock-ppm = -100
device-delay = "140ms"
[system.browser]
level = "sender-side"
reports = "browser"
"#;
    let scenario = parse(CALL, &[]).unwrap();
    let FlowKind::Call(call) = &scenario.variants[0].setup.flows[0].kind else {
        panic!("not a call");
    };
    assert_eq!(call.level, weft_session::Level::SenderSide);
    let SourceKind::Model(model) = &call.caller.cameras[0].source else {
        panic!("no model");
    };
    assert_eq!(model.temporal_layers, 3);
    // Both settings belong to the receiver.
    let of = |side: &SideSetup| (side.reporting, side.clock_ppm);
    assert_eq!(of(&call.caller), (Reporting::Quick, 0));
    assert_eq!(of(&call.callee), (Reporting::Browser, -100));
    let error = parse(&CALL.replace("\"browser\"\n", "\"firefox\"\n"), &[]).unwrap_err();
    assert!(error.contains("write quick or browser"), "{error}");
    let error = parse(&CALL.replace("-100", "2000"), &[]).unwrap_err();
    assert!(error.contains("at most 1000 parts per million"), "{error}");
    assert_eq!(
        call.caller.cameras[0].device_delay,
        Duration::from_millis(140)
    );
    let error = parse(&CALL.replace("sender-side", "half"), &[]).unwrap_err();
    assert!(error.contains("write full, sender-side"), "{error}");
    let error = parse(&CALL.replace("= 3", "= 2"), &[]).unwrap_err();
    assert!(error.contains("temporal-layers = 2"), "{error}");
}

#[test]
fn a_webrtc_application_has_todays_controller_unless_the_system_names_one() {
    const CALL: &str = r#"
title = "A call"
duration = "30s"
systems = ["today", "then"]
[links]
line = "rate=2mbit"
[flows.call]
kind = "call"
app = "signal"
[system.today]
[system.then]
controller = "gcc_2022"
"#;
    let scenario = parse(CALL, &[]).unwrap();
    let controllers = scenario.variants.iter().map(|variant| {
        let FlowKind::Call(call) = &variant.setup.flows[0].kind else {
            panic!("not a call");
        };
        (call.caller.controller, call.callee.controller)
    });
    let (today, then) = (ControllerKind::GccDeployed, ControllerKind::Gcc2022);
    assert_eq!(
        controllers.collect::<Vec<_>>(),
        [(today, today), (then, then)]
    );
}

#[test]
fn a_system_names_a_controller_of_the_program() {
    const CALL: &str = r#"
title = "A call"
duration = "30s"
systems = ["weft/mine"]
[links]
line = "rate=2mbit"
[flows.call]
kind = "call"
"#;
    let make: weft_cc::MakeController =
        Box::new(|limits, _| Box::new(weft_cc::Fixed::new(limits.start, limits)));
    let mine = weft_cc::CustomController::new("mine".to_owned(), make);
    let mine: &'static weft_cc::CustomController = Box::leak(Box::new(mine));
    let custom = Custom {
        controllers: vec![mine],
        ..Custom::default()
    };
    let read = |text: &str| Scenario::parse_with("t.toml", text, &[], &custom);
    let scenario = read(CALL).unwrap();
    let FlowKind::Call(call) = &scenario.variants[0].setup.flows[0].kind else {
        panic!("not a call");
    };
    assert_eq!(call.caller.controller, ControllerKind::Custom(mine));
    assert_eq!(scenario.variants[0].name, "weft/mine");
    let error = read(&CALL.replace("mine", "mien")).unwrap_err().to_string();
    assert!(
        error.contains("a controller of this program: `mine`"),
        "{error}"
    );
    let without = parse(CALL, &[]).unwrap_err();
    assert!(without.contains("unknown controller `mine`"), "{without}");
}

#[test]
fn systems_lay_their_values_over_the_file() {
    let text = format!(
        "{TCP}\n[system.small]\nset = {{ links.bottleneck.queue = \"10kB\" }}\n[system.large.set.links.bottleneck]\nqueue = \"90kB\"\n"
    );
    let scenario = parse(&text, &[]).unwrap();
    let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["small", "large"]);
    let queues = scenario
        .variants
        .iter()
        .map(|v| forward(&v.setup.links[0]).to_string());
    let queues: Vec<String> = queues.collect();
    assert!(
        queues[0].contains("queue=10000B") || queues[0].contains("queue=10kB"),
        "{queues:?}"
    );
    assert_ne!(queues[0], queues[1]);
    // An error in it has its own location.
    let error = parse(&text.replace("\"90kB\"", "\"90KB\""), &[]).unwrap_err();
    assert!(error.contains("queue = \"90KB\""), "{error}");
}

#[test]
fn varied_values_multiply() {
    let vary = "[[vary]]\nkey = \"links.bottleneck.queue\"\nvalues = [\"1bdp\", \"2bdp\"]\n\
                [[vary]]\nkey = \"flows.tcp.algorithm\"\nvalues = [\"cubic\", \"reno\"]\n";
    let scenario = parse(&format!("{TCP}\n{vary}"), &[]).unwrap();
    let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(
        names,
        ["1bdp, cubic", "1bdp, reno", "2bdp, cubic", "2bdp, reno"]
    );
    let error = parse(&format!("{TCP}\n{}", vary.replace("reno", "vegas")), &[]).unwrap_err();
    assert!(
        error.starts_with("t.toml:17:20: there is no TCP algorithm `vegas`"),
        "{error}"
    );
}

#[test]
fn keys_without_effect_are_refused_in_a_system() {
    for (set, place, part) in [
        ("measure-from = \"5s\"", "t.toml:13:9", "`measure-from`"),
        ("seeds = 3", "t.toml:13:9", "`seeds`"),
        ("title = \"x\"", "t.toml:13:9", "`title`"),
        ("centre = \"median\"", "t.toml:13:9", "`centre`"),
        ("metrics = [\"loss\"]", "t.toml:13:9", "`metrics`"),
    ] {
        let error = parse(&format!("{TCP}\n[system.x]\nset = {{ {set} }}\n"), &[]).unwrap_err();
        assert!(error.starts_with(place), "{set}: {error}");
        for part in [part, "give it once"] {
            assert!(error.contains(part), "{set}: wants {part}: {error}");
        }
    }
    // It has its own length, which is checked like that of the whole.
    let long = format!("{TCP}\n[system.x]\nset = {{ duration = \"40s\" }}\n");
    let long = parse(&long, &[]).unwrap();
    assert_eq!(long.variants[0].setup.duration, Duration::from_secs(40));
    let late = TCP.replace("title", "measure-from = \"20s\"\ntitle");
    let late = format!("{late}\n[system.x]\nset = {{ duration = \"10s\" }}\n");
    let error = parse(&late, &[]).unwrap_err();
    assert!(error.contains("measuring begins after"), "{error}");
}

#[test]
fn keys_without_effect_are_refused_in_vary() {
    for (key, values, place, parts) in [
        ("\"seeds\"", "[1, 2]", "t.toml:13:7", ["`seeds`", "once"]),
        (
            "\"measure-from\"",
            "[\"0s\", \"1s\"]",
            "t.toml:13:7",
            ["`measure-from`", "once"],
        ),
        ("\"title\"", "[\"x\"]", "t.toml:13:7", ["`title`", "once"]),
        (
            "\"system.x.set.links.bottleneck.rate\"",
            "[\"1mbit\"]",
            "t.toml:13:7",
            ["`set` of the system `x`", "the field that it names"],
        ),
        (
            "[]",
            "[1, 2]",
            "t.toml:13:7",
            ["`key` is empty", "name a field"],
        ),
        (
            "[\"flows.tcp.connections\", \"flows.tcp.connections\"]",
            "[1, 2]",
            "t.toml:13:7",
            ["`flows.tcp.connections` is varied twice", "keep one"],
        ),
        (
            "\"flows.tcp.connections\"",
            "[1, 2, 1]",
            "t.toml:14:17",
            ["\"1\" is repeated", "once"],
        ),
    ] {
        let vary = format!("\n[[vary]]\nkey = {key}\nvalues = {values}\n");
        let error = parse(&format!("{TCP}{vary}"), &[]).unwrap_err();
        assert!(error.starts_with(place), "{key}: {error}");
        for part in parts {
            assert!(error.contains(part), "{key}: wants {part}: {error}");
        }
    }
    let vary = "\n[[vary]]\nkey = \"links.bottleneck.rate\"\nvalues = [\"1mbit\", \"2mbit\"]\n";
    let error = parse(&format!("{TCP}{vary}{vary}"), &[]).unwrap_err();
    assert!(
        error.starts_with("t.toml:17:7: `links.bottleneck.rate` is varied twice"),
        "{error}"
    );
}

const CAMERAS: &str = r#"
title = "Calls of one to three cameras"
duration = "10s"
systems = ["weft"]

[links]
line = "rate=3mbit,delay=10ms"

[flows.call]
kind = "call"

[[vary]]
key = "flows.call.streams"
values = [1, 2, 3]
label = "cameras"

[[published]]
system = "weft (cameras 2)"
metric = "fps"
value = 24.0
source = "a book"
"#;

#[test]
fn numbers_vary_under_their_label_and_set_picks_one() {
    let cameras = |set: &[&str]| -> Vec<(String, usize)> {
        let scenario = parse(CAMERAS, set).unwrap();
        let of = |setup: &weft_experiment::Setup| match &setup.flows[0].kind {
            FlowKind::Call(call) => call.caller.cameras.len(),
            _ => 0,
        };
        let variants = scenario.variants.iter();
        variants.map(|v| (v.name.clone(), of(&v.setup))).collect()
    };
    let all = [1, 2, 3].map(|n| (format!("weft (cameras {n})"), n));
    assert_eq!(cameras(&[]), all);
    assert_eq!(cameras(&["flows.call.streams=2"]), all[1..2]);
    let error = parse(&CAMERAS.replace("(cameras 2", "(cameras 4"), &[]).unwrap_err();
    assert!(
        error.contains("`cameras 4`") && error.contains("cameras 2"),
        "{error}"
    );
    let error = parse(&CAMERAS.replace("weft (cam", "wefd (cam"), &[]).unwrap_err();
    assert!(error.contains("did you mean `weft`?"), "{error}");
}

#[test]
fn keys_vary_together() {
    let text = CAMERAS.replace(
        "\"flows.call.streams\"",
        "[\"flows.call.streams\", \"flows.call.frame-rate\"]",
    );
    let scenario = parse(&text, &[]).unwrap();
    assert_eq!(scenario.variants.len(), 3);
    let expected = ["flows.call.streams", "flows.call.frame-rate"];
    let expected = expected.map(|key| (key.to_owned(), "2".to_owned()));
    assert_eq!(scenario.variants[1].case, expected);
}

const CALLS: &str = r#"
title = "Two calls"
duration = "30s"
systems = ["nada", "single/gcc", "weft/nada@line"]

[links.line]
spec = "rate=2mbit,delay=25ms"

[flows.one]
kind = "call"
weight = 2

[flows.two]
kind = "call"
"#;

#[test]
fn a_call_has_a_weight_beside_others() {
    let scenario = parse(CALLS, &[]).unwrap();
    let weights = scenario.variants[0].setup.flows.iter().map(|flow| {
        let FlowKind::Call(call) = &flow.kind else {
            panic!("{} is no call", flow.name);
        };
        call.caller.weight
    });
    assert_eq!(weights.collect::<Vec<_>>(), [2.0, 1.0]);
    let wrong = parse(&CALLS.replace("weight = 2", "weight = 20"), &[]).unwrap_err();
    assert!(wrong.contains("a weight is 0.1 to 10"), "{wrong}");
}

#[test]
fn calls_may_all_have_systems_of_their_own() {
    let text = CALLS.replace("kind = \"call\"", "kind = \"call\"\nsystem = \"nada\"");
    let text = text.replace("systems = ", "# ");
    let scenario = parse(&text, &[]).unwrap();
    let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["all"]);
    let variant = &scenario.variants[0];
    assert_eq!(variant.focus, [0, 1]);
    let FlowKind::Call(call) = &variant.setup.flows[1].kind else {
        panic!("not a call");
    };
    assert_eq!(call.caller.scheduler, SchedulerKind::Single);
}

#[test]
fn a_controller_alone_is_that_of_a_single_path() {
    let names = |set: &[&str]| {
        let scenario = parse(CALLS, set).unwrap();
        let variants = scenario.variants.into_iter();
        variants.map(|v| v.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["single/nada", "single/gcc", "weft/nada@line"]);
    let set = r#"systems=["gcc@line", "scream_v1"]"#;
    assert_eq!(names(&[set]), ["single/gcc@line", "single/scream_v1"]);
    let set = r#"systems=["gcc-deployed", "min-rtt/gcc-draft@line"]"#;
    let full = ["single/gcc_deployed", "min_rtt/gcc_draft@line"];
    assert_eq!(names(&[set]), full);
    // Names of systems anywhere in the file.
    let published = r#"[[published]]
        system = "gcc-deployed"
        relative-to = "nada"
        metric = "fps"
        value = 1
        source = "s"
    "#;
    let text = format!("{CALLS}\n{published}");
    let [published] = &parse(&text, &[set]).unwrap().published[..] else {
        panic!("one");
    };
    assert_eq!(published.system, "single/gcc_deployed");
    assert_eq!(published.relative_to.as_deref(), Some("single/nada"));
    let scenario = parse(CALLS, &["baseline=nada"]).unwrap();
    assert_eq!(scenario.baseline.as_deref(), Some("single/nada"));
}

#[test]
fn a_system_of_the_file_may_be_run_over_some_of_the_links() {
    const CALL: &str = r#"
title = "A call"
duration = "30s"
systems = ["bold@near", "bold@far+near", "bold"]
[links]
near = "rate=2mbit"
far = "rate=2mbit"
[flows.call]
kind = "call"
[system.bold]
scheduler = "weft"
prefer = "pixels"
links = ["far"]
set = { flows.call.max-rate = "1mbit" }
"#;
    let scenario = parse(CALL, &[]).unwrap();
    let told = |variant: &super::super::Variant| match &variant.setup.flows[0].kind {
        FlowKind::Call(call) => {
            assert_eq!(call.caller.preference, weft_session::Preference::Pixels);
            let routes = variant.setup.flows[0].routes.iter();
            let links: Vec<usize> = routes.map(|route| route.hops[0].link).collect();
            (variant.name.clone(), call.caller.max_rate.as_bps(), links)
        }
        _ => panic!("not a call"),
    };
    let told: Vec<_> = scenario.variants.iter().map(told).collect();
    let expected = [
        ("bold@near", vec![0]),
        ("bold@far+near", vec![1, 0]),
        ("bold", vec![1]),
    ];
    let expected = expected.map(|(name, links)| (name.to_owned(), 1_000_000, links));
    assert_eq!(told, expected);
    let error = parse(&CALL.replace("bold@near", "bold@nea"), &[]).unwrap_err();
    assert!(error.contains("`nea`") && error.contains("near"), "{error}");
}
