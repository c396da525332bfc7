use super::{Scenario, short_name};
use proptest::prelude::*;
use weft_experiment::{CongestionKind, Direction, FlowKind};
use weft_session::{Ablation, SchedulerKind};
use weft_units::Duration;

const TCP: &str = r#"
title = "One TCP flow"
duration = "30s"

[links.bottleneck]
spec = "rate=2mbit,delay=25ms,queue=2bdp"

[flows.tcp]
kind = "tcp"
algorithm = "cubic"
"#;

fn parse(text: &str, set: &[&str]) -> Result<Scenario, String> {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Scenario::parse("t.toml", text, &set).map_err(|error| error.to_string())
}

/// The error of this text with one line changed.
fn error_with(line: &str, by: &str) -> String {
    assert!(TCP.contains(line), "{line}");
    parse(&TCP.replace(line, by), &[]).unwrap_err()
}

#[test]
fn a_file_with_one_tcp_flow_is_a_setup() {
    let scenario = parse(TCP, &[]).unwrap();
    assert_eq!((scenario.seeds, scenario.variants.len()), (5, 1));
    let variant = &scenario.variants[0];
    assert_eq!(variant.setup.duration, Duration::from_secs(30));
    assert_eq!(
        variant.setup.links[0].forward,
        "rate=2mbit,delay=25ms,queue=2bdp".parse().unwrap()
    );
    assert!(matches!(variant.setup.flows[0].kind, FlowKind::Tcp(_)));
    assert_eq!(variant.focus, [0]);
}

#[test]
fn what_is_wrong_is_told_with_line_column_and_remedy() {
    for (line, by, place, parts) in [
        (
            "algorithm",
            "algoritm",
            "t.toml:10:1",
            vec!["`algoritm`", "did you mean `algorithm`?"],
        ),
        (
            "\"cubic\"",
            "\"cubik\"",
            "t.toml:10:13",
            vec!["no TCP algorithm `cubik`", "`cubic`", "reno"],
        ),
        (
            "rate=2mbit",
            "rate=-2mbit",
            "t.toml:6:8",
            vec!["`bottleneck`", "rate=-2mbit", "5mbit"],
        ),
        (
            "queue=2bdp",
            "que=2bdp",
            "t.toml:6:8",
            vec!["'que'", "queue"],
        ),
        (
            "queue=2bdp",
            "queue=2bdp,rate=3mbit",
            "t.toml:6:8",
            vec!["`rate` and `rate`", "keep one"],
        ),
        (
            "queue=2bdp",
            "queue=2bdp,trace=t.csv",
            "t.toml:6:8",
            vec!["`rate` and `trace`", "keep one"],
        ),
        (
            "queue=2bdp",
            "queue",
            "t.toml:6:8",
            vec!["\"queue\" has no `=`"],
        ),
        (
            "\"30s\"",
            "30",
            "t.toml:3:12",
            vec!["\"30\" is not a time", "\"30s\""],
        ),
        ("\"30s\"", "\"0s\"", "t.toml:3:12", vec!["no duration"]),
        (
            "\"30s\"",
            "\"-3s\"",
            "t.toml:3:12",
            vec!["cannot be negative"],
        ),
        (
            "\"tcp\"",
            "\"tpc\"",
            "t.toml:9:8",
            vec!["there is no `tpc`", "`tcp`", "udp"],
        ),
        (
            "\"tcp\"",
            "\"udp\"",
            "t.toml:10:13",
            vec!["`algorithm` belongs", "\"tcp\"", "remove"],
        ),
        (
            "title = \"One TCP flow\"",
            "",
            "t.toml",
            vec!["missing field `title`"],
        ),
        (
            "[flows.tcp]",
            "[flows.tcp]\nstart = \"40s\"",
            "t.toml:9:9",
            vec!["starts at 40s", "end of the run at 30s", "earlier"],
        ),
        (
            "[flows.tcp]",
            "[flows.call]\nkind = \"call\"\nstreams = 0\n\n[flows.tcp]",
            "t.toml:10:11",
            vec!["at least one camera", "streams = 1"],
        ),
        (
            "[flows.tcp]",
            "[flows.call]\nkind = \"call\"\nmax-rate = \"0mbit\"\n\n[flows.tcp]",
            "t.toml:10:12",
            vec!["may send nothing", "max-rate = \"2mbit\""],
        ),
        (
            "[flows.tcp]",
            "[flows.tcp]\nstart = \"9s\"\nstop = \"8s\"",
            "t.toml:10:8",
            vec!["stops at 8s", "later"],
        ),
        (
            "[flows.tcp]",
            "[flows.tcp]\nvia = [\"bottelneck\"]",
            "t.toml:9:8",
            vec!["no link `bottelneck`", "`bottleneck`"],
        ),
        (
            "[flows.tcp]",
            "[flows.tcp]\npause = \"1s\"",
            "t.toml:9:9",
            vec!["`sizes"],
        ),
        (
            "[flows.tcp]",
            "[flow.tcp]",
            "t.toml:8:2",
            vec!["`flow`", "did you mean `flows`?"],
        ),
        (
            "[flows.tcp]",
            "[flows.first]\nkind = \"tcp\"\n[flows.second]\nkind = \"tcp\"\nconnections = 0\n[flows.tcp]",
            "t.toml:10:8",
            vec!["flow 'second'"],
        ),
        (
            "[flows.tcp]",
            "[flows.tcp]\naccess-delay = \"90min\"",
            "t.toml:9:16",
            vec!["an access delay is"],
        ),
        (
            "title",
            "systems = []\ntitle",
            "t.toml:2:11",
            vec!["`systems` is empty"],
        ),
        (
            "algorithm = \"cubic\"",
            "[[vary]]\nkey = \"flows.tcp.algoritm\"\nvalues = [\"reno\"]",
            "t.toml:11:7",
            vec!["`algoritm`", "did you mean `algorithm`?"],
        ),
        ("title", "seeds = 0\ntitle", "t.toml:2:9", vec!["0 seeds"]),
        (
            "title",
            "metrics = [\"throughputs\"]\ntitle",
            "t.toml:2:12",
            vec!["throughput_mbps"],
        ),
        (
            "title",
            "baseline = \"webrtc@wifi\"\ntitle",
            "t.toml:2:12",
            vec!["no link `wifi`", "bottleneck"],
        ),
        (
            "title",
            "systems = [\"webrtk\"]\ntitle",
            "t.toml:2:12",
            vec!["`webrtk`", "did you mean `webrtc`?"],
        ),
        (
            "title",
            "systems = [\"nado\"]\ntitle",
            "t.toml:2:12",
            vec!["no system `nado`", "did you mean `nada`?"],
        ),
        (
            "[flows.tcp]",
            "[system.mine]\nscheduler = \"nada\"\n[flows.tcp]",
            "t.toml:9:13",
            vec!["no scheduler `nada`", "weft"],
        ),
    ] {
        let error = error_with(line, by);
        assert!(error.starts_with(place), "{by}: {error}");
        for part in parts {
            assert!(error.contains(part), "{by}: wants {part}: {error}");
        }
    }
}

