use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::study::{Check, Study};
use super::{Results, TableError, Tables, of_study, replaced, tables};
use crate::catalogue;
use crate::engine::sim::Simulator;
use crate::outcome::Outcome;
use crate::output::{Conditions, Folder};
use crate::run::run;
use crate::scenario::Scenario;

/// TCP alone on two links: the rates are those of the links for every seed.
const SCENARIO: &str = r#"
title = "One download"
duration = "5s"
measure-from = "2s"
seeds = 2
metrics = ["throughput_mbps", "utilisation"]
published = [
    { system = "2mbit", metric = "throughput_mbps", low = 1.5, high = 2.5, source = "Author et al., figure 2: all of it" },
    { system = "4mbit", metric = "throughput_mbps", low = 5, source = "Author et al., figure 10: more than there is" },
    { system = "4mbit", metric = "utilisation", low = 0.5, source = "Author et al., figure 2: most (fitted)" },
    { system = "2mbit", metric = "utilisation", low = 0.1, source = "Author et al., figure 2: some (trivial)" },
]

[links.line]
spec = "rate=2mbit,delay=25ms,queue=2bdp"

[flows.tcp]
kind = "tcp"

[[vary]]
key = "links.line.rate"
values = ["2mbit", "4mbit"]
"#;

const STUDY: &str = r#"
[[table]]
name = "rates"
title = "Rates"
shows = "metrics"
columns = [
    { metric = "throughput_mbps", decimals = 0 },
    { title = "over itself, %", metric = "throughput_mbps", over = "throughput_mbps", times = 100, decimals = 0, high = 99 },
    { metric = "fps" },
]

[[table]]
name = "agreement"
title = "Agreement"
shows = "agreement"

[[table]]
name = "published"
title = "Published"
shows = "published"

[[table]]
name = "checks"
title = "Checks"
shows = "checks"

[[table]]
name = "elsewhere"
title = "Elsewhere"
shows = "agreement"
scenarios = ["never-run"]

[[check]]
figure = "figure 4"
says = "twice the rate"
scenario = "one"
metric = "throughput_mbps"
groups = [{ of = "4mbit" }, { of = "2mbit" }]
order = "falling"

[[check]]
figure = "figure 5"
says = "all runs below 3 Mbit/s"
scenario = "one"
metric = "throughput_mbps"
of = "*"
runs = true
high = 3
"#;

fn written(folder: &Path) {
    let scenario = Scenario::parse("scenarios/small/one.toml", SCENARIO, &[]).unwrap();
    let out = Folder::create(folder).unwrap();
    let mut outcome = Outcome::new(&scenario);
    let each = |ended: crate::run::TaskResult| -> Result<(), String> {
        outcome.add(ended.expect("runs end well"));
        Ok(())
    };
    run(&scenario, &Simulator, 1, &AtomicBool::new(false), each).unwrap();
    out.write_outcome(&outcome, &Conditions::default()).unwrap();
}

fn printed(only: &[&str]) -> Result<Tables, TableError> {
    let folder = tempfile::tempdir().unwrap();
    written(&folder.path().join("all/small/one"));
    let results = Results::read(folder.path()).unwrap();
    let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
    of_study("small", &Study::parse(STUDY).unwrap(), &results, &only)
}

