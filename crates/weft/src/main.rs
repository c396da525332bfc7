//! Video call over every link that a machine has at once.
#![cfg_attr(not(test), deny(clippy::print_stderr, clippy::print_stdout))]

// First, because the other modules use its macro.
#[macro_use]
mod exit;
#[macro_use]
mod event_lines;

mod access;
mod call;
mod cli;
mod compose;
mod console;
mod demo;
mod descriptors;
mod doctor;
mod emu;
mod follow;
mod interrupt;
mod join;
mod lab;
mod load;
mod manual;
mod options;
mod play;
mod publish;
mod relay;
mod rooms;
mod sending;
mod serve;
mod state;
mod statistics;
mod token;
mod tracing;
mod values;
mod vehicle;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Command};
use exit::Failure;
use serve::file::Completed;

fn main() -> ExitCode {
    let result = run();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain!("weft: {failure}");
            failure.code()
        }
    }
}

fn run() -> Result<(), Failure> {
    let completed = Completed::read(std::env::args_os().collect())?;
    match Cli::parse_from(completed.line).command {
        Command::Demo(args) => demo::run(args),
        Command::Serve(_) => serve::run(),
        Command::Token(args) => token::run(args),
        Command::Compose(args) => compose::run(&args),
        Command::Rooms(args) => rooms::run(args),
        Command::Join(args) => join::run(args),
        Command::Publish(args) => publish::run(&args),
        Command::Play(args) => play::run(&args),
        Command::Relay(args) => relay::run(args),
        Command::Call(args) => call::run(args),
        Command::Load(args) => load::run(&args),
        Command::Lab(args) => lab::run(args),
        Command::Emu(args) => emu::run(args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => manual::completions(&args, Cli::command()),
        Command::Manual(args) => manual::pages(&args, Cli::command()),
    }
}
