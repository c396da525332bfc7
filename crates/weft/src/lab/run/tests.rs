use super::*;
use crate::cli::{Cli, Command};
use crate::lab::args::LabCommand;
use clap::Parser;
use weft_lab::output::Folder;

fn error_of(line: &str) -> String {
    let cli = Cli::try_parse_from(line.split(' ')).unwrap();
    let Command::Lab(lab) = cli.command else {
        panic!("{line}");
    };
    let failure = match lab.command {
        LabCommand::Run(args) => run(&args),
        LabCommand::Compare(args) => compare(&args),
        _ => panic!("{line}"),
    };
    format!("{:?}", failure.unwrap_err())
}

#[test]
fn a_flag_of_the_other_engine_is_refused() {
    for (line, flag) in [
        ("weft lab run demo/aqm --keep-rejected", "--keep-rejected: "),
        ("weft lab run demo/aqm --client pion", "--client pion: "),
        ("weft lab run demo/aqm --engine emu --jobs 2", "--jobs: "),
        ("weft lab run demo/aqm --only gcc", "--only: "),
        (
            "weft lab run demo/wifi-lte --engine emu --pcap p",
            "--pcap: only simulated calls are traced",
        ),
        (
            "weft lab run demo/wifi-lte --engine both --qlog q",
            "--qlog: only simulated calls are traced",
        ),
        (
            "weft lab run demo/aqm --pcap p",
            "--pcap: only flows of the kind",
        ),
    ] {
        assert!(error_of(line).contains(flag), "{line}");
    }
}

#[test]
fn an_error_in_a_flag_names_the_flag() {
    for line in [
        "weft lab run demo/wifi-lte --systems weft,nope",
        "weft lab compare --link a=rate=5mbit --systems weft,nope",
    ] {
        let error = error_of(line);
        assert!(
            error.contains("--systems weft,nope: there is no system `nope`"),
            "{error}"
        );
        assert!(!error.contains("--set"), "{error}");
    }
    let error = error_of("weft lab run demo/wifi-lte --set seeds=abc");
    assert!(
        error.contains("--set seeds=") && error.contains("a whole number"),
        "{error}"
    );
}

/// Scenario of one short run with this name.
fn short(name: &str) -> Scenario {
    let text = "title = \"One flow\"\nduration = \"1s\"\nseeds = 1\n[links]\n\
                line = \"rate=1mbit,delay=10ms\"\n[flows.tcp]\nkind = \"tcp\"\n";
    Scenario::parse(&format!("{name}.toml"), text, &[]).unwrap()
}

fn common(line: &str) -> Common {
    let cli = Cli::try_parse_from(format!("weft lab run x {line}").split(' ')).unwrap();
    match cli.command {
        Command::Lab(lab) => match lab.command {
            LabCommand::Run(args) => args.common,
            _ => panic!("{line}"),
        },
        _ => panic!("{line}"),
    }
}

#[test]
fn a_run_whose_series_cannot_be_written_counts() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = short("one");
    let common = common("--json");
    let stop = AtomicBool::new(false);
    let out = Some(folder.path());
    let work = Work::new(&scenario, &common, &stop, String::new(), String::new(), out);
    let mut work = work.unwrap();
    // Simulates a full disk.
    std::fs::remove_dir_all(folder.path().join("series")).unwrap();
    let (outcome, ran) = work.run(&Simulator);
    let error = format!("{:?}", ran.unwrap_err());
    assert!(error.contains("series"), "{error}");
    assert_eq!((outcome.finished(), outcome.wanted()), (1, 1));
    let summary = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    assert!(summary.contains("throughput_mbps"), "{summary}");
}