#[test]
fn a_study_says_which_tables_are_printed() {
    let tables = printed(&[]).unwrap();
    let [rates, agreement, published, checks] = &tables.printed[..] else {
        panic!("{tables:?}");
    };
    let version = format!("2 seeds; weft {}.\n\n", crate::VERSION);
    assert_eq!(
        rates.text,
        version.clone()
            + "| system | Throughput, Mbit/s | over itself, % |\n\
               |---|---|---|\n\
               | `2mbit` | 2 ± 0 | **100** |\n\
               | `4mbit` | 4 ± 0 | **100** |\n"
    );
    assert_eq!(
        agreement.text,
        version.clone()
            + "|  | agree | lower | higher | unclear | not measured |\n\
               |---|---|---|---|---|---|\n\
               | **all checks** | 1 of 2 | 1 |  |  |  |\n\
               | figure 2 | 1 of 1 |  |  |  |  |\n\
               | figure 10 | 0 of 1 | 1 |  |  |  |\n\
               | values that parameters were fitted to | 1 of 1 |  |  |  |  |\n\
               | trivial ones: 0, or what any model gives | 1 of 1 |  |  |  |  |\n"
    );
    let start = "| one | 4mbit | `throughput_mbps` | more than there is | at least 5 | 4 [";
    assert!(published.text.contains(start), "{}", published.text);
    assert!(
        published.text.contains("| agrees (fitted) |"),
        "{}",
        published.text
    );
    let trivial = "| some | at least 0.1 | ";
    assert!(published.text.contains(trivial), "{}", published.text);
    assert!(published.text.contains("| agrees (trivial) |"));
    assert!(
        checks
            .text
            .contains("| figure 5 | all runs below 3 Mbit/s | 50 % of 4 runs | **differs** |"),
        "{}",
        checks.text
    );
    assert!(
        checks.text.contains("| **all** |  |  | 1 of 2 |"),
        "{}",
        checks.text
    );
}

#[test]
fn a_table_or_metric_without_results_is_named_with_the_remedy() {
    let missing = printed(&[]).unwrap().missing.join("\n");
    assert!(
        missing.contains("`fps`: add it to the `metrics`"),
        "{missing}"
    );
    assert!(
        missing.contains("table elsewhere") && missing.contains("weft lab run small/never-run"),
        "{missing}"
    );
    let error = printed(&["elsewhere"]).unwrap_err().to_string();
    assert!(error.contains("weft lab run small/never-run"), "{error}");
    let error = printed(&["rate"]).unwrap_err().to_string();
    assert!(error.contains("did you mean `rates`?"), "{error}");
}

#[test]
fn results_of_one_scenario_in_two_folders_differ_by_name_or_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    written(&folder.path().join("new"));
    written(&folder.path().join("old"));
    let results = Results::read(folder.path()).unwrap();
    let tables = of_study("small", &Study::parse(STUDY).unwrap(), &results, &[]).unwrap();
    let rates = &tables.printed[0].text;
    assert!(
        rates.contains("| new | `2mbit` |") && rates.contains("| old | `2mbit` |"),
        "{rates}"
    );
    let missing = tables.missing.join("\n");
    assert!(missing.contains("both in new and in old"), "{missing}");
}

#[test]
fn folders_without_readable_results_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Results::read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("`weft lab run --out`"), "{error}");
    let file = folder.path().join("summary.json");
    for (text, said) in [
        ("{", "EOF"),
        (
            r#"{"schema":9,"scenario":"","version":"","notes":[],"seeds":[],"partial":false,"results":[],"published":[]}"#,
            "layout 9",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = Results::read(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains(said) && error.contains("run the scenario again"),
            "{error}"
        );
    }
}