#[test]
fn the_place_is_shown() {
    let error = error_with("\"cubic\"", "\"cubik\"");
    assert!(
        error.ends_with("10 | algorithm = \"cubik\"\n   |             ^^^^^^^"),
        "{error}"
    );
}

#[test]
fn set_changes_one_field_and_answers_for_it() {
    let scenario = parse(
        TCP,
        &[
            "links.bottleneck.queue=60kB",
            "seeds=3",
            "flows.tcp.start=5s",
        ],
    )
    .unwrap();
    assert_eq!(scenario.seeds, 3);
    let setup = &scenario.variants[0].setup;
    assert_eq!(
        setup.links[0].forward,
        "rate=2mbit,delay=25ms,queue=60kB".parse().unwrap()
    );
    assert_eq!(setup.flows[0].start, Duration::from_secs(5));
    let error = parse(TCP, &["seeds=3", "links.bottleneck.queue=60kb"]).unwrap_err();
    assert!(
        error.starts_with("--set links.bottleneck.queue=\"60kb\": "),
        "{error}"
    );
    let error = parse(TCP, &["links.bottleneck.quue=60kB"]).unwrap_err();
    assert!(error.contains("did you mean `queue`?"), "{error}");
    let error = parse(TCP, &["seeds"]).unwrap_err();
    assert!(error.contains("KEY=VALUE"), "{error}");
}

