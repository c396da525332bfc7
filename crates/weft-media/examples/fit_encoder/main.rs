//! Runs the real encoders on the built-in clip, fits the parameters of
//! `weft_sim::encoder` to the results, and prints them with the model's error
//! (`docs/models/encoder.md`):
//!
//! `cargo run -p weft-media --example fit_encoder -- [--check] [--save FILE] [--load FILE]`
//!
//! With `--check`, exits with status 1 if the parameters in `weft-sim` differ from this
//! fit. `--save` writes every picture's measurements as CSV, `--load` reads them instead
//! of encoding. Uses one core.

mod check;
mod coded;
mod fit;
mod h264;
mod measure;
mod plan;
mod report;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use measure::Measured;
use weft_sim::encoder::{H264, VP8};
use weft_units::Codec;

#[derive(Default)]
struct Options {
    check: bool,
    save: Option<PathBuf>,
    load: Option<PathBuf>,
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut file = || {
            arguments
                .next()
                .map(PathBuf::from)
                .ok_or(format!("{argument} needs a file"))
        };
        match argument.as_str() {
            "--check" => options.check = true,
            "--save" => options.save = Some(file()?),
            "--load" => options.load = Some(file()?),
            _ => {
                return Err(
                    format!("{argument}: known are --check, --save FILE, --load FILE").into(),
                );
            }
        }
    }
    Ok(options)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = options()?;
    let all = match &options.load {
        Some(path) => measure::parse(&std::fs::read_to_string(path)?)?,
        None => encode()?,
    };
    if let Some(path) = &options.save {
        std::fs::write(path, measure::csv(&all))?;
    }
    let mut off = Vec::new();
    for (codec, committed) in [(Codec::Vp8, VP8), (Codec::H264, H264)] {
        let fitted = fit::fit(codec, &all);
        println!("{}", report::parameters(codec, &fitted));
        off.extend(check::differences(codec, &fitted, &committed, &all));
    }
    println!(
        "Real / model.\n\n{}\n{}",
        report::steady(&all),
        report::steps(&all)
    );
    println!("{}", report::complexity(&all));
    if options.check && !off.is_empty() {
        off.iter().for_each(|line| eprintln!("{line}"));
        eprintln!("paste the parameters above into crates/weft-sim/src/encoder/parameters.rs");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn encode() -> Result<Vec<Measured>, Box<dyn Error>> {
    let mut all = Vec::new();
    for group in plan::groups() {
        let (height, seed) = (group.height, group.seed);
        eprintln!(
            "encoding {height} lines, seed {seed}: {} runs",
            group.runs.len()
        );
        all.extend(measure::measure(&group)?);
    }
    Ok(all)
}
