//! Scores the real encoders' output for photographs by BRISQUE, and prints the table of
//! `weft_sim::encoder::brisque` with the spread of its means (`docs/models/encoder.md`):
//!
//! `cargo run --release -p weft-media --example fit_brisque -- [--check] PNG...`
//!
//! The stills are colour PNGs of at least 488 x 368 pixels; a window moves over each, and
//! a camera's noise is added. With `--check`, exits with status 1 if the table in
//! `weft-sim` differs from this fit.

mod film;
mod scores;

use std::error::Error;
use std::process::ExitCode;

use scores::{QUANTIZERS, SHARES, Scores};
use weft_media::metrics::Brisque;
use weft_sim::encoder::brisque;
use weft_units::Codec;

/// Largest difference between the table and a new fit; chosen by us for rounding, and for
/// encoders that use other instructions on another processor.
const ALLOWED: f64 = 2.0;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (options, stills): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let check = match options.as_slice() {
        [] => false,
        [option] if option == "--check" => true,
        _ => return Err("known is --check, and then stills as PNG".into()),
    };
    if stills.is_empty() {
        return Err("no stills: name photographs as PNG, such as those of scikit-image".into());
    }
    let model = Brisque::installed()?;
    let stills: Vec<_> = stills
        .iter()
        .map(|file| film::Still::read(file))
        .collect::<Result<_, _>>()?;
    for still in &stills {
        let source = still
            .pictures()
            .last()
            .and_then(|picture| model.score(&picture));
        eprintln!(
            "{}: {:.0} by itself",
            still.name,
            source.unwrap_or(f64::NAN)
        );
    }
    let mut off = 0.0_f64;
    for codec in [Codec::Vp8, Codec::H264] {
        let each = stills.iter().map(|still| Scores::of(codec, still, &model));
        let each = each.collect::<Result<Vec<_>, _>>()?;
        println!("{codec}, by quantizer {:?}", QUANTIZERS[&codec]);
        for (at, share) in SHARES.iter().enumerate() {
            let rows: Vec<Vec<f64>> = each.iter().map(|scores| scores.row(at)).collect();
            let mean =
                |column: usize| rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64;
            let means: Vec<f64> = (0..rows[0].len()).map(mean).collect();
            println!("  {share}: {}", told(&means));
            for (still, row) in stills.iter().zip(&rows) {
                println!("    {}: {}", still.name, told(row));
            }
            for (quantizer, mean) in QUANTIZERS[&codec].iter().zip(&means) {
                let committed = brisque(codec, *quantizer, *share).unwrap_or(f64::INFINITY);
                off = off.max((committed - mean).abs());
            }
        }
    }
    println!("the table is off by {off:.1} at most");
    let differs = check && off > ALLOWED;
    if differs {
        eprintln!("paste the means above into crates/weft-sim/src/encoder/brisque.rs");
    }
    Ok(if differs {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn told(values: &[f64]) -> String {
    let words: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
    words.join(", ")
}
