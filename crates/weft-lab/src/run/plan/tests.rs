use super::*;

const TEXT: &str = r#"
title = "A call beside two transfers"
duration = "10s"
seeds = 2
systems = ["weft"]
metrics = ["throughput_mbps"]

[links.line]
spec = "rate=4mbit,delay=15ms"

[flows.call]
kind = "call"

[flows.tcp]
kind = "tcp"

[flows.late]
kind = "tcp"
start = "5s"
"#;

fn plan(metrics: &str) -> Vec<(u64, Participants)> {
    let set = [format!("metrics={metrics}")];
    let scenario = Scenario::parse("t.toml", TEXT, &set).unwrap();
    let tasks = Plan::of(&scenario).tasks.into_iter();
    tasks.map(|task| (task.seed, task.participants)).collect()
}

#[test]
fn a_harmed_flow_runs_alone_once() {
    assert_eq!(
        plan("[\"fps\"]"),
        [(1, Participants::All), (2, Participants::All)]
    );
    // The call is the flow under test; TCP is named in a metric.
    let both = r#"["harm", "harm_fps", "harm_fps.call", "harm.tcp", "fps"]"#;
    let each = |seed| {
        [
            (seed, Participants::All),
            (seed, Participants::Only(vec![0])),
            (seed, Participants::Only(vec![1])),
        ]
    };
    assert_eq!(plan(both), [each(1), each(2)].concat());
}

/// Grote et al. measure the demand on a wider link than the one of their measurements.
#[test]
fn flows_with_a_demand_run_alone_for_other_metrics_only() {
    let groups = |metrics: &str| {
        let set = [
            format!("metrics={metrics}"),
            "flows.call.demand=1900kbit".to_owned(),
            "seeds=1".to_owned(),
        ];
        let scenario = Scenario::parse("t.toml", TEXT, &set).unwrap();
        let setup = &scenario.variants[0].setup;
        assert_eq!(demand(setup, "harm", &[0]), Some(1.9));
        assert_eq!(demand(setup, "harm_fps", &[0]), None);
        assert_eq!(demand(setup, "harm", &[0, 1]), None, "nobody knows of both");
        Plan::of(&scenario).tasks.len()
    };
    assert_eq!(groups(r#"["harm"]"#), 1);
    assert_eq!(groups(r#"["harm", "harm.tcp"]"#), 2);
    assert_eq!(groups(r#"["harm", "harm_fps"]"#), 2);
}

#[test]
fn nobody_runs_alone_without_competition() {
    let tasks = |text: &str| {
        let set = ["metrics=[\"harm\"]".to_owned(), "seeds=1".to_owned()];
        let scenario = Scenario::parse("t.toml", text, &set).unwrap();
        Plan::of(&scenario).tasks.len()
    };
    assert_eq!(tasks(TEXT), 2);
    let call = &TEXT[..TEXT.find("[flows.tcp]").unwrap()];
    assert_eq!(tasks(call), 1);
    // The same applies if the others have ended before the measured time.
    let early = call.replace("[links", "measure-from = \"5s\"\n[links");
    let early = format!("{early}[flows.tcp]\nkind = \"tcp\"\nstop = \"4s\"\n");
    assert_eq!(tasks(&early), 1);
}

#[test]
fn alone_means_the_same_flow_on_the_same_links() {
    let scenario = Scenario::parse("t.toml", TEXT, &[]).unwrap();
    let whole = &scenario.variants[0].setup;
    let (alone, focus) = Participants::Only(vec![2]).of(whole, &[0]);
    assert_eq!((alone.flows.len(), focus), (1, vec![0]));
    assert_eq!(alone.flows[0], whole.flows[2]);
    assert_eq!(alone.links, whole.links);
}
