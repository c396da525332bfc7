//! `weft demo`: one call over two emulated links, next to a plain one.

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
use page::PageState;
use show::Show;
use terminal::Screen;

/// Default length of headless runs: one whole ride.
const HEADLESS_SECONDS: u64 = 60;

pub fn run(args: DemoArgs) -> Result<(), Failure> {
    let clock = Clock::start();
    let page_state = PageState::new();
    let mut listen = args.listen;
    if !listen.ip().is_loopback() {
        // The links of the demo are relays that reach only this machine.
        return Err(Failure::usage(format!(
            "--listen {listen}: the demo accepts connections from this machine only; to use it from another one, \
             forward the port: ssh -L {port}:127.0.0.1:{port} HOST",
            port = listen.port()
        )));
    }
    if args.headless {
        // No browser opens the page, so any free port works.
        listen.set_port(0);
    }
    let json = args.json.as_deref().map(create).transpose()?;
    let config = ServerConfig {
        listen,
        state: state_folder(),
        extra: Some(page::router(&page_state)),
        ..ServerConfig::default()
    };
    let server = Server::start(config)?;
    let run = DemoRun::build(&args, clock, &server, &notices(&page_state, &args.size))?;
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
        page_state,
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

/// Creates the file for the measurements at the start, so that an error appears before
/// the run.
fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| {
        Failure::Usage(format!(
            "--json {}: {error}; choose a directory that exists and may be written",
            path.display()
        ))
    })
}

/// Sends notices of the endpoints to the terminal, and those that distort the
/// measurements also to the page.
fn notices(page_state: &PageState, size: &str) -> Notices {
    let (terminal, page_state, smaller) = (exit::notices(), page_state.clone(), smaller_than(size));
    Notices::new(move |notice| match notice {
        Notice::TooSlow { missed } => {
            page_state.tell_slow(missed, smaller);
            match smaller {
                Some(size) => {
                    let option = format!("--size {size}");
                    complain!("weft: {}", options::with_smaller(&notice, &option));
                }
                None => complain!("weft: {notice}"),
            }
        }
        Notice::FastEnough => {
            page_state.tell_fast();
            terminal.send(notice);
        }
        notice => terminal.send(notice),
    })
}

/// Returns the next smaller picture size; `None` if a smaller size saves no time.
fn smaller_than(size: &str) -> Option<&'static str> {
    let height = size.split_once('x').map(|(_, height)| height);
    match size.strip_suffix('p').or(height)?.parse::<u32>().ok()? {
        721.. => Some("720p"),
        361..=720 => Some("360p"),
        181..=360 => Some("320x180"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::smaller_than;

    #[test]
    fn the_remedy_is_smaller_than_the_size_that_was_given() {
        for (size, smaller) in [
            ("1080p", Some("720p")),
            ("720p", Some("360p")),
            ("800x450", Some("360p")),
            ("360p", Some("320x180")),
            ("320x180", None),
        ] {
            assert_eq!(smaller_than(size), smaller, "{size}");
        }
    }
}
