//! `weft publish`: to any WHIP server, over all links.

use std::time::Duration;

use weft_endpoint::{Event, WhipClient};
use weft_trace::qlog::VantagePoint;

use crate::cli::PublishArgs;
use crate::exit::Failure;
use crate::follow::{Output, follow};
use crate::interrupt;
use crate::options;
use crate::statistics::StatsFile;
use crate::tracing;

pub fn run(args: &PublishArgs) -> Result<(), Failure> {
    let mut send = args.send.config();
    if !send.publishes() {
        return Err(Failure::usage(
            "there is nothing to send: name a --camera (try `--camera clip`) or a --mic",
        ));
    }
    let stats = args.send.stats.as_deref();
    let mut stats = stats.map(StatsFile::create).transpose()?;
    let traces = args.send.traces.create("publish", VantagePoint::Client)?;
    send.tracer = traces.tracer();
    let client = WhipClient::start(&args.server.server(&args.url, None), send)?;
    // Cutting off would damage only a trace.
    let late = i32::from(!traces.paths().is_empty());
    let stopper = client.stopper();
    interrupt::on_ctrl_c(move || {
        interrupt::end_after(Duration::ZERO, late);
        stopper.stop();
    });
    let limit = args.send.seconds.map(Duration::from_secs);
    if let Some(limit) = limit {
        interrupt::end_after(limit, late);
    }
    follow(
        limit,
        |wait| client.next_event(wait),
        || client.statistics(),
        |output| match (output, &mut stats) {
            (Output::Event(event), _) => tell(&event),
            (Output::Figures(figures), Some(stats)) => stats.write(&figures),
            (Output::Figures(_), None) => {}
        },
    );
    let ended = client.leave().map_err(Failure::from);
    let ended = ended.and(stats.map_or(Ok(()), StatsFile::finish));
    ended.and(tracing::finish(traces))
}

/// Prints an event for people.
pub fn tell(event: &Event) {
    match event {
        Event::Fault(error) => {
            event_line!("weft: {}; trying again", options::of_signalling(error));
        }
        Event::Notice(notice) => event_line!("weft: {}", options::of_notice(notice)),
        event if event.is_for_people() => event_line!("weft: {event}"),
        _ => {}
    }
}
