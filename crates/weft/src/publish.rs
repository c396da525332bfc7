//! `weft publish`: to any WHIP server, over all links.

use std::time::{Duration, Instant};

use weft_endpoint::{Event, NoEvent, WhipClient};

use crate::cli::PublishArgs;
use crate::exit::Failure;
use crate::interrupt;
use crate::options;
use crate::statistics::StatsFile;

/// Time between lines of the statistics file.
const FIGURES: Duration = Duration::from_secs(1);

pub fn run(args: &PublishArgs) -> Result<(), Failure> {
    let send = args.send.config();
    if !send.publishes() {
        return Err(Failure::usage(
            "there is nothing to send: name a --camera (try `--camera clip`) or a --mic",
        ));
    }
    let stats = args.send.stats.as_deref();
    let mut stats = stats.map(StatsFile::create).transpose()?;
    let client = WhipClient::start(&args.server.server(&args.url, None), send)?;
    let stopper = client.stopper();
    interrupt::on_ctrl_c(move || {
        interrupt::end_after(Duration::ZERO, 0);
        stopper.stop();
    });
    let limit = args.send.seconds.map(Duration::from_secs);
    if let Some(limit) = limit {
        interrupt::end_after(limit, 0);
    }
    follow(&client, limit, stats.as_mut());
    let ended = client.leave().map_err(Failure::from);
    ended.and(stats.map_or(Ok(()), StatsFile::finish))
}

/// Tells what happens and writes figures, until the end.
fn follow(client: &WhipClient, limit: Option<Duration>, mut stats: Option<&mut StatsFile>) {
    let end = limit.map(|limit| Instant::now() + limit);
    let mut next_figures = Instant::now() + FIGURES;
    loop {
        let now = Instant::now();
        if end.is_some_and(|end| now >= end) {
            return;
        }
        if now >= next_figures {
            next_figures = now + FIGURES;
            if let (Some(stats), Some(figures)) = (&mut stats, client.statistics()) {
                stats.write(&figures);
            }
        }
        let wake = end.map_or(next_figures, |end| end.min(next_figures));
        match client.next_event(wake.saturating_duration_since(now)) {
            Ok(Event::Fault(error)) => {
                complain!("weft: {}; trying again", options::of_signalling(&error));
            }
            Ok(Event::Notice(notice)) => complain!("weft: {}", options::of_notice(&notice)),
            Ok(event) if event.is_for_people() => complain!("weft: {event}"),
            Ok(_) | Err(NoEvent::TimedOut) => {}
            Err(NoEvent::Ended) => return,
        }
    }
}
