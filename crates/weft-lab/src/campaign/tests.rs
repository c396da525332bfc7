use super::*;

const TEXT: &str = r#"
title = "t"
repetitions = 3

[[runs]]
name = "simulated"
scenario = "real/against-tcp"
seeds = 2

[[runs]]
name = "real"
scenario = "real/against-tcp"
engine = "emu"
clients = ["chromium", "weft"]
systems = ["weft"]
side-by-side = true

[[runs]]
scenario = "gcc/wired-1"
engine = "emu"
clients = ["chromium"]
set = ["flows.call.resolution=360p"]

[[runs]]
scenario = "converge/driving"
engine = "both"
"#;

fn read(text: &str, changes: &Changes) -> Result<Campaign, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    std::fs::write(&path, text).unwrap();
    assert!(Campaign::is_meant(&path) || !text.contains("[[runs]]"));
    Campaign::read(&path, changes).map_err(|error| error.to_string())
}

fn only(names: &[&str]) -> Changes {
    Changes {
        only: names.iter().map(|&name| name.to_owned()).collect(),
        ..Changes::default()
    }
}

#[test]
fn a_client_is_a_job_in_a_folder_of_its_own() {
    let campaign = read(TEXT, &Changes::default()).unwrap();
    let jobs = campaign.jobs.iter();
    let jobs: Vec<_> = jobs
        .map(|job| {
            (
                job.name.as_str(),
                job.order,
                job.scenario.seeds,
                job.engines.len(),
            )
        })
        .collect();
    assert_eq!(
        jobs,
        [
            ("simulated", Order::AtOnce, 2, 1),
            ("real/chromium", Order::SideBySide(1), 3, 1),
            ("real/weft", Order::SideBySide(1), 3, 1),
            ("gcc/wired-1", Order::Rounds, 3, 1),
            ("converge/driving", Order::AtOnce, 3, 2),
        ]
    );
    assert_eq!(campaign.jobs[1].client, Client::Chromium);
}

#[test]
fn the_command_line_chooses_and_repeats() {
    let names = |names: &[&str]| {
        let campaign = read(TEXT, &only(names))?;
        let jobs = campaign.jobs.into_iter();
        Ok::<_, String>(jobs.map(|job| job.name).collect::<Vec<_>>())
    };
    assert_eq!(names(&["real"]).unwrap(), ["real/chromium", "real/weft"]);
    let two = names(&["real/weft", "simulated"]);
    assert_eq!(two.unwrap(), ["simulated", "real/weft"]);
    let error = names(&["real/pion"]).unwrap_err();
    assert!(
        error.contains("--only: there is no run `real/pion`"),
        "{error}"
    );
    let more = Changes {
        seeds: Some(7),
        ..Changes::default()
    };
    let campaign = read(TEXT, &more).unwrap();
    assert!(campaign.jobs.iter().all(|job| job.scenario.seeds == 7));
}

#[test]
fn errors_are_reported_with_their_place() {
    let wrong =
        |from: &str, to: &str| read(&TEXT.replacen(from, to, 1), &Changes::default()).unwrap_err();
    for (from, to, told) in [
        ("seeds = 2", "sedes = 2", "sedes"),
        (
            "seeds = 2",
            "clients = [\"weft\"]",
            "run 1: the simulator runs weft's own code",
        ),
        (
            "\"chromium\", \"weft\"",
            "\"firefox\"",
            "run 2: there is no client `firefox`",
        ),
        (
            "gcc/wired-1",
            "gcc/wired-9",
            "run 3: there is no file or set",
        ),
        ("gcc/wired-1", "gcc", "run 3: `gcc` is a whole set"),
        ("resolution=360p", "resolutoin=360p", "resolutoin"),
        (
            "name = \"simulated\"",
            "name = \"gcc/wired-1\"",
            "two runs are called gcc/wired-1",
        ),
    ] {
        let error = wrong(from, to);
        assert!(
            error.contains(told) && error.contains("c.toml"),
            "{to}: {error}"
        );
    }
}

#[test]
fn campaigns_that_come_along_can_be_read() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../campaigns"));
    for file in std::fs::read_dir(root).unwrap() {
        let path = file.unwrap().path();
        let campaign = Campaign::read(&path, &Changes::default());
        assert!(campaign.is_ok(), "{campaign:?}");
    }
}