#[test]
fn what_the_scenario_does_not_have_cannot_be_changed() {
    for (argument, parts) in [
        (
            "links.bottelneck.rate=5mbit",
            ["no link `bottelneck`", "did you mean `bottleneck`?"],
        ),
        (
            "links.nope=\"rate=5mbit\"",
            ["there are bottleneck", "[links.nope]"],
        ),
        ("flows.call.kind=call", ["no flow `call`", "there are tcp"]),
    ] {
        let error = parse(TCP, &[argument]).unwrap_err();
        let key = argument.split_once('=').unwrap().0;
        assert!(error.starts_with(&format!("--set {key}=")), "{error}");
        for part in parts {
            assert!(error.contains(part), "{argument}: wants {part}: {error}");
        }
    }
    let vary = "\n[[vary]]\nkey = \"links.nope.rate\"\nvalues = [\"1mbit\"]\n";
    let error = parse(&format!("{TCP}{vary}"), &[]).unwrap_err();
    assert!(
        error.starts_with("t.toml:13:7: there is no link `nope`"),
        "{error}"
    );
    // A file without systems of its own gets one; a file with some does not.
    parse(TCP, &["system.mine.scheduler=weft"]).unwrap();
    let own = format!("{TCP}\n[system.mine]\nscheduler = \"weft\"\n");
    let error = parse(&own, &["system.yours.scheduler=weft"]).unwrap_err();
    assert!(error.contains("there are mine"), "{error}");
}

#[test]
fn a_value_of_another_kind_is_told_with_what_belongs_there() {
    let error = parse(TCP, &["seeds=abc"]).unwrap_err();
    assert!(error.starts_with("--set seeds=\"abc\": "), "{error}");
    assert!(error.contains("a whole number"), "{error}");
    let error = parse(TCP, &["systems=weft"]).unwrap_err();
    assert!(
        error.contains("\"weft\" cannot stand here: write a list"),
        "{error}"
    );
}

#[test]
fn a_trace_that_is_no_trace_is_told_where_it_is_named() {
    let error = parse(TCP, &["links.bottleneck.trace=generated:flying/wifi"]).unwrap_err();
    assert!(
        error.starts_with(
            "--set links.bottleneck.trace=\"generated:flying/wifi\": link `bottleneck`"
        ),
        "{error}"
    );
    assert!(error.contains("walking"), "{error}");
}

#[test]
fn a_trace_may_begin_with_a_byte_order_mark_and_has_each_second_once() {
    let folder = tempfile::tempdir().unwrap();
    let parse_with = |text: &str| {
        let path = folder.path().join("t.csv");
        std::fs::write(&path, text).unwrap();
        parse(
            TCP,
            &[&format!("links.bottleneck.trace={}", path.display())],
        )
    };
    parse_with("\u{feff}0,1000\n1,3000\n").unwrap();
    let error = parse_with("0,1000\n0,3000\n").unwrap_err();
    assert!(
        error.contains("line 2, column 1: second 0 stands on the line before"),
        "{error}"
    );
}

#[test]
fn a_trace_replaces_a_rate_and_the_way_back_is_as_there_unless_said() {
    let text = TCP.replace("spec =", "back = \"rate=1mbit\"\nspec =");
    let link = &parse(&text, &[]).unwrap().variants[0].setup.links[0].clone();
    assert_eq!(
        link.backward,
        "rate=1mbit,delay=25ms,queue=2bdp".parse().unwrap()
    );
    assert_eq!(
        link.forward,
        "rate=2mbit,delay=25ms,queue=2bdp".parse().unwrap()
    );
}

