//! `weft lab import`: recordings of real calls in the report.

use std::path::Path;
use std::time::Instant;

use weft_lab::output::{self, Conditions, ImportOutputError, Side};
use weft_lab::recording::{self, Recording};

use super::args::ImportArgs;
use super::work::shell;
use crate::exit::{Failure, say, say_json};

pub fn import(args: &ImportArgs) -> Result<(), Failure> {
    let begun = Instant::now();
    let mut recordings = Vec::new();
    for file in &args.files {
        let side = Side::of(file);
        let name = match file.ends_with(&side.name) {
            true => stem(&side.name),
            false => &side.name,
        };
        let read = recording::read(&side.folder, name, &args.local).map_err(Failure::usage)?;
        for one in read.iter().filter_map(|one| one.cut.as_ref()) {
            complain!("weft: {}: {one}", side.folder.display());
        }
        recordings.extend(read);
    }
    if let Some(out) = &args.out {
        write(&recordings, args, begun, out)?;
    }
    match args.json {
        true => say_json(output::recordings_json(&recordings).trim_end())?,
        false => say(text(&recordings, args.out.as_deref()).trim_end())?,
    }
    let cut = recordings.iter().filter(|one| one.cut.is_some()).count();
    match cut {
        0 => Ok(()),
        1 => Err(Failure::Run("one recording ends early".to_owned())),
        _ => Err(Failure::Run(format!("{cut} recordings end early"))),
    }
}

fn write(
    recordings: &[Recording],
    args: &ImportArgs,
    begun: Instant,
    out: &Path,
) -> Result<(), Failure> {
    let words = ["weft", "lab", "import"].map(str::to_owned);
    let words = words.into_iter().chain(args.files.iter().cloned());
    let local = args
        .local
        .iter()
        .map(|address| format!("--local={address}"));
    let conditions = Conditions::now(shell(words.chain(local)), begun, 1);
    let beside = args.beside.as_deref();
    let written = output::write_recordings(recordings, &conditions, beside, out);
    written.map_err(|error| match error {
        ImportOutputError::Output(error) => Failure::run(error),
        other => Failure::usage(other),
    })
}

fn text(recordings: &[Recording], out: Option<&Path>) -> String {
    let text = output::printed_recordings(recordings);
    match out {
        Some(out) => format!("{text}\nreport: {}\n", out.join("report.html").display()),
        None => format!("{text}\nadd --out DIR for the report over time\n"),
    }
}

/// Removes the extensions of the formats.
fn stem(name: &str) -> &str {
    const EXTENSIONS: [&str; 7] = [
        ".gz", ".flent", ".json", ".txt", ".sqlog", ".pcapng", ".pcap",
    ];
    let shorter = |name: &'_ str| {
        let found = EXTENSIONS
            .iter()
            .find_map(|extension| name.strip_suffix(extension));
        found.filter(|rest| !rest.is_empty()).map(str::len)
    };
    let mut length = name.len();
    while let Some(less) = shorter(&name[..length]) {
        length = less;
    }
    &name[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_the_extensions_of_the_formats() {
        let names = [
            ("webrtc_internals_dump.txt", "webrtc_internals_dump"),
            ("tcp.home.flent.gz", "tcp.home"),
            ("join-1.pcapng", "join-1"),
            (".gz", ".gz"),
        ];
        for (name, short) in names {
            assert_eq!(stem(name), short);
        }
    }
}
