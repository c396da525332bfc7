//! `weft emu app`: one end of a modelled application.

use std::os::fd::AsFd as _;

use weft_lab::engine::emu::{ModelEnd, ModelEndError};

use super::args::AppArgs;
use crate::exit::Failure;

impl From<ModelEndError> for Failure {
    fn from(error: ModelEndError) -> Failure {
        match error {
            ModelEndError::NoModel(_) | ModelEndError::Limit(_) => Failure::usage(error),
            ModelEndError::Address { .. } => Failure::machine(error),
            ModelEndError::Io(_) => Failure::Run(error.to_string()),
        }
    }
}

pub fn app(args: AppArgs) -> Result<(), Failure> {
    let end = ModelEnd {
        app: args.app,
        max_rate: args.max_rate,
        role: args.role,
        both_ways: args.both_ways,
        here: args.here,
        peer: args.peer,
        seed: args.seed,
        flow: args.flow,
    };
    end.run(std::io::stdin().as_fd(), &mut std::io::stdout())?;
    Ok(())
}