#[test]
fn steps_are_a_schedule() {
    let steps = "[links.bottleneck]\nsteps = [{ at = \"10s\", rate = \"1mbit\" }, { at = \"20s\", rate = \"3mbit\" }]";
    let text = TCP.replace("[links.bottleneck]", steps);
    let link = &parse(&text, &[]).unwrap().variants[0].setup.links[0].clone();
    assert_ne!(link.forward, link.backward, "the way back keeps its rate");
    let error = parse(&text.replace("\"20s\"", "\"5s\""), &[]).unwrap_err();
    assert!(error.contains("sort the steps"), "{error}");
    let error = parse(&text.replace(", rate = \"3mbit\"", ""), &[]).unwrap_err();
    assert!(error.contains("changes nothing"), "{error}");
    let other = text.replace("rate = \"3mbit\"", "delay = \"9ms\", loss = \"100%\"");
    let link = &parse(&other, &[]).unwrap().variants[0].setup.links[0].clone();
    let last = link.forward.line_steps[1];
    assert_eq!(
        (last.delay, last.loss),
        (Some(Duration::from_millis(9)), Some(1.0))
    );
    let error = parse(&other.replace("100%", "101%"), &[]).unwrap_err();
    assert!(error.contains("at most"), "{error}");
}

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
    let side = |variant: &super::Variant| match &variant.setup.flows[0].kind {
        FlowKind::Call(call) => (call.caller.scheduler, call.caller.ablation),
        _ => panic!("not a call"),
    };
    let sides: Vec<_> = scenario.variants.iter().map(side).collect();
    let expected = [
        (SchedulerKind::Migrate, Ablation::None),
        (SchedulerKind::Mprtp, Ablation::None),
        (SchedulerKind::Throughput, Ablation::None),
        (SchedulerKind::MinRtt, Ablation::None),
        (SchedulerKind::Converge, Ablation::Feedback),
    ];
    assert_eq!(sides, expected);
    let error = parse(&CALL.replace("\"feedback\"", "\"fec\""), &[]).unwrap_err();
    assert!(error.contains("there are: nothing, feedback"), "{error}");
}

#[test]
fn systems_lay_their_values_over_the_file() {
    let text = format!(
        "{TCP}\n[system.small]\nset = {{ links.bottleneck.queue = \"10kB\" }}\n[system.large.set.links.bottleneck]\nqueue = \"90kB\"\n"
    );
    let scenario = parse(&text, &[]).unwrap();
    let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["small", "large"]);
    assert_eq!(scenario.baseline.as_deref(), Some("small"));
    let queues = scenario
        .variants
        .iter()
        .map(|v| v.setup.links[0].forward.to_string());
    let queues: Vec<String> = queues.collect();
    assert!(
        queues[0].contains("queue=10000B") || queues[0].contains("queue=10kB"),
        "{queues:?}"
    );
    assert_ne!(queues[0], queues[1]);
    // A mistake in it has its own place.
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
fn what_would_change_nothing_is_refused_in_a_system() {
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
    // How long it runs is its own, and is checked as that of the whole is.
    let long = format!("{TCP}\n[system.x]\nset = {{ duration = \"40s\" }}\n");
    let long = parse(&long, &[]).unwrap();
    assert_eq!(long.variants[0].setup.duration, Duration::from_secs(40));
    let late = TCP.replace("title", "measure-from = \"20s\"\ntitle");
    let late = format!("{late}\n[system.x]\nset = {{ duration = \"10s\" }}\n");
    let error = parse(&late, &[]).unwrap_err();
    assert!(error.contains("measuring begins after"), "{error}");
}

