//! Models of applications with real packets: each end is a program (weft itself) that
//! runs the simulator's model over a socket.

mod program;
mod wire;

use weft_apps::Family;
use weft_experiment::{AppMedia, AppSetup, FlowSetup};

use super::client::weft::binary;
use super::testbed::job::{End, Ends, ExitPolicy, Job, OutputFormat, StartTime};
use crate::engine::EngineError;

pub use program::{ModelEnd, ModelEndError, Role, UnknownRole};

/// Returns jobs for the two ends of a flow; the seed is the run's.
///
/// # Errors
/// If the program is missing.
pub fn jobs(
    flow: usize,
    (setup, app): (&FlowSetup, &AppSetup),
    ends: &Ends,
    seed: u64,
) -> Result<Vec<Job>, EngineError> {
    let weft = binary()?;
    let job = |end: End| {
        let (role, here, there) = match end {
            End::Source => (Role::Caller, &ends.source, &ends.sink),
            End::Sink => (Role::Callee, &ends.sink, &ends.source),
        };
        let mut words = vec![weft.clone(), "emu".to_owned(), "app".to_owned()];
        words.push(app.app.to_string());
        let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
        add("--role", role.to_string());
        add("--here", here[0].to_string());
        add("--peer", there[0].to_string());
        add("--seed", seed.to_string());
        add("--flow", setup.name.clone());
        let is_usual = app.app.family() == Family::Model(app.model.clone());
        if !is_usual {
            add("--max-rate", format!("{}bit", app.model.highest.as_bps()));
        }
        if app.media == AppMedia::BothWays {
            words.push("--both-ways".to_owned());
        }
        Job {
            flow,
            end,
            what: format!("the model of {}", app.app),
            command: words,
            environment: Vec::new(),
            start: StartTime::Before,
            output: OutputFormat::Lines,
            exit: ExitPolicy::Never,
        }
    };
    Ok(vec![job(End::Sink), job(End::Source)])
}
