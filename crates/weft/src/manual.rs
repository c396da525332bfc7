//! `weft completions` and `weft manual`: shell completions and manual pages
//! from the definition of the command line.

use std::io::{Write, stdout};
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;

use crate::exit::{Failure, say};

const NAME: &str = "weft";

#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell that should complete commands and options
    #[arg(value_enum)]
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct ManualArgs {
    /// Existing folder for the pages, one for each command
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// Prints the completions of this command line.
pub fn completions(args: &CompletionsArgs, mut line: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut line, NAME, &mut script);
    // A closed pipe is not a failure.
    let _ = stdout().lock().write_all(&script);
    Ok(())
}

/// Writes the manual pages of this command line.
pub fn pages(args: &ManualArgs, line: Command) -> Result<(), Failure> {
    let folder = &args.folder;
    clap_mangen::generate_to(line, folder).map_err(|error| {
        Failure::Usage(format!(
            "{}: {error}; choose a folder that exists and may be written",
            folder.display()
        ))
    })?;
    let page = folder.join(format!("{NAME}.1"));
    say(format_args!("man {}", page.display()))
}
