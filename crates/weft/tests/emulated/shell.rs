//! `weft emu shell` as a program: what it refuses.

use std::process::{Command, Output};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn links_have_different_names_or_none() {
    let refused = |links: [&str; 2]| {
        let mut command = Command::new(WEFT);
        command.args(["emu", "shell", "--isolated"]);
        command.args(links.iter().flat_map(|link| ["--link", link]));
        let output = command.args(["--", "true"]).output();
        let output = output.expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{}", errors(&output));
        errors(&output)
    };
    let twice = refused(["a=rate=1mbit,loss=5%", "a=rate=2mbit,loss=5%"]);
    assert!(
        twice.contains("`a`") && twice.contains("NAME=SPEC"),
        "{twice}"
    );
    // The name that the second one has without one.
    let twice = refused(["link2=rate=1mbit", "rate=2mbit"]);
    assert!(twice.contains("`link2`"), "{twice}");
    let empty = refused(["=rate=1mbit", "rate=2mbit"]);
    assert!(empty.contains("is empty"), "{empty}");
}
