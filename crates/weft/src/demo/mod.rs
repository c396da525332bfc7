//! `weft demo`: one call over two emulated links, a plain one beside it.

mod calls;
mod figures;
mod page;
mod relay;
mod ride;
#[cfg(test)]
mod same_call;
mod settings;
mod show;
mod shutter;
mod terminal;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use weft_endpoint::{Notice, Notices};
use weft_net::Clock;
use weft_server::{Server, ServerConfig};

use crate::cli::DemoArgs;
use crate::exit::{self, Failure, say, say_json};
use crate::interrupt;
use crate::options;
use crate::state::state_folder;

use calls::DemoRun;
use page::Board;
use show::Show;
use terminal::Screen;

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
    let run = DemoRun::build(&args, clock, &server, &notices(&board))?;
    if args.headless {
        complain!("weft: both calls are being set up");
    } else {
        say(format_args!("{}/demo", server.url.trim_end_matches('/')))?;
        complain!("weft: both calls run until Ctrl-C ends them; watched, they take about a core");
    }
    let (stop, stopped) = channel();
    interrupt::on_ctrl_c(move || {
        let _ = stop.send(());
    });
    let length = match (args.seconds, args.headless) {
        (Some(seconds), _) => Some(Duration::from_secs(seconds)),
        (None, true) => Some(Duration::from_secs(HEADLESS_SECONDS)),
        (None, false) => None,
    };
    let mut show = Show {
        run,
        board,
        clock,
        screen: Screen::new(args.headless),
        length,
        stopped,
    };
    let played = show.play();
    show.run.end();
    server.shutdown();
    let result = played?;
    match (json, &args.json) {
        (Some(mut file), Some(path)) => writeln!(file, "{result:#}").map_err(|error| {
            Failure::Run(format!(
                "--json {}: {error}; is the disk full?",
                path.display()
            ))
        })?,
        _ if args.headless => say_json(format_args!("{result:#}"))?,
        _ => {}
    }
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

/// What the endpoints say goes to the terminal; what makes the figures untrue
/// to the page as well.
fn notices(board: &Board) -> Notices {
    let (terminal, board) = (exit::notices(), board.clone());
    Notices::new(move |notice| match notice {
        Notice::TooSlow { missed } => {
            board.tell_slow(missed);
            complain!("weft: {}", options::with_smaller(&notice, "--size 360p"));
        }
        notice => terminal.tell(notice),
    })
}
