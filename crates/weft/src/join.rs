//! `weft join`: publish over all links, receive everybody else.

use std::time::{Duration, Instant};

use weft_endpoint::signalling::{Server, Trust};
use weft_endpoint::{Call, CallConfig, Event, NoEvent, Receiving, Recording};

use crate::cli::JoinArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::options;
use crate::statistics::StatsFile;

/// Between lines of the statistics file.
const FIGURES: Duration = Duration::from_secs(1);

pub fn run(args: JoinArgs) -> Result<(), Failure> {
    let config = config(&args);
    if config.receiving == Receiving::Nobody && !config.send.publishes() {
        let remedy = "--send-only: there is nothing to send; name a --camera or a --mic";
        return Err(Failure::usage(remedy));
    }
    let mut outlets = Outlets {
        name: config.send.name.clone(),
        publishes: config.send.publishes(),
        stats: args
            .send
            .stats
            .as_deref()
            .map(StatsFile::create)
            .transpose()?,
        recording: args
            .record
            .as_deref()
            .map(|file| Recording::new(file, exit::notices()))
            .transpose()?,
    };
    let call = Call::start(config)?;
    if let Some(stats) = outlets.stats.as_mut().filter(|_| args.watch) {
        stats.watch(call.clock());
    }
    let stopper = call.stopper();
    interrupt::on_ctrl_c(move || stopper.stop());
    outlets.follow(&call, args.send.seconds.map(Duration::from_secs));
    let ended = call.leave().map_err(Failure::from);
    ended.and(outlets.finish())
}

fn config(args: &JoinArgs) -> CallConfig {
    CallConfig {
        server: Server {
            url: args.url.clone(),
            token: args.token.clone(),
            trust: match (&args.ca, args.insecure) {
                (Some(file), _) => Trust::File(file.clone()),
                (None, true) => Trust::Anybody,
                (None, false) => Trust::Public,
            },
        },
        send: args.send.config(),
        receiving: match args.send_only {
            true => Receiving::Nobody,
            false => Receiving::Everybody,
        },
        ..CallConfig::new(&args.url, &args.room)
    }
}

/// Where things are written.
struct Outlets {
    name: String,
    publishes: bool,
    stats: Option<StatsFile>,
    recording: Option<Recording>,
}

impl Outlets {
    /// Writes what the call says until it ends or its time is over.
    fn follow(&mut self, call: &Call, limit: Option<Duration>) {
        let end = limit.map(|limit| Instant::now() + limit);
        let mut next_figures = Instant::now() + FIGURES;
        loop {
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return;
            }
            if now >= next_figures {
                next_figures = now + FIGURES;
                if let (Some(stats), Some(figures)) = (&mut self.stats, call.statistics()) {
                    stats.write(&figures);
                }
            }
            let wake = end.map_or(next_figures, |end| end.min(next_figures));
            match call.next_event(wake.saturating_duration_since(now)) {
                Ok(event) => self.on_event(&event),
                Err(NoEvent::TimedOut) => {}
                Err(NoEvent::Ended) => return,
            }
        }
    }

    fn on_event(&mut self, event: &Event) {
        if let Some(recording) = &mut self.recording {
            recording.on_event(event);
        }
        match event {
            Event::Frame(played) => {
                if let Some(stats) = &mut self.stats {
                    stats.on_frame(played);
                }
            }
            Event::Joined { .. } if !self.publishes => complain!(
                "weft: connected as `{}`, receives only; --camera and --mic publish",
                self.name
            ),
            Event::Fault(error) => {
                complain!("weft: {}; trying again", options::of_signalling(error));
            }
            Event::Notice(notice) => complain!("weft: {}", options::of_notice(notice)),
            Event::CannotPlay { name, error } => complain!(
                "weft: cannot receive `{name}`: {}; trying again",
                options::of_connect(error)
            ),
            event if event.is_for_people() => complain!("weft: {event}"),
            _ => {}
        }
    }

    /// An error: what was to be written is not whole.
    fn finish(self) -> Result<(), Failure> {
        let recording = self.recording.map_or(Ok(()), Recording::finish);
        let stats = self.stats.map_or(Ok(()), StatsFile::finish);
        recording.map_err(Failure::from).and(stats)
    }
}
