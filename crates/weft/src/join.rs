//! `weft join`: publishes over all links and receives the other participants.

mod recording;

use std::time::Duration;

use weft_endpoint::signalling::Invitation;
use weft_endpoint::{Call, CallConfig, Event, LinkUse, Receiving, Statistics, Stopper, Switch};
use weft_trace::qlog::VantagePoint;

use crate::cli::JoinArgs;
use crate::console::Console;
use crate::exit::Failure;
use crate::follow::{Output, follow};
use crate::interrupt;
use crate::options;
use crate::statistics::StatsFile;
use crate::tracing;
use crate::vehicle::{Controls, Facts, Figures, Pictures, Recorded, VehiclePage};
use recording::SharedRecording;

pub fn run(args: JoinArgs) -> Result<(), Failure> {
    let mut config = config(&args, &place(&args)?);
    if config.receiving == Receiving::Nobody && !config.send.publishes() {
        let remedy = "--send-only: there is nothing to send; name a --camera or a --mic";
        return Err(Failure::usage(remedy));
    }
    let mut outputs = Outputs {
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
            .map(|file| SharedRecording::new(file, args.recording()))
            .transpose()?
            .unwrap_or_default(),
        console: Console::default(),
        page: None,
        pictures: Pictures::default(),
    };
    let traces = args.send.traces.create("join", VantagePoint::Client)?;
    config.send.tracer = traces.tracer();
    let microphone = config.send.microphone.is_some();
    let call = Call::start(config)?;
    if let Some(listen) = args.vehicle.page {
        let facts = Facts {
            command: "join",
            title: place(&args)?.room,
            name: outputs.name.clone(),
            previews: call.previews().to_vec(),
            microphone,
        };
        let page = VehiclePage::start(listen, facts, &outputs.pictures, outputs.controls(&call))?;
        outputs.page = Some(page);
    }
    if let Some(stats) = outputs.stats.as_mut().filter(|_| args.watch) {
        stats.watch(call.clock());
    }
    let stopper = call.stopper();
    // Cutting off would damage only a recording or a trace.
    let late = i32::from(args.record.is_some() || !traces.paths().is_empty());
    interrupt::on_ctrl_c(move || {
        interrupt::end_after(Duration::ZERO, late);
        stopper.stop();
    });
    let limit = args.send.seconds.map(Duration::from_secs);
    if let Some(limit) = limit {
        interrupt::end_after(limit, late);
    }
    outputs.follow(&call, limit);
    let ended = call.leave().map_err(Failure::from);
    ended.and(outputs.finish()).and(tracing::finish(traces))
}

/// Server, room and token, from the options or an invitation link.
fn place(args: &JoinArgs) -> Result<Invitation, Failure> {
    let Some(invitation) = Invitation::parse(&args.url) else {
        let url = args.url.to_ascii_lowercase();
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Failure::usage(format!(
                "`{}` is not the URL of a server: write it like https://HOST:PORT, or give the \
                 whole invitation link",
                args.url
            )));
        }
        let room = args.room.clone().ok_or_else(|| {
            Failure::usage(
                "no room is named: use --room, or give the whole invitation link, \
                 https://HOST:PORT/r/ROOM?token=…",
            )
        })?;
        return Ok(Invitation {
            server: args.url.clone(),
            room,
            token: args.server.token.clone(),
        });
    };
    if let Some(room) = args.room.as_ref().filter(|room| **room != invitation.room) {
        return Err(Failure::usage(format!(
            "--room {room}: the invitation is for the room `{}`; remove one of the two",
            invitation.room
        )));
    }
    Ok(Invitation {
        token: invitation.token.or_else(|| args.server.token.clone()),
        ..invitation
    })
}

fn config(args: &JoinArgs, place: &Invitation) -> CallConfig {
    CallConfig {
        server: args.server.server(&place.server, place.token.clone()),
        send: args.send.config(),
        receiving: match args.send_only {
            true => Receiving::Nobody,
            false => Receiving::Everybody,
        },
        speaker: args.vehicle.speaker(),
        echo: args.vehicle.echo(),
        ..CallConfig::new(&place.server, &place.room)
    }
}

/// Output files.
struct Outputs {
    name: String,
    publishes: bool,
    stats: Option<StatsFile>,
    recording: SharedRecording,
    console: Console,
    page: Option<VehiclePage>,
    pictures: Pictures,
}

impl Outputs {
    fn controls(&self, call: &Call) -> CallControls {
        CallControls {
            call: call.stopper(),
            recording: self.recording.clone(),
        }
    }

