//! Test support: reports about the machine, the cost of work ([`allocation`]),
//! and test pictures ([`pictures`]).
//!
//! Some tests cannot run on every machine: they need a permission, a program or data
//! ([`skipped`]). Others measure rates and times in the real world
//! ([`where_the_machine_keeps_up`]). A virtual machine on a busy host pauses for tens of
//! milliseconds, and two cores that run other tests may have no time left. To a call,
//! both look like a link with a growing queue, so it correctly lowers its rate, drops
//! pictures or switches paths; the result of such a test is then meaningless.

#![deny(unsafe_code)]

pub mod allocation;
mod bits;
pub mod fuzz;
mod go;
mod machine;
pub mod pictures;

pub use bits::octets;
pub use go::pion_program;
pub use machine::{processor_time, where_the_machine_keeps_up};

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Reports that the calling test was skipped, with the reason. The report goes to the
/// standard error of the test program, which is shown for passing tests, too, and as a
/// line to the file named by `WEFT_SKIPPED`, which CI compares with `.ci/may-skip`.
///
/// # Panics
/// If that file cannot be written.
pub fn skipped(reason: impl Display) {
    say(format_args!("skipped: {reason}"));
    if let Some(file) = std::env::var_os("WEFT_SKIPPED") {
        note(Path::new(&file), reason);
    }
}

fn note(file: &Path, reason: impl Display) {
    let line = format!("{reason} ({})\n", test());
    let opened = File::options().create(true).append(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|error| panic!("WEFT_SKIPPED={}: {error}", file.display()));
}

fn say(what: impl Display) {
    // The reader may be gone.
    let _ = writeln!(std::io::stderr(), "{what} ({})", test());
}

fn test() -> String {
    let test = std::thread::current();
    test.name().unwrap_or("a test").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Whether `scripts/skipped` accepts a list with this file.
    fn accepts(file: &Path, list: &Path) -> (bool, String) {
        let mut script = Command::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../scripts/skipped"
        ));
        let output = script
            .arg(file)
            .arg(list)
            .output()
            .expect("bash and awk run");
        let text = String::from_utf8(output.stdout).expect("text");
        (output.status.success(), text)
    }

    #[test]
    fn skips_that_the_list_does_not_allow_fail() {
        let folder = std::env::temp_dir().join(format!("weft-skipped-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (file, list) = (folder.join("skipped"), folder.join("may-skip"));
        std::fs::write(&list, "# a comment\n2 did not keep up\n").expect("written");
        File::create(&file).expect("made");
        assert_eq!(
            accepts(&file, &list),
            (true, "0 tests were skipped\n".to_owned())
        );
        for _ in 0..2 {
            note(&file, "the machine did not keep up");
        }
        let (accepted, said) = accepts(&file, &list);
        assert!(
            accepted && said.ends_with("2 tests were skipped\n"),
            "{said}"
        );
        assert!(
            said.contains("skips_that_the_list_does_not_allow_fail"),
            "{said}"
        );
        note(&file, "the machine did not keep up");
        let (accepted, said) = accepts(&file, &list);
        assert!(!accepted && said.contains("more than the 2"), "{said}");
        std::fs::write(&list, "9 did not keep up\n").expect("written");
        note(&file, "no Firefox");
        let (accepted, said) = accepts(&file, &list);
        assert!(!accepted && said.contains("no line of the list"), "{said}");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
