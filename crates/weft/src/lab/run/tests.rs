use super::*;
use crate::cli::{Cli, Command};
use crate::lab::args::LabCommand;
use clap::Parser;

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
fn what_a_flag_has_wrong_is_told_of_the_flag() {
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
