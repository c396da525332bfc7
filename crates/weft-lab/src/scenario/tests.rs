mod cells;
mod conference;
mod messages;
mod policies;
mod published;
mod receivers;
mod sweeps;
mod systems;

use super::fields::fields;
use super::{Custom, Scenario, short_name};
use weft_cc::ControllerKind;
use weft_experiment::{CongestionKind, FlowKind, Hop, LinkSetup, SourceKind};
use weft_links::{LinkSpec, WiredDirection};
use weft_session::{Ablation, Ablations, SchedulerKind};
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

fn forward(link: &LinkSetup) -> LinkSpec {
    let there = link.medium.link(WiredDirection::Forward.station());
    there.expect("a wired link").clone()
}

fn backward(link: &LinkSetup) -> LinkSpec {
    let back = link.medium.link(WiredDirection::Backward.station());
    back.expect("a wired link").clone()
}

fn parse(text: &str, set: &[&str]) -> Result<Scenario, String> {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Scenario::parse("t.toml", text, &set).map_err(|error| error.to_string())
}

#[test]
fn a_run_that_can_measure_nothing_is_refused() {
    let text = |spec: &str| {
        format!(
            "title = \"t\"\nduration = \"5s\"\n[links.a]\nspec = \"{spec}\"\n\
             [flows.tcp]\nkind = \"tcp\"\n"
        )
    };
    let error = |spec: &str, set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        let read = Scenario::parse("t.toml", &text(spec), &set);
        read.err().map(|error| error.to_string())
    };
    assert_eq!(error("rate=1mbit", &["duration=\"1s\""]), None);
    let short = error("rate=1mbit", &["duration=\"0.01s\""]).unwrap();
    assert!(short.contains("0.01 s is too short"), "{short}");
    let dead = error("rate=0mbit", &[]).unwrap();
    assert!(
        dead.contains("link `a`: rate=0") && dead.contains("loss=100%"),
        "{dead}"
    );
    // An outage in the file is intended.
    let steps =
        ["", "-back"].map(|way| format!("links.a.steps{way}=[{{at=\"2s\",rate=\"1mbit\"}}]"));
    assert_eq!(error("rate=0mbit", &[&steps[0], &steps[1]]), None);
}

#[test]
fn a_file_with_one_tcp_flow_is_a_setup() {
    let scenario = parse(TCP, &[]).unwrap();
    assert_eq!((scenario.seeds, scenario.variants.len()), (5, 1));
    let variant = &scenario.variants[0];
    assert_eq!(variant.setup.duration, Duration::from_secs(30));
    assert_eq!(
        forward(&variant.setup.links[0]),
        "rate=2mbit,delay=25ms,queue=2bdp".parse().unwrap()
    );
    assert!(matches!(variant.setup.flows[0].kind, FlowKind::Tcp(_)));
    assert_eq!(variant.focus, [0]);
}

#[test]
fn an_invalid_trace_is_reported_where_it_is_named() {
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
        error.contains("line 2, column 1: the line before has the time 0, too"),
        "{error}"
    );
}

#[test]
fn a_trace_replaces_a_rate_and_the_way_back_is_as_there_unless_said() {
    let text = TCP.replace("spec =", "back = \"rate=1mbit\"\nspec =");
    let link = &parse(&text, &[]).unwrap().variants[0].setup.links[0].clone();
    assert_eq!(
        backward(link),
        "rate=1mbit,delay=25ms,queue=2bdp".parse().unwrap()
    );
    assert_eq!(
        forward(link),
        "rate=2mbit,delay=25ms,queue=2bdp".parse().unwrap()
    );
}

