//! `weft demo`: one call over two emulated links, a plain one beside it.

mod calls;
mod figures;
mod page;
mod relay;
mod ride;
#[cfg(test)]
mod same_call;
mod settings;
mod terminal;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use weft_net::Clock;
use weft_server::{Server, ServerConfig};

use crate::cli::DemoArgs;
use crate::exit::{Failure, say};
use crate::interrupt;
use crate::state::state_folder;

use calls::{DemoRun, SETUP};
use figures::Figures;
use page::{Board, Wish};
use ride::Ride;

/// The ride moves on this often: a fade looks smooth and a cut is sharp.
const RIDE_STEP: Duration = Duration::from_millis(50);
/// The page and the terminal hear of it this often.
const TICK: Duration = Duration::from_millis(250);
/// Headless runs last this long unless told: one whole ride.
const HEADLESS_SECONDS: u64 = 60;

pub fn run(args: DemoArgs) -> Result<(), Failure> {
    let clock = Clock::start();
    let board = Board::new();
    let mut listen = args.listen;
    if !listen.ip().is_loopback() {
        // Its links are relays, which lead nowhere else.
        return Err(Failure::usage(format!(
            "--listen {listen}: the demo is for this machine alone; from another one forward the \
             port: ssh -L {port}:127.0.0.1:{port} HOST",
            port = listen.port()
        )));
    }
    if args.headless {
        // Nobody opens the page: any port will do.
        listen.set_port(0);
    }
    let json = args.json.as_deref().map(create).transpose()?;
    let config = ServerConfig {
        listen,
        state: state_folder(),
        extra: Some(page::router(&board)),
        ..ServerConfig::default()
    };
    let server = Server::start(config)?;
    let mut run = DemoRun::build(&args, clock, &server)?;
    if args.headless {
        complain!("weft: both calls are being set up");
    } else {
        say(format_args!("{}/demo", server.url.trim_end_matches('/')))?;
        complain!("weft: both calls run until Ctrl-C ends them; their cameras take about a core");
    }
    let (stop, stopped) = channel();
    interrupt::on_ctrl_c(move || {
        let _ = stop.send(());
    });
    if let Err(failure) = wait_for_pictures(&run, &stopped) {
        run.end();
        server.shutdown();
        return Err(failure);
    }
    let length = match (args.seconds, args.headless) {
        (Some(seconds), _) => Some(Duration::from_secs(seconds)),
        (None, true) => Some(Duration::from_secs(HEADLESS_SECONDS)),
        (None, false) => None,
    };
    let mut figures = Figures::begin(clock.now(), &run);
    let started = Instant::now();
    let mut began = started;
    let mut next_tick = began;
    let mut screen = terminal::Screen::new(args.headless);
    loop {
        if length.is_some_and(|l| started.elapsed() >= l) {
            break;
        }
        for wish in board.take_wishes() {
            match wish {
                Wish::Link(link, to) => run.ride.set(link, to),
                Wish::Set(setting) => run.set_weft(setting),
                Wish::Restart => {
                    run.ride = Ride::default();
                    figures = Figures::begin(clock.now(), &run);
                    began = Instant::now();
                }
            }
        }
        let elapsed = began.elapsed();
        run.ride.settle(elapsed.into());
        let state = run.ride.at(elapsed.into());
        run.apply(&state);
        if Instant::now() >= next_tick {
            next_tick += TICK;
            let tick = figures.tick(clock.now(), elapsed, state.headline(), &run);
            screen.show(&tick, length);
            board.publish(&tick);
        }
        if stopped.recv_timeout(RIDE_STEP).is_ok() {
            break;
        }
    }
    screen.end();
    let result = figures.result(clock.now(), began.elapsed(), &run);
    match (json, &args.json) {
        (Some(mut file), Some(path)) => writeln!(file, "{result:#}").map_err(|error| {
            Failure::Run(format!(
                "--json {}: {error}; is the disk full?",
                path.display()
            ))
        })?,
        _ if args.headless => say(format_args!("{result:#}"))?,
        _ => {}
    }
    run.end();
    server.shutdown();
    Ok(())
}

/// The file for the measurements: a minute later it would be too late to learn
/// that there can be none.
fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        Failure::Usage(format!(
            "--json {}: {error}; choose a directory that exists and may be written",
            path.display()
        ))
    })
}

/// Measuring begins when both calls stand.
fn wait_for_pictures(run: &DemoRun, stopped: &Receiver<()>) -> Result<(), Failure> {
    let deadline = Instant::now() + SETUP;
    while !run.both_show_pictures() {
        if stopped.recv_timeout(RIDE_STEP).is_ok() {
            return Err(Failure::Run("stopped before the calls stood".to_owned()));
        }
        if Instant::now() > deadline {
            return Err(Failure::Run(format!(
                "no picture arrived within {} s; is the machine overloaded?",
                SETUP.as_secs()
            )));
        }
    }
    Ok(())
}