#[test]
fn the_last_lines_say_which_system_was_better() {
    let links = ["a=rate=3mbit,delay=10ms", "b=rate=2mbit,delay=30ms"].map(str::to_owned);
    let text = catalogue::comparison(&links, 1).unwrap();
    let set = ["seeds=2", "duration=\"5s\""].map(str::to_owned);
    let scenario = Scenario::parse("weft lab compare", &text, &set).unwrap();
    let (common, stop) = (common("--seeds 2"), AtomicBool::new(false));
    let work = Work::new(
        &scenario,
        &common,
        &stop,
        String::new(),
        String::new(),
        None,
    );
    let (outcome, ran) = work.unwrap().run(&Simulator);
    ran.unwrap();
    let said = crate::lab::said::text(&outcome, &common, None);
    let last: Vec<&str> = said.trim_end().lines().rev().take(4).collect();
    assert!(
        last[3].contains("weft") && last[3].contains("the best single link"),
        "{said}"
    );
    assert!(last[2].starts_with("weft carried "), "{said}");
    assert!(last[2].contains("95 % confidence"), "{said}");
    assert!(
        last[0].starts_with("95 % of the pictures of weft arrived within "),
        "{said}"
    );
}

#[test]
fn the_same_command_resumes_and_another_one_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let out = Some(folder.path());
    let (scenario, common) = (short("one"), common("--json"));
    let unfinished = folder.path().join("unfinished");
    let work = |command: &str, stop| {
        Work::new(
            &scenario,
            &common,
            stop,
            command.to_owned(),
            String::new(),
            out,
        )
        .unwrap()
    };
    let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
    let (outcome, _) = work("a", &stop).run(&Simulator);
    assert_eq!(outcome.finished(), 0);
    let about = std::fs::read_to_string(unfinished.join("about.txt")).unwrap();
    // State after an interrupted run with a single task.
    let (_, left) = Folder::resume(folder.path(), &about).unwrap();
    assert!(left.is_empty());
    let kept = |ended: runs::TaskResult| {
        let (place, _) = Folder::resume(folder.path(), &about).unwrap();
        place.keep_for_now(&scenario, &ended.expect("it ends well"))
    };
    runs::run(&scenario, &Simulator, 1, &go, kept).unwrap();
    // All runs are finished, so a stop has no effect.
    let (outcome, ran) = work("a", &stop).run(&Simulator);
    assert_eq!((outcome.finished(), ran.is_ok()), (1, true));
    // The folder exists until the whole command has ended.
    let folders: Vec<Folder> = work("a", &stop).out.into_iter().collect();
    forget(&folders, &stop).unwrap();
    assert!(unfinished.exists());
    let (outcome, _) = work("b", &stop).run(&Simulator);
    assert_eq!(outcome.finished(), 0, "another command");
    forget(&folders, &go).unwrap();
    assert!(!unfinished.exists());
}

#[test]
fn an_early_end_names_what_was_not_run() {
    let scenarios = ["one", "two", "three"].map(short);
    let (common, stop) = (common("--json"), AtomicBool::new(true));
    let command = |_: &Scenario| String::new();
    let ended = all(&scenarios, &common, &command, &Simulator, &stop);
    let Err(Failure::Run(text)) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(text, "not run: one, two, three");
    let [one, two, three] = scenarios;
    let pairs = [
        (one.clone(), one),
        (two.clone(), two),
        (three.clone(), three),
    ];
    let ended = both::run(&pairs, &common, &command, &Simulator, &stop);
    let Err(Failure::Run(text)) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(text, "not run: one, two, three");
}

#[test]
fn scenarios_of_one_name_are_not_written_over_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["a/set/one.toml", "b/set/one.toml"].map(|file| folder.path().join(file));
    for file in &files {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, short("one").source.text).unwrap();
    }
    let out = folder.path().join("out");
    let files = files.map(|file| file.display().to_string());
    let line = format!("weft lab run {} --out {}", files.join(" "), out.display());
    let error = error_of(&line);
    let wanted = format!("{} and {} would both", files[0], files[1]);
    assert!(error.contains(&wanted), "{error}");
    assert!(error.contains("out/set/one: run each"), "{error}");
    assert!(error.starts_with("Usage") && !out.exists(), "{error}");
}

#[test]
fn a_campaign_says_itself_what_flags_would() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../campaigns/real-clients.toml"
    );
    for (flags, told) in [
        ("", "--out DIR"),
        (
            "--out out --client pion",
            "--client: the campaign file sets this",
        ),
        (
            "--out out --engine emu",
            "--engine: the campaign file sets this",
        ),
        ("--out out --json", "--json: the campaign file sets this"),
        ("--out out --pcap p", "--pcap: the calls of a campaign"),
        (
            "--out out --only gcc/wired-9",
            "there is no run `gcc/wired-9`",
        ),
    ] {
        let line = format!("weft lab run {path} {flags}");
        let error = error_of(line.trim());
        assert!(
            error.starts_with("Usage") && error.contains(told),
            "{error}"
        );
    }
}

