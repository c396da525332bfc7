//! `weft play`: a stream of any WHEP server, over all links.

mod output;

use std::time::Duration;

use weft_endpoint::{Event, Statistics, WhepClient};
use weft_rooms::LinkState;

use crate::cli::PlayArgs;
use crate::exit::{Failure, say};
use crate::follow::{Output, follow};
use crate::interrupt;
use crate::options;
use crate::statistics::StatsFile;
use output::MediaOutput;

pub fn run(args: &PlayArgs) -> Result<(), Failure> {
    let mut stats = args.stats.as_deref().map(StatsFile::create).transpose()?;
    let output = args.output.as_deref();
    let mut output = output.map(MediaOutput::open).transpose()?;
    let server = args.server.server(&args.url, None);
    let turn_servers = args.links.turn_servers.clone();
    let client = WhepClient::start(&server, &args.links.links, turn_servers)?;
    let stopper = client.stopper();
    // Cutting off would damage only a recording.
    let late = i32::from(output.as_ref().is_some_and(MediaOutput::is_file));
    interrupt::on_ctrl_c(move || {
        interrupt::end_after(Duration::ZERO, late);
        stopper.stop();
    });
    let limit = args.seconds.map(Duration::from_secs);
    if let Some(limit) = limit {
        interrupt::end_after(limit, late);
    }
    let mut before = Statistics::default();
    follow(
        limit,
        |wait| client.next_event(wait),
        || client.statistics(),
        |taken| match taken {
            Output::Event(event) => {
                if let Some(output) = &mut output
                    && !output.on_event(&event)
                {
                    client.stopper().stop();
                }
                tell(&event);
            }
            Output::Figures(figures) => {
                if let Some(stats) = &mut stats {
                    stats.write(&figures);
                }
                if args.output.is_none() && args.stats.is_none() {
                    // A closed pipe means that nobody reads the line.
                    let _ = say(line(&before, &figures));
                }
                before = figures;
            }
        },
    );
    let ended = client.leave().map_err(Failure::from);
    let output = output.map_or(Ok(()), MediaOutput::finish);
    let stats = stats.map_or(Ok(()), StatsFile::finish);
    ended.and(output).and(stats)
}

fn tell(event: &Event) {
    match event {
        Event::Fault(error) => event_line!("weft: {}; retrying", options::of_signalling(error)),
        Event::Notice(notice) => event_line!("weft: {}", options::of_notice(notice)),
        event if event.is_for_people() => event_line!("weft: {event}"),
        _ => {}
    }
}

/// Formats the figures of the time between two statistics as a line.
fn line(before: &Statistics, now: &Statistics) -> String {
    let seconds = (now.elapsed - before.elapsed).as_secs_f64().max(0.001);
    let totals = |figures: &Statistics| {
        let received = figures.received.values().next().cloned();
        let received = received.unwrap_or_default();
        let cameras = received.cameras.iter();
        let pictures: u64 = cameras.clone().map(|camera| camera.frames).sum();
        let freezes: u32 = cameras.map(|camera| camera.freezes.count()).sum();
        (pictures, received.bytes, freezes)
    };
    let (earlier, later) = (totals(before), totals(now));
    let pictures = (later.0 - earlier.0) as f64 / seconds;
    let rate = (later.1 - earlier.1) as f64 * 8.0 / seconds / 1e6;
    let peer = now.peers.iter().find(|p| Some(p.peer) == now.reception);
    let links = peer.map(|peer| peer.link_reports()).unwrap_or_default();
    let links = links.iter().map(|link| match link.state {
        LinkState::Up => format!(", {} {:.0} ms", link.name, link.rtt_ms),
        LinkState::Suspect => format!(", {} silent", link.name),
        LinkState::Down => format!(", {} down", link.name),
    });
    let links: String = links.collect();
    format!(
        "{:.0} s: {pictures:.0} pictures/s, {rate:.2} Mbit/s, {} freezes{links}",
        now.elapsed.as_secs_f64(),
        later.2,
    )
}