#[test]
fn a_bad_study_is_refused_with_the_table_and_the_remedy() {
    let table = "[[table]]\nname = \"a\"\ntitle = \"A\"\n";
    for (rest, said) in [
        ("shows = \"metrics\"", "table `a`: add `columns`"),
        (
            "shows = \"metrics\"\ncolumns = [{ metric = \"fpz\" }]",
            "did you mean `fps`?",
        ),
        (
            "shows = \"metrics\"\ncolumns = [{ of = \"sum\" }]",
            "no `metric`",
        ),
        ("shows = \"systems\"", "either `cell`"),
        ("shows = \"pies\"", "unknown variant"),
        ("shows = \"agreement\"\ncolums = []", "unknown field"),
    ] {
        let error = Study::parse(&format!("{table}{rest}\n")).unwrap_err();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn tables_replace_the_text_between_their_marks() {
    let tables = printed(&["checks"]).unwrap();
    let page = "# A\n\n<!-- table checks -->\nold\n<!-- end -->\n\nb\n\n<!-- table rates -->\nkept\n<!-- end -->\n";
    let new = replaced(page, "a.md", &tables.printed).unwrap();
    assert!(
        new.starts_with("# A\n\n<!-- table checks -->\n\n2 seeds"),
        "{new}"
    );
    assert!(
        new.ends_with("|\n\n<!-- end -->\n\nb\n\n<!-- table rates -->\nkept\n<!-- end -->\n"),
        "{new}"
    );
    assert_eq!(replaced(&new, "a.md", &tables.printed).unwrap(), new);
    let error = replaced("# A\n", "a.md", &tables.printed)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("a.md: ") && error.contains("<!-- table NAME -->"),
        "{error}"
    );
}

#[test]
fn every_embedded_set_has_tables_of_its_own_scenarios() {
    let entries = catalogue::entries();
    let mut sets: Vec<&str> = entries.iter().map(catalogue::Entry::set).collect();
    sets.dedup();
    let mut declared = 0;
    for set in sets {
        let (file, Some(text)) = catalogue::tables(set).unwrap() else {
            continue;
        };
        let study = Study::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        declared += 1;
        let variants = |name: &str| -> Vec<String> {
            let wanted = format!("{set}/{name}");
            let entry = entries.iter().find(|entry| entry.name == wanted);
            let entry = entry.unwrap_or_else(|| panic!("{file}: there is no scenario {wanted}"));
            let scenario = entry.scenario(&[]).unwrap();
            scenario
                .variants
                .into_iter()
                .map(|variant| variant.name)
                .collect()
        };
        for table in &study.tables {
            let names: Vec<String> = table
                .scenarios
                .iter()
                .flat_map(|name| variants(name))
                .collect();
            for pattern in table.systems.iter().filter(|_| !names.is_empty()) {
                let fits = names.iter().any(|name| pattern.matches(name));
                assert!(
                    fits,
                    "{file}: table {}: {pattern:?} fits no system",
                    table.name
                );
            }
            for row in &table.rows {
                let of = variants(&row.scenario);
                let case = |case: &str| {
                    case.is_empty() || of.iter().any(|name| name.ends_with(&format!("({case})")))
                };
                let fits = case(&row.case) && row.over_case.as_deref().is_none_or(case);
                assert!(fits, "{file}: {}: no such case in {of:?}", row.says);
            }
        }
        for check in &study.checks {
            chosen(&file, check, &variants);
        }
    }
    assert!(declared > 0);
    let error = tables("zom", &no_results(), &[]).unwrap_err().to_string();
    assert!(error.contains("did you mean `zoom`?"), "{error}");
    let error = tables("zoom/codel", &no_results(), &[])
        .unwrap_err()
        .to_string();
    assert!(error.contains("write `zoom`"), "{error}");
}

fn no_results() -> Results {
    Results {
        folder: "nowhere".into(),
        summaries: Vec::new(),
        disagreements: Vec::new(),
    }
}

/// Checks that each pattern of a check selects conditions, and that `at-most` and `over`
/// name existing conditions.
fn chosen(file: &str, check: &Check, variants: &dyn Fn(&str) -> Vec<String>) {
    let own = variants(&check.scenario);
    let other = variants(check.other_scenario.as_ref().unwrap_or(&check.scenario));
    let groups = check
        .groups
        .iter()
        .map(|group| (&group.of, group.over.iter().collect()));
    let of = check
        .of
        .iter()
        .map(|of| (of, check.at_most.iter().collect()));
    for (pattern, others) in groups.chain(of) {
        let others: Vec<&super::names::Pattern> = others;
        let found: Vec<_> = own
            .iter()
            .filter_map(|name| pattern.captures(name))
            .collect();
        assert!(
            !found.is_empty(),
            "{file}: {}: {pattern:?} fits no system",
            check.says
        );
        for (captured, to) in found
            .iter()
            .flat_map(|each| others.iter().map(move |to| (each, to)))
        {
            let name = to.filled(captured);
            assert!(
                other.contains(&name),
                "{file}: {}: there is no {name}",
                check.says
            );
        }
    }
}