#[test]
fn steps_are_a_schedule() {
    let steps = "[links.bottleneck]\nsteps = [{ at = \"10s\", rate = \"1mbit\" }, { at = \"20s\", rate = \"3mbit\" }]";
    let text = TCP.replace("[links.bottleneck]", steps);
    let link = &parse(&text, &[]).unwrap().variants[0].setup.links[0].clone();
    assert_ne!(forward(link), backward(link), "the way back keeps its rate");
    let error = parse(&text.replace("\"20s\"", "\"5s\""), &[]).unwrap_err();
    assert!(error.contains("sort the steps"), "{error}");
    let error = parse(&text.replace(", rate = \"3mbit\"", ""), &[]).unwrap_err();
    assert!(error.contains("changes nothing"), "{error}");
    let other = text.replace("rate = \"3mbit\"", "delay = \"9ms\", loss = \"100%\"");
    let link = &parse(&other, &[]).unwrap().variants[0].setup.links[0].clone();
    let last = forward(link).line_steps[1];
    assert_eq!(
        (last.delay, last.loss),
        (Some(Duration::from_millis(9)), Some(1.0))
    );
    let error = parse(&other.replace("100%", "101%"), &[]).unwrap_err();
    assert!(error.contains("at most"), "{error}");
}

#[test]
fn the_fields_of_the_whole_are_fields() {
    let fields = fields::<super::file::File>();
    for field in super::tree::OF_THE_WHOLE {
        assert!(fields.contains(&field), "{field}");
    }
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
    let back = |link| Hop::wired(link, WiredDirection::Backward);
    assert_eq!(setup.flows[0].routes[0].hops, [back(1), back(0)]);
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
    // A call still takes its own route.
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
        ("value = nan", "t.toml:16:9: ", "write a finite number"),
        (
            "low = 1\nhigh = inf",
            "t.toml:17:8: ",
            "remove `low` or `high`",
        ),
        ("low = -inf", "t.toml:16:7: ", "write a finite number"),
        ("low = 2\nhigh = 1", "t.toml:17:8: ", "exchange them"),
        ("value = 2\nhigh = 1", "t.toml:17:8: ", "but not both"),
        (
            "low = 2\ntolerance = \"10%\"",
            "t.toml:17:13: ",
            "applies to `value` only",
        ),
        ("", "t.toml:14:10: ", "give `value`, or `low`"),
    ] {
        let error = with(published).unwrap_err();
        assert!(error.starts_with(place), "{published}: {error}");
        assert!(error.contains(part), "{published}: {error}");
    }
}

#[test]
fn a_metric_belongs_to_an_existing_flow_or_link() {
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
    let harm = CHAIN.replace("title", "metrics = [\"harm.b\"]\ntitle");
    let error = parse(&harm, &[]).unwrap_err();
    assert!(
        error.starts_with("t.toml:2:12: `harm` compares flows"),
        "{error}"
    );
    assert!(error.contains("there is call"), "{error}");
    // Includes those added by one of the systems.
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

#[test]
fn the_book_has_every_field() {
    use super::file::{File, Published, System, Vary};
    use super::links::{Link, Step};
    use super::media::CellKind;
    let (kinds, of_flows) = super::flows::words();
    let quoted = |name: &&str| format!("\"{name}\"");
    let algorithms = CongestionKind::ALL.iter().map(|kind| kind.name());
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/experiment/scenarios.md"
    );
    let book = std::fs::read_to_string(path).unwrap();
    let of_cells = CellKind::ALL.map(|kind| [kind.of_own_cell(), kind.of_station()]);
    let of_cells = of_cells.as_flattened().concat();
    let plain = |fields: &[&str]| fields.iter().map(|&f| f.to_owned()).collect::<Vec<_>>();
    for (place, words) in [
        ("the whole", plain(fields::<File>())),
        ("media", plain(&of_cells)),
        ("links", plain(fields::<Link>())),
        ("steps", plain(fields::<Step>())),
        ("flows", plain(&of_flows)),
        ("kinds of flows", kinds.iter().map(quoted).collect()),
        ("systems", plain(fields::<System>())),
        ("vary", plain(fields::<Vary>())),
        ("published", plain(fields::<Published>())),
        ("algorithms", algorithms.map(|name| quoted(&name)).collect()),
    ] {
        assert!(words.len() > 1, "{place}: {words:?}");
        for word in words {
            assert!(
                book.contains(&format!("`{word}`")),
                "{place}: docs/experiment/scenarios.md has no `{word}`"
            );
        }
    }
}
