//! Runs in virtual time: seeds, attacks, a day.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use clap::{Parser, Subcommand};
use weft_storm::attacks::{Effect, forward, under};
use weft_storm::hostile::Kind;
use weft_storm::processor::Pace;
use weft_storm::server::Budgets;
use weft_storm::watch::{Extremes, Meetings};
use weft_storm::{Outcome, day, run};
use weft_testing::allocation::Counting;
use weft_units::{Duration, Rate};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Maximum growth of memory after the first hour, in bytes, for buffers that grew.
const GROWTH: i64 = 64 << 10;

/// Runs a server in virtual time under bad networks, crashes and attacks
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Runs seeds and checks the invariants
    Seeds {
        /// Number of seeds
        #[arg(default_value_t = 200)]
        count: u64,
        /// First seed
        #[arg(long, default_value_t = 1)]
        from: u64,
        /// Number of threads
        #[arg(long, default_value_t = 2)]
        jobs: u64,
        /// Print what happens
        #[arg(long)]
        verbose: bool,
    },
    /// Measures the effect of each attack on the calls of others, at the speed of this
    /// machine
    Attacks {
        /// Remove the bounds on peers
        #[arg(long)]
        without_budgets: bool,
        /// Names of the attacks; all by default
        kinds: Vec<String>,
    },
    /// Runs a call of four viewers, for a profiler
    Forward {
        /// Length in seconds
        #[arg(default_value_t = 10)]
        seconds: u64,
        /// Rate of the pictures in kbit/s
        #[arg(default_value_t = 500)]
        rate: u64,
        /// Remove the bounds on peers
        #[arg(long)]
        without_budgets: bool,
    },
    /// Joins and leaves for hours
    Day {
        /// Length in hours
        #[arg(default_value_t = 24)]
        hours: u64,
    },
}

fn main() -> ExitCode {
    let good = match Options::parse().what {
        What::Seeds {
            count,
            from,
            jobs,
            verbose,
        } => seeds(from, count, jobs, verbose),
        What::Attacks {
            without_budgets,
            kinds,
        } => {
            attacks(budgets(without_budgets), &kinds);
            true
        }
        What::Forward {
            seconds,
            rate,
            without_budgets,
        } => {
            let length = Duration::from_secs(seconds);
            let packets = forward(length, Rate::from_kbps(rate), budgets(without_budgets));
            println!("{packets} packets forwarded");
            true
        }
        What::Day { hours } => pass_a_day(hours),
    };
    match good {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn seeds(from: u64, count: u64, jobs: u64, verbose: bool) -> bool {
    let (next, last) = (AtomicU64::new(from), from + count);
    let (sender, outcomes) = mpsc::channel::<Outcome>();
    let (mut failed, mut pictures, mut datagrams) = (0, 0, 0);
    let mut extremes = Extremes::default();
    let mut meetings = Meetings::default();
    let (mut share, mut taken, mut defects) = (0.0_f64, 0, 0);
    // Intentional defects are not reported.
    std::panic::set_hook(Box::new(|panic| {
        let is_meant = panic.payload().downcast_ref() == Some(&"as a defect would");
        if !is_meant {
            eprintln!("{panic}");
        }
    }));
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= last || sender.send(run(seed, verbose)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for outcome in &outcomes {
            pictures += outcome.counts.pictures;
            datagrams += outcome.counts.datagrams;
            extremes = extremes.worst(outcome.extremes);
            meetings.worsen(&outcome.meetings);
            share = share.max(outcome.most_taken_away);
            taken = taken.max(outcome.most_pictures_taken);
            defects += outcome.counts.defects;
            if !outcome.violations.is_empty() {
                failed += 1;
                println!("seed {}:", outcome.seed);
                for violation in &outcome.violations {
                    println!("  {violation}");
                }
                let seed = outcome.seed;
                println!("  replay: make storm ARGS=\"seeds 1 --from {seed} --verbose\"");
            }
        }
    });
    let passed = count - failed;
    let Extremes {
        still,
        still_anywhere,
        unacknowledged,
        fewest,
        thinnest,
        oldest,
        together,
    } = extremes;
    let least = match fewest {
        usize::MAX => String::new(),
        _ => format!(", showed {fewest} pictures or {thinnest} bytes in a second"),
    };
    println!(
        "{datagrams} datagrams, {pictures} pictures; over good links a screen froze for \
         {still:?}{least} and one {oldest:?} old, and {together} bytes were sent together"
    );
    println!(
        "over any links a screen froze for {still_anywhere:?}; a path over a good link got \
         no acknowledgement for {unacknowledged:?}"
    );
    println!(
        "{defects} defects on request; attacks took at most {:.1} % of a viewer's pictures, and {taken}",
        share * 100.0
    );
    let longest = meetings.longest.iter();
    let longest =
        longest.map(|(bound, longest)| format!("{bound:?} {:.2} s", longest.as_secs_f64()));
    let longest: Vec<String> = longest.collect();
    let fewest = meetings.fewest.unwrap_or_default();
    println!(
        "in meetings at most: {}; at least {fewest} pictures of a tile in a second",
        longest.join(", ")
    );
    println!("{passed} passed, {failed} failed");
    failed == 0
}

fn budgets(without: bool) -> Budgets {
    match without {
        true => Budgets::LeftOut,
        false => Budgets::Kept,
    }
}

fn attacks(budgets: Budgets, only: &[String]) {
    println!(
        "| attack | delivered | p99 ms | freezes | frozen s | inputs | processor | dearest ms | held MB | connections |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let kinds = Kind::ALL.into_iter().map(Some);
    for kind in std::iter::once(None).chain(kinds) {
        let name = kind.map_or("none".to_owned(), |kind| kind.to_string());
        if !only.is_empty() && !only.contains(&name) {
            continue;
        }
        let Effect {
            delivery,
            p99,
            freezes,
            frozen,
            processor,
            dearest,
            inputs,
            held,
            connections,
        } = under(kind, budgets, Pace::Measured);
        println!(
            "| {name} | {:.1} % | {:.0} | {freezes} | {:.1} | {inputs} | {:.1} % | {:.2} | {:.1} | {connections} |",
            delivery * 100.0,
            p99.as_millis_f64(),
            frozen.as_secs_f64(),
            processor * 100.0,
            dearest.as_millis_f64(),
            held as f64 / 1e6,
        );
    }
}

fn pass_a_day(hours: u64) -> bool {
    let states = day::pass(hours, |state| println!("{state:?}"));
    let held = |place: Option<&day::HourState>| place.map_or(0, |state| state.held);
    let growth = held(states.last()) - held(states.first());
    let left = states.last().map_or(0, |state| state.left);
    println!("{growth} bytes more than after the first hour, {left} left behind");
    growth <= GROWTH && left == 0
}
