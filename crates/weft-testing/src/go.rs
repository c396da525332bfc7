//! Programs in Go that tests run against weft.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the package of the module `clients/pion` as `program`; returns its path.
///
/// # Errors
/// The reason for a skipped test, if there is no Go or the module's dependencies cannot be
/// downloaded.
///
/// # Panics
/// If the package does not compile.
pub fn pion_program(package: &str, program: PathBuf) -> Result<PathBuf, String> {
    go(&["mod", "download"])?;
    let output = program.to_str().expect("cargo's paths are text");
    go(&["build", "-o", output, package]).expect("the program compiles");
    Ok(program)
}

fn go(arguments: &[&str]) -> Result<(), String> {
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/pion"));
    let mut command = Command::new("go");
    command.args(arguments).current_dir(source);
    // The package has no C code. An old Go downloads a newer one.
    command.env("CGO_ENABLED", "0");
    if std::env::var_os("GOTOOLCHAIN").is_none() {
        command.env("GOTOOLCHAIN", "auto");
    }
    let output = command
        .output()
        .map_err(|e| format!("no Go (`scripts/setup --tests` installs it): {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("`go {}` fails: {said}", arguments.join(" ")))
}