#[test]
fn what_would_change_nothing_is_refused_in_vary() {
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
            ["\"1\" stands there already", "once"],
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

#[test]
fn the_fields_of_the_whole_are_fields() {
    let fields = fields::<super::file::File>();
    for field in super::tree::OF_THE_WHOLE {
        assert!(fields.iter().any(|each| each == field), "{field}");
    }
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

#[test]
fn a_flow_backwards_crosses_the_links_the_other_way() {
    let text = TCP.replace("spec =", "# first\nspec =");
    let text = text.replace(
        "[flows.tcp]",
        "[links.second]\nspec = \"rate=9mbit\"\n[flows.tcp]\ndirection = \"backward\"",
    );
    let text = text.replace("title", "topology = \"parking-lot\"\ntitle");
    let setup = parse(&text, &[]).unwrap().variants[0].setup.clone();
    let hops: Vec<_> = setup.flows[0].routes[0]
        .hops
        .iter()
        .map(|h| (h.link, h.direction))
        .collect();
    assert_eq!(hops, [(1, Direction::Backward), (0, Direction::Backward)]);
    let error = parse(&text.replace("parking-lot", "parallel"), &[]).unwrap_err();
    assert!(error.contains("add via = [\"bottleneck\"]"), "{error}");
    let error = parse(&text.replace("parking-lot", "dumbbell"), &[]).unwrap_err();
    assert!(error.contains("one link"), "{error}");
}

const CHAIN: &str = r#"
title = "Two links one behind the other"
duration = "30s"
topology = "parking-lot"

[links]
a = "rate=5mbit"
b = "rate=1mbit"

[flows.call]
kind = "call"
"#;

#[test]
fn in_a_parking_lot_no_system_has_links_of_its_own() {
    let scenario = parse(CHAIN, &[]).unwrap();
    let names: Vec<&str> = scenario.variants.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["webrtc", "weft"]);
    let flows = scenario.variants.iter().map(|v| &v.setup.flows[0]);
    assert!(flows.clone().all(|flow| flow.routes[0].hops.len() == 2));
    for (line, by, place) in [
        (
            "topology",
            "systems = [\"webrtc@a\", \"weft\"]\ntopology",
            "t.toml:4:12: ",
        ),
        (
            "kind = \"call\"",
            "kind = \"call\"\nsystem = \"weft@b\"",
            "t.toml:12:10: ",
        ),
        (
            "[flows.call]",
            "[system.mine]\nlinks = [\"a\"]\n[flows.call]",
            "t.toml:11:9: ",
        ),
    ] {
        let error = parse(&CHAIN.replace(line, by), &[]).unwrap_err();
        assert!(error.starts_with(place), "{by}: {error}");
        for part in ["parking lot", "without links", "\"parallel\""] {
            assert!(error.contains(part), "{by}: wants {part}: {error}");
        }
    }
    // A call goes its own way all the same.
    let via = CHAIN.replace("kind = \"call\"", "kind = \"call\"\nvia = [\"b\"]");
    let via = parse(&via, &[]).unwrap();
    assert_eq!(via.variants[0].setup.flows[0].routes[0].hops[0].link, 1);
}

#[test]
fn links_are_named_once() {
    let beside = CHAIN.replace("\"parking-lot\"", "\"parallel\"");
    for (line, by, place) in [
        (
            "topology",
            "systems = [\"weft@a+b+a\"]\ntopology",
            "t.toml:4:12: link `a` is named twice",
        ),
        (
            "kind = \"call\"",
            "kind = \"call\"\nvia = [\"b\", \"b\"]",
            "t.toml:12:13: link `b` is named twice",
        ),
        (
            "kind = \"call\"",
            "kind = \"call\"\nvia = []",
            "t.toml:12:7: `via` is empty",
        ),
        (
            "[flows.call]",
            "[system.mine]\nlinks = []\n[flows.call]",
            "t.toml:11:9: `links` is empty",
        ),
    ] {
        let error = parse(&beside.replace(line, by), &[]).unwrap_err();
        assert!(error.starts_with(place), "{by}: {error}");
    }
}

#[test]
fn a_published_value_is_a_number_a_range_or_a_bound() {
    let with = |published: &str| {
        let entry = "[[published]]\nsystem = \"all\"\nmetric = \"loss\"\nsource = \"a book\"";
        parse(&format!("{TCP}\n{entry}\n{published}\n"), &[])
    };
    for (published, low, high) in [
        ("low = 1", 1.0, f64::INFINITY),
        ("high = 2", f64::NEG_INFINITY, 2.0),
        ("low = 1\nhigh = 1", 1.0, 1.0),
        ("value = -10", -11.0, -9.0),
        ("value = 10\ntolerance = \"20%\"", 8.0, 12.0),
    ] {
        let known = &with(published).unwrap().published[0];
        assert_eq!((known.low, known.high), (low, high), "{published}");
    }
    for (published, place, part) in [
        (
            "value = nan",
            "t.toml:16:9: ",
            "no number that can be measured",
        ),
        (
            "low = 1\nhigh = inf",
            "t.toml:17:8: ",
            "leave `low` or `high` away",
        ),
        (
            "low = -inf",
            "t.toml:16:7: ",
            "no number that can be measured",
        ),
        ("low = 2\nhigh = 1", "t.toml:17:8: ", "exchange them"),
        (
            "value = 2\nhigh = 1",
            "t.toml:17:8: ",
            "keep the one or the other",
        ),
        (
            "low = 2\ntolerance = \"10%\"",
            "t.toml:17:13: ",
            "belongs to `value`",
        ),
        ("", "t.toml:14:10: ", "give `value`, or `low`"),
    ] {
        let error = with(published).unwrap_err();
        assert!(error.starts_with(place), "{published}: {error}");
        assert!(error.contains(part), "{published}: {error}");
    }
}

#[test]
fn a_metric_is_of_a_flow_or_link_that_there_is() {
    for (text, place) in [
        ("metrics = [\"loss\", \"loss.cal\"]\ntitle", "t.toml:2:20: "),
        (
            "published = [{ system = \"weft\", metric = \"loss.cal\", value = 1.0, source = \"a book\" }]\ntitle",
            "t.toml:2:42: ",
        ),
    ] {
        let error = parse(&CHAIN.replace("title", text), &[]).unwrap_err();
        assert!(error.starts_with(place), "{error}");
        for part in ["no flow or link `cal`", "`call`", "there are call, a, b"] {
            assert!(error.contains(part), "wants {part}: {error}");
        }
    }
    // Those that one of the systems adds are there.
    let more = "[system.more.set.flows.more]\nkind = \"udp\"\nrate = \"1mbit\"\n";
    let more = format!("{CHAIN}{more}[system.weft]\n");
    let more = more.replace(
        "title",
        "metrics = [\"loss.more\", \"utilisation.b\"]\ntitle",
    );
    for set in [&[][..], &["systems=[\"weft\"]"]] {
        assert_eq!(parse(&more, set).unwrap().metrics.len(), 2);
    }
}

#[test]
fn a_name_in_results_stands_for_one_thing() {
    let beside = CHAIN.replace("\"parking-lot\"", "\"parallel\"");
    for (line, by, place, parts) in [
        (
            "b = \"",
            "a-back = \"",
            "t.toml:8:1: ",
            ["the way back of link `a` and link `a-back`", "rename one"],
        ),
        (
            "[flows.call]",
            "[flows.a]",
            "t.toml:10:8: ",
            ["link `a` and flow `a`", "rename one"],
        ),
        (
            "[flows.call]",
            "[flows.\"call@b\"]\nkind = \"udp\"\nrate = \"1mbit\"\nvia = [\"b\"]\n[flows.call]",
            "t.toml:14:8: ",
            [
                "flow `call@b` and the path of flow `call` over link `b`",
                "rename one",
            ],
        ),
        (
            "topology",
            "systems = [\"weft/nada\", \"weft_nada\"]\nsystem.weft_nada.controller = \"scream\"\ntopology",
            "t.toml:4:25: ",
            ["`weft/nada` and `weft_nada`", "files called weft_nada"],
        ),
    ] {
        let error = parse(&beside.replace(line, by), &[]).unwrap_err();
        assert!(error.starts_with(place), "{by}: {error}");
        for part in parts {
            assert!(error.contains(part), "{by}: wants {part}: {error}");
        }
    }
}

#[test]
fn names_come_from_paths() {
    assert_eq!(short_name("scenarios/demo/aqm.toml"), "demo/aqm");
    assert_eq!(short_name("demo/aqm"), "demo/aqm");
    assert_eq!(short_name("x.toml"), "x");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_with_a_place(at in 0..TCP.len(), junk in ".{0,6}") {
        // The text has ASCII only.
        let text = format!("{}{junk}{}", &TCP[..at], &TCP[at..]);
        if let Err(error) = parse(&text, &[]) {
            prop_assert!(error.starts_with("t.toml"), "{error}");
        }
    }
}

/// The names that a table may have, as the reader lists them when it finds
/// another one.
fn fields<T: for<'de> serde::Deserialize<'de>>() -> Vec<String> {
    let error = toml::from_str::<T>("zz = 1")
        .err()
        .expect("no field is called so");
    let quoted = error.message().split('`').skip(1).step_by(2).skip(1);
    quoted.map(str::to_owned).collect()
}

fn algorithms() -> Vec<String> {
    let names = CongestionKind::ALL.iter().map(|kind| kind.name());
    names.map(|name| format!("\"{name}\"")).collect()
}

#[test]
fn the_book_has_every_field() {
    use super::file::{File, Flow, Link, Published, Step, System, Vary};
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/experiment/scenarios.md"
    );
    let book = std::fs::read_to_string(path).unwrap();
    for (place, fields) in [
        ("the whole", fields::<File>()),
        ("links", fields::<Link>()),
        ("steps", fields::<Step>()),
        ("flows", fields::<Flow>()),
        ("systems", fields::<System>()),
        ("vary", fields::<Vary>()),
        ("published", fields::<Published>()),
        ("algorithms", algorithms()),
    ] {
        assert!(fields.len() > 1, "{place}: {fields:?}");
        for field in fields {
            assert!(
                book.contains(&format!("`{field}`")),
                "{place}: docs/experiment/scenarios.md has no `{field}`"
            );
        }
    }
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
    // Wherever a system is named.
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
