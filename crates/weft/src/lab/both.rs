//! `weft lab run --engine both`: runs a scenario in both simulator and emulator, and
//! lists their disagreements.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_lab::Scenario;
use weft_lab::engine::Engine;
use weft_lab::engine::sim::Simulator;
use weft_lab::outcome::{Disagreement, THRESHOLD, disagreements};
use weft_lab::output::{self, Folder};

use super::args::Common;
use super::said::{not_run, tell, verdict};
use super::work::{Work, folder, forget};
use crate::exit::{Failure, say, say_json};

/// File beside the folders of both engines.
pub const DISAGREEMENTS: &str = "disagreements.json";

/// Runs each pair until one fails; a pair is a scenario prepared for the simulator and
/// for the emulator.
pub fn run(
    pairs: &[(Scenario, Scenario)],
    common: &Common,
    command: &dyn Fn(&Scenario) -> String,
    emulated: &dyn Engine,
    stop: &AtomicBool,
) -> Result<(), Failure> {
    let mut ran = Ok(());
    let mut ended = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        if ran.is_err() || stop.load(Ordering::Relaxed) {
            let missing = not_run(pairs[index..].iter().map(|(simulator, _)| simulator));
            return Err(match ran {
                Ok(()) => Failure::Run(missing),
                Err(Failure::Run(text)) => Failure::Run(format!("{text}\n{missing}")),
                Err(other) => other,
            });
        }
        let out = common.out.as_deref();
        let out = out.map(|out| folder(out, &pair.0, pairs.len()));
        let both = one(pair, common, out.as_deref(), command, emulated, stop);
        ran = both.map(|folders| ended.extend(folders));
    }
    forget(&ended, stop)?;
    ran
}

fn one(
    (simulator, emulator): &(Scenario, Scenario),
    common: &Common,
    out: Option<&Path>,
    command: &dyn Fn(&Scenario) -> String,
    emulated: &dyn Engine,
    stop: &AtomicBool,
) -> Result<Vec<Folder>, Failure> {
    let work = |scenario, engine: &str| -> Result<Work<'_>, Failure> {
        let place = format!("{} ({engine}) ", simulator.name);
        let out = out.map(|path| path.join(engine));
        let command = command(scenario);
        Work::new(scenario, common, stop, command, place, out.as_deref())
    };
    let mut sim = work(simulator, "sim")?;
    let mut emu = work(emulator, "emu")?;
    if let Some(out) = out {
        remove(&out.join(DISAGREEMENTS))?;
    }
    let (simulated, ran) = sim.run(&Simulator);
    ran.and_then(|()| verdict(&simulated))?;
    let (real, ran) = emu.run(emulated);
    let found = disagreements(&simulated, &real);
    if let Some(out) = out {
        write(&out.join(DISAGREEMENTS), &found)?;
    }
    if common.json {
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text);
        let (sim, emu) = (output::summary(&simulated), output::summary(&real));
        let (sim, emu) = (
            parse(&sim).map_err(Failure::run)?,
            parse(&emu).map_err(Failure::run)?,
        );
        say_json(serde_json::json!({ "sim": sim, "emu": emu, "disagreements": found }))?;
    } else {
        tell(&real, common, emu.out.as_ref())?;
        say(printed(&found).trim_end())?;
    }
    ran.and_then(|()| verdict(&real))?;
    Ok(sim.out.into_iter().chain(emu.out).collect())
}

/// Removes the file of an earlier run, which would not match the new results.
fn remove(path: &Path) -> Result<(), Failure> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::usage(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

pub fn write(path: &Path, found: &[Disagreement]) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(found).map_err(Failure::run)?;
    let written = std::fs::write(path, text + "\n");
    written.map_err(|error| Failure::run(format!("{}: {error}: is the disk full?", path.display())))
}

/// Table with a row for each metric that both engines have.
fn printed(found: &[Disagreement]) -> String {
    let percent = THRESHOLD * 100.0;
    let apart = found.iter().filter(|each| !each.agrees).count();
    let mut text = format!(
        "\nSimulator against emulator: {apart} of {} values differ by more than {percent} % (and by more \
         than 20 kbit/s, 2 ms or 0.5 % of packets)\n",
        found.len()
    );
    for each in found {
        let relative = each
            .relative
            .map_or("-".to_owned(), |r| format!("{:+.0} %", r * 100.0));
        let mark = if each.agrees { "" } else { "  <- disagree" };
        let system = match each.system == each.simulated {
            true => each.system.clone(),
            false => format!("{} (sim: {})", each.system, each.simulated),
        };
        text += &format!(
            "{system}  {}  sim {:.3}  emu {:.3} {}  {relative}{mark}\n",
            each.metric, each.sim, each.emu, each.unit
        );
    }
    text
}
