//! `weft compose`: one film of a recording.

use crate::exit::{Failure, say};
use crate::values::{number, rate};
use clap::{Args, ValueEnum};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use weft_compose::{ComposeError, Film, Layout, Options};
use weft_record::Index;
use weft_units::Rate;

/// Niceness from 0 to 19: calls on the same machine take precedence.
const NICE: i32 = 15;

#[derive(Debug, Args)]
pub struct ComposeArgs {
    /// Folder of one recording, with its index.json
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    /// Arrangement of the pictures
    #[arg(long, value_enum, default_value_t = Arrangement::Grid)]
    pub layout: Arrangement,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = size)]
    pub size: (usize, usize),
    /// Pictures a second
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = number::<u32>)]
    pub fps: u32,
    /// Rate of the pictures
    #[arg(long, value_name = "RATE", default_value = "2mbit", value_parser = rate)]
    pub rate: Rate,
    /// New file (default: film.webm in the folder)
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arrangement of a film's pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arrangement {
    /// All pictures have the same size; a shared screen is large
    Grid,
    /// The active speaker is large; a shared screen takes precedence
    Speaker,
}

impl Arrangement {
    fn layout(self) -> Layout {
        match self {
            Arrangement::Grid => Layout::Grid,
            Arrangement::Speaker => Layout::Speaker,
        }
    }

    /// Returns the arguments that run this command in a separate process, for a server.
    pub fn command(self) -> Result<Vec<std::ffi::OsString>, Failure> {
        let program = std::env::current_exe();
        let program = program.map_err(|error| Failure::Run(format!("--compose: {error}")))?;
        let name = match self {
            Arrangement::Grid => "grid",
            Arrangement::Speaker => "speaker",
        };
        let arguments = ["compose", "--layout", name].map(Into::into);
        Ok([program.into()].into_iter().chain(arguments).collect())
    }
}

pub fn run(args: &ComposeArgs) -> Result<(), Failure> {
    // Failure only means a higher priority than intended.
    let _ = rustix::process::nice(NICE);
    let options = Options {
        layout: args.layout.layout(),
        size: args.size,
        fps: args.fps,
        rate: args.rate,
    };
    let own = args.folder.join(Index::FILM);
    let output = args.output.as_ref().unwrap_or(&own);
    let began = Instant::now();
    let shows = std::io::stderr().is_terminal();
    let progress = |done: Duration| {
        if shows && done.as_secs().is_multiple_of(60) {
            complain!("weft: composed {}", clock(done));
        }
    };
    let film = weft_compose::compose(&args.folder, output, &options, progress);
    let film = film.map_err(|error| match error {
        ComposeError::Options(_) | ComposeError::Exists(_) | ComposeError::Index { .. } => {
            Failure::Usage(error.to_string())
        }
        error => Failure::Run(error.to_string()),
    })?;
    if *output == own {
        let noted = Index::add_film(&args.folder);
        noted.map_err(|error| Failure::Run(format!("{}: {error}", Index::FILE)))?;
    }
    for note in &film.notes {
        complain!("weft: {note}");
    }
    say(summary(&film, output, began.elapsed()))
}

fn summary(film: &Film, output: &std::path::Path, took: Duration) -> String {
    format!(
        "{}: {}, {}, {}; composed {:.1} times as fast as it plays",
        output.display(),
        clock(film.length),
        count(film.pictures, "picture"),
        count(film.sounds, "sound"),
        film.length.as_secs_f64() / took.as_secs_f64().max(0.001),
    )
}

fn count(count: usize, of: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {of}{plural}")
}

/// Hours, minutes and seconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    format!(
        "{}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

fn size(text: &str) -> Result<(usize, usize), String> {
    let (width, height) = text.split_once('x').unwrap_or((text, ""));
    match (width.parse(), height.parse()) {
        (Ok(width), Ok(height)) => Ok((width, height)),
        _ => Err(format!("`{text}` is not a size: write it like 1280x720")),
    }
}
