//! Behaviour of the real encoders with a size budget for the next picture
//! (`docs/models/encoder-budget.md`):
//!
//! `cargo run --release -p weft-media --example frame_budget -- [CODEC [LINES]]`
//!
//! Budgets are in shares: the rate divided by the pictures per second. An encoder gets no
//! limit, a rate that gives the picture its budget, or the budget. The last table
//! compares the simulator's model. Takes ten minutes on one core.

mod contents;
mod model;
mod run;

use std::error::Error;

use contents::{Content, contents};
use run::{Bound, Case, Run, Seen};
use weft_units::Codec;

const FPS: u32 = 30;
const PICTURES: usize = 300;
/// Lines, and rates in kbps.
const SIZES: [(usize, [u64; 2]); 2] = [(360, [300, 800]), (720, [800, 2000])];
const BOUNDS: [Bound; 3] = [Bound::Nothing, Bound::Rate, Bound::Budget];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = |place: usize, name: &str| arguments.get(place).is_none_or(|a| a == name);
    for (lines, rates) in SIZES {
        if !asked(1, &lines.to_string()) {
            continue;
        }
        let contents = contents(lines, PICTURES);
        for (codec, name) in [(Codec::Vp8, "vp8"), (Codec::H264, "h264")] {
            if asked(0, name) {
                println!("{name}, {lines} lines, {rates:?} kbps\n");
                tables(codec, lines, &contents, rates)?;
            }
        }
    }
    Ok(())
}

/// Prints all runs of a codec at a size.
fn tables(
    codec: Codec,
    lines: usize,
    contents: &[Content],
    rates: [u64; 2],
) -> Result<(), Box<dyn Error>> {
    let mut runs = Vec::new();
    for content in contents {
        for kbps in rates {
            for case in Case::ALL {
                for bound in BOUNDS {
                    runs.push(run::run(codec, content, kbps, case, bound)?);
                }
            }
        }
    }
    sizes(&runs);
    qualities(&runs);
    let mut models = Vec::new();
    for kbps in rates {
        for case in Case::ALL {
            models.push(model::run(codec, lines, kbps, case)?);
        }
    }
    compare(&runs, &models);
    Ok(())
}

/// Prints the sizes of pictures.
fn sizes(runs: &[Run]) {
    println!("| pictures | shares | told nothing | a rate | the budget | encodings |");
    println!("|---|---|---|---|---|---|");
    for case in Case::ALL {
        for shares in case.shares() {
            let of = |bound| {
                let runs = runs.iter().filter(|r| r.case == case && r.bound == bound);
                let runs = runs.filter(|r| r.content != "cuts");
                let seen = runs
                    .flat_map(|run| &run.seen)
                    .filter(|s| s.shares == shares);
                seen.copied().collect::<Vec<_>>()
            };
            let cells = BOUNDS.map(|bound| run::spread(&of(bound)));
            let [nothing, rate, budget] = cells;
            let seen = of(Bound::Budget);
            let attempts: f64 = seen.iter().map(|s| f64::from(s.attempts)).sum();
            let attempts = attempts / seen.len() as f64;
            let name = case.name();
            println!("| {name} | {shares} | {nothing} | {rate} | {budget} | {attempts:.2} |");
        }
    }
    println!();
}

/// Prints the loss of quality.
fn qualities(runs: &[Run]) {
    println!("| content | kbps | pictures | fit | their PSNR | all PSNR | rate | time |");
    println!("|---|---|---|---|---|---|---|---|");
    for bounds in runs.chunks_exact(BOUNDS.len()) {
        let [nothing, rate, budget] = bounds else {
            continue;
        };
        let (content, kbps, case) = (nothing.content, nothing.kbps, nothing.case.name());
        let cell = |of: fn(&Run) -> f64| {
            format!("{:.1} / {:.1} / {:.1}", of(nothing), of(rate), of(budget))
        };
        let (theirs, all, sent) = (cell(Run::psnr_seen), cell(Run::psnr), cell(Run::rate));
        let fit = 100.0 * run::fit(&budget.seen);
        let time = budget.time / nothing.time;
        println!(
            "| {content} | {kbps} | {case} | {fit:.0} % | {theirs} | {all} | {sent} | {time:.2} |"
        );
    }
    println!();
}

/// Compares the encoder and its model, with budgets.
fn compare(runs: &[Run], models: &[Run]) {
    println!("| kbps | pictures | shares | encoder | model | PSNR | PSNR of the model |");
    println!("|---|---|---|---|---|---|---|");
    for model in models {
        let same = |run: &&Run| {
            let what = (run.content, run.kbps) == (model.content, model.kbps);
            what && (run.case, run.bound) == (model.case, model.bound)
        };
        let Some(real) = runs.iter().find(same) else {
            continue;
        };
        for shares in model.case.shares() {
            let of = |run: &Run| {
                let seen = run.seen.iter().filter(|seen| seen.shares == shares);
                seen.copied().collect::<Vec<_>>()
            };
            let [real, fitted] = [of(real), of(model)];
            let psnr =
                |seen: &[Seen]| seen.iter().map(|seen| seen.psnr).sum::<f64>() / seen.len() as f64;
            println!(
                "| {} | {} | {shares} | {} | {} | {:.1} | {:.1} |",
                model.kbps,
                model.case.name(),
                run::spread(&real),
                run::spread(&fitted),
                psnr(&real),
                psnr(&fitted)
            );
        }
    }
    println!();
}