    /// Writes the call's output until the call ends or reaches its time limit.
    fn follow(&mut self, call: &Call, limit: Option<Duration>) {
        follow(
            limit,
            |wait| call.next_event(wait),
            || call.statistics(),
            |output| match output {
                Output::Event(Event::Muted) => {
                    let stopper = call.stopper();
                    let how = self.console.on_line(move || stopper.unmute());
                    event_line!("weft: {}; {how} to unmute", Event::Muted);
                }
                Output::Event(event) => self.on_event(&event),
                Output::Figures(figures) => {
                    if let Some(stats) = &mut self.stats {
                        stats.write(&figures);
                    }
                    if let Some(page) = &self.page {
                        page.show(&shown(&figures, self.recording.state()));
                    }
                }
            },
        );
    }

    fn on_event(&mut self, event: &Event) {
        self.recording.on_event(event);
        if let Some(stats) = &mut self.stats {
            stats.on_event(event);
        }
        match event {
            Event::Frame(played) if self.page.is_some() => self.pictures.on_frame(played),
            Event::PlayingEnded { id } => self.pictures.end(id),
            Event::Joined { .. } if !self.publishes => event_line!(
                "weft: connected as `{}`, receives only; --camera and --mic publish",
                self.name
            ),
            Event::Fault(error) => {
                event_line!("weft: {}; retrying", options::of_signalling(error));
            }
            Event::Notice(notice) => event_line!("weft: {}", options::of_notice(notice)),
            Event::CannotReceive { error } => event_line!(
                "weft: cannot receive the others: {}; retrying",
                options::of_connect(error)
            ),
            event if event.is_for_people() => event_line!("weft: {event}"),
            _ => {}
        }
    }

    /// Closes the outputs; returns an error if one is incomplete.
    fn finish(self) -> Result<(), Failure> {
        if let Some(page) = self.page {
            page.end();
        }
        let recording = self.recording.finish();
        let stats = self.stats.map_or(Ok(()), StatsFile::finish);
        recording.map_err(Failure::from).and(stats)
    }
}

/// Controls of the page in the vehicle.
struct CallControls {
    call: Stopper,
    recording: SharedRecording,
}

impl Controls for CallControls {
    fn use_link(&self, name: &str, usage: LinkUse) {
        self.call.use_link(name, usage);
    }

    fn switch_microphone(&self, switch: Switch) {
        self.call.switch_microphone(switch);
    }

    fn switch_cameras(&self, switch: Switch) {
        self.call.switch_cameras(switch);
    }

    fn record(&self, switch: Switch) -> bool {
        let is_there = self.recording.switch(switch);
        if is_there && switch == Switch::On {
            self.call.request_keyframes();
        }
        is_there
    }

    fn leave(&self) {
        self.call.stop();
    }
}

/// Figures on the page: links of the publishing connection or, without one, of the
/// receiving one.
fn shown(figures: &Statistics, recorded: Recorded) -> Figures<'_> {
    let reception = figures.reception;
    let reception = figures.peers.iter().find(|p| Some(p.peer) == reception);
    let others = figures.participants.iter();
    Figures {
        elapsed: figures.elapsed,
        report: figures.published().or(reception),
        others: others.map(|p| (p.id.clone(), p.name.clone())).collect(),
        muted: figures.muted,
        switches: figures.switches,
        recorded,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Invitation, place};
    use crate::cli::{Cli, Command};

    /// Returns the target of `weft join` with these arguments, or its error.
    fn place_of(words: &str) -> Result<Invitation, String> {
        let line = ["weft", "join"].into_iter().chain(words.split(' '));
        match Cli::try_parse_from(line).map(|cli| cli.command) {
            Ok(Command::Join(args)) => place(&args).map_err(|error| error.to_string()),
            other => panic!("{words}: {other:?}"),
        }
    }

    #[test]
    fn options_and_an_invitation_lead_to_the_same_place() {
        let expected = Ok(Invitation {
            server: "https://h:1".to_owned(),
            room: "ride".to_owned(),
            token: Some("abc".to_owned()),
        });
        for words in [
            "https://h:1 --room ride --token abc",
            "https://h:1/r/ride?token=abc",
            "https://h:1/r/ride --token abc",
            "https://h:1/r/ride?token=abc --room ride --token of-the-environment",
        ] {
            assert_eq!(place_of(words), expected, "{words}");
        }
    }

    #[test]
    fn a_room_is_named_once() {
        for (words, remedy) in [
            ("https://h:1", "use --room"),
            ("https://h:1/r/ride --room other", "remove one of the two"),
        ] {
            let error = place_of(words).expect_err(words);
            assert!(error.contains(remedy), "{words}: {error}");
        }
    }
}
