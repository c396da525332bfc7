//! Runs a scenario's whole plan in virtual time.

use std::sync::atomic::AtomicBool;

use weft_lab::engine::sim::Simulator;
use weft_lab::outcome::Outcome;
use weft_lab::{Scenario, run};

pub fn outcome(scenario: &Scenario) -> Outcome<'_> {
    let mut outcome = Outcome::new(scenario);
    let ended: Result<(), ()> =
        run::run(scenario, &Simulator, 2, &AtomicBool::new(false), |ended| {
            match ended {
                Ok(run) => outcome.add(run),
                Err(failed) => outcome.add_failed(failed),
            }
            Ok(())
        });
    assert_eq!(ended, Ok(()));
    outcome
}
