use crate::tools::{Pair, is_possible};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const SPEC: &str = "rate=1mbit,delay=1ms";

fn lives(id: u32) -> bool {
    // A zombie process has no namespaces.
    Path::new(&format!("/proc/{id}/ns/net")).exists()
}

/// Waits until the program is running; another process may start it.
fn wait_for_sleep(id: u32) {
    let name = || std::fs::read_to_string(format!("/proc/{id}/comm"));
    while name().expect("it runs") != "sleep\n" {
        std::thread::yield_now();
    }
}

#[test]
fn programs_inside_end_with_the_network() {
    for stop in [true, false] {
        let Some(pair) = Pair::start(SPEC) else {
            return;
        };
        let sleep = pair.running.command(pair.left, "sleep").arg("1000").spawn();
        let mut stubborn = pair.running.command(pair.right, "sh");
        stubborn.args(["-c", "trap '' TERM; while :; do sleep 1; done"]);
        let children = [sleep, stubborn.spawn()].map(|c| c.expect("a program"));
        assert!(children.iter().all(|child| lives(child.id())));
        if stop {
            drop(pair.running.stop());
        } else {
            drop(pair.running);
        }
        for mut child in children {
            assert!(!lives(child.id()));
            assert!(!child.wait().expect("its end").success());
        }
    }
}

/// Program that the test below kills.
#[test]
#[ignore = "runs until it is killed"]
fn maker() {
    let pair = Pair::start(SPEC).expect("a privilege was found");
    let sleep = pair.running.command(pair.left, "sleep").arg("1000").spawn();
    println!("orphan {}", sleep.expect("a program").id());
    // A program in a network of another process.
    let mut gone = pair.running.command(pair.left, "unshare");
    let gone = gone.args(["--net", "sleep", "1000"]).spawn();
    println!("orphan {}", gone.expect("a program").id());
    loop {
        std::thread::park();
    }
}

#[test]
fn only_leftovers_of_a_killed_process_are_ended() {
    if !is_possible() {
        return;
    }
    let mut maker = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "clean_up::maker", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test");
    let lines = BufReader::new(maker.stdout.take().expect("a pipe")).lines();
    let mut lines = lines.map(|line| line.expect("text"));
    let mut orphan = || lines.find_map(|line| line.split_once("orphan ")?.1.parse().ok());
    let orphans: [u32; 2] = [(); 2].map(|()| orphan().expect("its number"));
    orphans.iter().for_each(|id| wait_for_sleep(*id));
    let network = format!("--net=/proc/{}/ns/net", orphans[1]);
    let mut bystander = Command::new("nsenter")
        .args([&network, "sleep", "1000"])
        .spawn()
        .expect("nsenter, of util-linux");
    wait_for_sleep(bystander.id());

    let living = Pair::start(SPEC).expect("a privilege was found");
    let mut child = living.running.command(living.left, "sleep");
    let mut child = child.arg("1000").spawn().expect("a program");
    assert!(orphans.iter().all(|id| lives(*id)), "their maker lives");
    maker.kill().expect("a process of ours");
    maker.wait().expect("its end");

    let next = Pair::start(SPEC).expect("a privilege was found");
    assert!(
        !orphans.iter().any(|id| lives(*id)),
        "their maker was killed"
    );
    assert!(lives(child.id()), "its maker lives");
    assert!(lives(bystander.id()), "nobody here made it");
    bystander.kill().expect("a process of ours");
    bystander.wait().expect("its end");
    drop((next, living));
    child.wait().expect("its end");
}

#[test]
fn a_missing_program_is_an_error_of_its_own() {
    let Some(pair) = Pair::start(SPEC) else {
        return;
    };
    let error = pair.running.command(pair.left, "no-such-program").spawn();
    assert_eq!(
        error.expect_err("none").kind(),
        std::io::ErrorKind::NotFound
    );
}
