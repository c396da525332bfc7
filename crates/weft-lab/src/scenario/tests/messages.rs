use proptest::prelude::*;

use super::*;

/// Returns the error of this text with one line changed.
fn error_with(line: &str, by: &str) -> String {
    assert!(TCP.contains(line), "{line}");
    parse(&TCP.replace(line, by), &[]).unwrap_err()
}

#[test]
fn errors_are_reported_with_line_column_and_remedy() {
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
            vec!["`que`", "did you mean `queue`?"],
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
            "queue=2bdp\"",
            "queue=2bdp\"\nplace = \"car\"",
            "t.toml:7:9",
            vec!["`place`", "generated:driving/lte"],
        ),
        (
            "\"30s\"",
            "30",
            "t.toml:3:12",
            vec!["\"30\" is not a time", "\"30s\""],
        ),
        ("\"30s\"", "\"0s\"", "t.toml:3:12", vec!["0 s is too short"]),
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
            "kind = \"tcp\"",
            "",
            "t.toml:8:1",
            vec!["missing field `kind`"],
        ),
        (
            "\"tcp\"",
            "5",
            "t.toml:9:8",
            vec!["`5` is not valid here", "a text", "such as 5%"],
        ),
        (
            "algorithm = \"cubic\"",
            "strat = \"1s\"",
            "t.toml:10:1",
            vec!["no field `strat`", "did you mean `start`?", "algorithm"],
        ),
        (
            "algorithm = \"cubic\"",
            "media = \"one-way\"",
            "t.toml:10:9",
            vec!["`media` belongs", "\"call\"", "remove"],
        ),
        (
            "algorithm = \"cubic\"",
            "connections = \"two\"",
            "t.toml:10:15",
            vec!["\"two\" is not valid here", "a whole number"],
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
            vec!["a rate above zero", "max-rate = \"2mbit\""],
        ),
        (
            "[flows.tcp]",
            "[flows.tcp]\ndemand = \"0kbit\"",
            "t.toml:9:10",
            vec!["must be above zero", "demand = \"1900kbit\""],
        ),
        (
            "[flows.tcp]",
            "[flows.call]\nkind = \"call\"\napp = \"skipe\"\n\n[flows.tcp]",
            "t.toml:10:7",
            vec!["there is no application", "did you mean `skype`?"],
        ),
        (
            "[flows.tcp]",
            "[flows.call]\nkind = \"call\"\napp = \"skype\"\nresolution = \"360p\"\n\n[flows.tcp]",
            "t.toml:11:14",
            vec!["skype is a model", "remove `resolution`"],
        ),
        (
            "[flows.tcp]",
            "[flows.call]\nkind = \"call\"\napp = \"x-lite\"\nmax-rate = \"100kbit\"\n\n[flows.tcp]",
            "t.toml:11:12",
            vec!["at least 180kbps", "higher limit"],
        ),
        (
            "[flows.tcp]",
            "[flows.call]\nkind = \"call\"\napp = \"signal\"\nmax-rate = \"20kbit\"\n\n[flows.tcp]",
            "t.toml:11:12",
            vec!["sends at least", "higher limit"],
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
            "[flows.tcp]",
            "[flows.tcp]\naccess-jitter = \"90min\"",
            "t.toml:9:17",
            vec!["jitter of an access delay is"],
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
        forward(&setup.links[0]),
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
fn keys_that_the_scenario_lacks_cannot_be_changed() {
    for (argument, parts) in [
        (
            "links.bottelneck.rate=5mbit",
            ["no link `bottelneck`", "did you mean `bottleneck`?"],
        ),
        (
            "links.nope=\"rate=5mbit\"",
            ["there is bottleneck", "[links.nope]"],
        ),
        ("flows.call.kind=call", ["no flow `call`", "there is tcp"]),
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
    // A file without systems gets a new one; a file with systems does not.
    parse(TCP, &["system.mine.scheduler=weft"]).unwrap();
    let own = format!("{TCP}\n[system.mine]\nscheduler = \"weft\"\n");
    let error = parse(&own, &["system.yours.scheduler=weft"]).unwrap_err();
    assert!(error.contains("there is mine"), "{error}");
}

#[test]
fn a_value_of_the_wrong_type_is_reported_with_the_right_one() {
    let error = parse(TCP, &["seeds=abc"]).unwrap_err();
    assert!(error.starts_with("--set seeds=\"abc\": "), "{error}");
    assert!(error.contains("a whole number"), "{error}");
    let error = parse(TCP, &["systems=weft"]).unwrap_err();
    assert!(
        error.contains("\"weft\" is not valid here: write a list"),
        "{error}"
    );
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