fn arguments(line: &str) -> RunArgs {
    let cli = Cli::try_parse_from(line.split(' ')).unwrap();
    let Command::Lab(lab) = cli.command else {
        panic!("{line}");
    };
    match lab.command {
        LabCommand::Run(args) => args,
        _ => panic!("{line}"),
    }
}

#[test]
fn a_campaign_resumes_with_simulated_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("c.toml"), folder.path().join("out"));
    let scenario = folder.path().join("one.toml");
    std::fs::write(&scenario, short("one").source.text).unwrap();
    let text = format!(
        "title = \"t\"\nrepetitions = 1\n[[runs]]\nname = \"a\"\nscenario = {scenario:?}\n\
         [[runs]]\nname = \"b\"\nscenario = {scenario:?}\n"
    );
    std::fs::write(&file, text).unwrap();
    let line = format!("weft lab run {} --out {}", file.display(), out.display());
    // Writing fails, because the path of the second run is occupied.
    std::fs::create_dir_all(&out).unwrap();
    std::fs::write(out.join("b"), "in the way").unwrap();
    run(&arguments(&line)).unwrap_err();
    let left = out.join("a/unfinished");
    let kept = std::fs::read_dir(&left)
        .unwrap()
        .flatten()
        .map(|e| e.path());
    let kept = kept.filter(|path| path.extension().is_some_and(|e| e == "json"));
    let [kept] = &kept.collect::<Vec<_>>()[..] else {
        panic!("one run has ended");
    };
    let text = std::fs::read_to_string(kept).unwrap();
    let marked = text.replace("\"notes\":[]", "\"notes\":[\"from before\"]");
    assert_ne!(text, marked);
    std::fs::write(kept, marked).unwrap();
    std::fs::remove_file(out.join("b")).unwrap();
    run(&arguments(&line)).unwrap();
    let summary = std::fs::read_to_string(out.join("a/summary.json")).unwrap();
    assert!(summary.contains("from before"), "{summary}");
    assert!(!left.exists() && !out.join("b/unfinished").exists());
}

#[test]
fn a_campaign_leaves_a_folder_for_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("c.toml"), folder.path().join("out"));
    let scenario = folder.path().join("one.toml");
    std::fs::write(&scenario, short("one").source.text).unwrap();
    let text = format!(
        "title = \"t\"\nrepetitions = 2\n[[runs]]\nname = \"a\"\nscenario = {scenario:?}\n\
         [[runs]]\nname = \"b/c\"\nscenario = {scenario:?}\nseeds = 1\n"
    );
    std::fs::write(&file, text).unwrap();
    let line = format!("weft lab run {} --out {}", file.display(), out.display());
    run(&arguments(&line)).unwrap();
    for (name, seeds) in [("a", "[\n    1,\n    2\n  ]"), ("b/c", "[\n    1\n  ]")] {
        let summary = std::fs::read_to_string(out.join(name).join("summary.json")).unwrap();
        assert!(summary.contains(seeds), "{name}: {summary}");
        assert!(summary.contains("\"partial\": false"), "{name}");
    }
}

#[test]
fn a_folder_with_results_of_another_scenario_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let summary = folder.path().join("summary.json");
    std::fs::write(&summary, r#"{"scenario":"demo/wifi-lte"}"#).unwrap();
    let embedded = |name: &str| {
        weft_lab::catalogue::find(name).unwrap()[0]
            .scenario(&[])
            .unwrap()
    };
    let error = crate::lab::work::resume(folder.path(), &embedded("demo/aqm"), "a");
    let Err(Failure::Usage(error)) = error else {
        panic!("{error:?}");
    };
    assert!(
        error.contains("results of demo/wifi-lte, and demo/aqm would replace"),
        "{error}"
    );
    assert!(summary.exists());
    crate::lab::work::resume(folder.path(), &embedded("demo/wifi-lte"), "a").unwrap();
}
