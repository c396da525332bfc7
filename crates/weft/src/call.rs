//! `weft call`: a direct call to browsers. The page and the signalling come
//! from a server in this process whose media plane is this one sender; no media
//! server forwards packets.

mod browsers;
mod plane;

use std::net::IpAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use weft_endpoint::signalling::with_remedy;
use weft_endpoint::{Direct, DirectConfig, DirectEvent, Event, LinkUse, Switch, ViewerCameras};
use weft_server::axum::routing::get;
use weft_server::axum::{Extension, Json, Router};
use weft_server::media_plane::{self, Event as MediaEvent, EventReceiver, EventSender, ResourceId};
use weft_server::{
    Admitted, LinkReport, ParticipantKind, Resident, Security, Server, ServerHandle, unguessable,
};
use weft_trace::qlog::VantagePoint;

use crate::cli::CallArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::serve;
use crate::statistics::StatsFile;
use crate::tracing;
use crate::vehicle::{Controls, Facts, Figures, VehiclePage};
use browsers::Browsers;
use plane::DirectPlane;

/// The page plays `/whep/call/sender`.
const ROOM: &str = "call";
const SENDER: &str = "sender";
const FIGURES: Duration = Duration::from_secs(1);

pub fn run(args: CallArgs) -> Result<(), Failure> {
    let send = &args.send;
    if send.media.cameras.is_empty() && send.media.mic.is_none() {
        return Err(Failure::Usage(
            "there is nothing to send: name a --camera (try `--camera clip`) or a --mic".to_owned(),
        ));
    }
    let loopback = Some(args.page.listen.ip()).filter(IpAddr::is_loopback);
    let stats = send.stats.as_deref().map(StatsFile::create).transpose()?;
    let (events, incoming) = media_plane::events();
    let browsers = Browsers::default();
    let present = browsers.clone();
    let hear = move |event| {
        present.on_event(&event);
        on_event(&events, event);
    };
    let traces = send.traces.create("call", VantagePoint::Client)?;
    let mut config = config(&args, loopback);
    config.send.tracer = traces.tracer();
    let direct = Direct::start(config, exit::notices(), hear)?;
    let direct = Arc::new(direct);
    let links = Links::default();
    let server = serve(&args, (loopback, incoming), &direct, &links)?;
    let (stop, stopped) = channel();
    let page = args.vehicle.page.map(|listen| {
        let facts = Facts {
            command: "call",
            title: "Call".to_owned(),
            name: send.name.clone(),
            previews: direct.previews().to_vec(),
            microphone: send.media.mic.is_some(),
        };
        let controls = DirectControls {
            direct: Arc::clone(&direct),
            stop: stop.clone(),
        };
        browsers.with_pictures(|pictures| VehiclePage::start(listen, facts, pictures, controls))
    });
    let page = page.transpose()?;
    // Cutting off would damage only a trace.
    let late = i32::from(!traces.paths().is_empty());
    interrupt::on_ctrl_c(move || {
        interrupt::end_after(Duration::ZERO, late);
        let _ = stop.send(());
    });
    let mut outputs = Outputs {
        links,
        browsers,
        page,
        stats,
    };
    let limit = send.seconds.map(Duration::from_secs);
    outputs.follow(&direct, &stopped, limit);
    if let Some(page) = outputs.page {
        page.end();
    }
    server.shutdown();
    direct.leave();
    let finished = outputs.stats.map_or(Ok(()), StatsFile::finish);
    finished.and(tracing::finish(traces))
}

fn config(args: &CallArgs, loopback: Option<IpAddr>) -> DirectConfig {
    DirectConfig {
        here: loopback,
        speaker: args.vehicle.speaker(),
        echo: args.vehicle.echo(),
        viewer_cameras: match args.vehicle.page {
            Some(_) => ViewerCameras::Received,
            None => ViewerCameras::Refused,
        },
        ..DirectConfig::new(args.send.config())
    }
}

/// Starts the server of the page and prints its addresses.
fn serve(
    args: &CallArgs,
    (loopback, incoming): (Option<IpAddr>, EventReceiver),
    direct: &Arc<Direct>,
    links: &Links,
) -> Result<ServerHandle, Failure> {
    let plane = Arc::new(DirectPlane(Arc::clone(direct)));
    let mut config = serve::config(args.page.clone(), router(args, direct, links));
    let own_certificate = config.security == Security::Auto;
    // Other users of the network may find the port, but must not see the call.
    let made = (loopback.is_none() && config.token.is_none()).then(unguessable);
    config.token = config.token.or_else(|| made.clone());
    let server = Server::start_with(config, plane, incoming)?;
    let resident = Resident {
        room: ROOM,
        name: SENDER,
        kind: ParticipantKind::Native,
        publishing: direct.publishing(),
    };
    server
        .add_resident(&resident)
        .map_err(|problem| Failure::Run(with_remedy(&problem.error, &problem.remedy)))?;
    serve::tell_urls(&server, made.as_deref())?;
    if own_certificate {
        serve::tell_certificate(&server);
    }
    Ok(server)
}

/// Links of the latest connection, as the browsers' page shows them.
#[derive(Clone, Default)]
struct Links(Arc<Mutex<Vec<LinkReport>>>);

impl Links {
    fn set(&self, links: Vec<LinkReport>) {
        let held = self.0.lock();
        *held.expect("nothing panics while it holds the links") = links;
    }

    fn get(&self) -> Vec<LinkReport> {
        let held = self.0.lock();
        held.expect("nothing panics while it holds the links")
            .clone()
    }
}

fn router(args: &CallArgs, direct: &Arc<Direct>, links: &Links) -> Router {
    let (name, links, direct) = (args.send.name.clone(), links.clone(), Arc::clone(direct));
    let hears = args.vehicle.speaker.is_some();
    let sees = args.vehicle.page.is_some();
    // Without the token, a request learns only that a call exists.
    let call = move |Extension(Admitted(admitted)): Extension<Admitted>| {
        let answer = match admitted {
            true => json!({
                "mode": "call", "name": name, "publishing": direct.publishing(),
                "links": links.get(), "hears": hears, "sees": sees
            }),
            false => json!({ "mode": "call" }),
        };
        async move { Json(answer) }
    };
    Router::new().route("/api/call", get(call))
}

/// Outputs of the call's figures.
struct Outputs {
    links: Links,
    browsers: Browsers,
    page: Option<VehiclePage>,
    stats: Option<StatsFile>,
}

impl Outputs {
    /// Writes the figures until the call ends or reaches its time limit.
    fn follow(&mut self, direct: &Direct, stopped: &Receiver<()>, limit: Option<Duration>) {
        let end = limit.map(|limit| Instant::now() + limit);
        while stopped.recv_timeout(FIGURES).is_err() {
            if end.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            let Some(figures) = direct.statistics() else {
                break;
            };
            // The latest viewer; earlier ones may have vanished without closing.
            let report = figures.peers.iter().rfind(|r| r.connected);
            if let Some(report) = report {
                self.links.set(report.link_reports());
            }
            if let Some(page) = &self.page {
                page.show(&Figures {
                    elapsed: figures.elapsed,
                    report,
                    others: self.browsers.names(),
                    switches: figures.switches,
                    ..Figures::default()
                });
            }
            if let Some(stats) = &mut self.stats {
                stats.write(&figures);
            }
        }
    }
}

/// Controls of the page in the vehicle.
struct DirectControls {
    direct: Arc<Direct>,
    stop: Sender<()>,
}

impl Controls for DirectControls {
    fn use_link(&self, name: &str, usage: LinkUse) {
        self.direct.use_link(name, usage);
    }

    fn switch_microphone(&self, switch: Switch) {
        self.direct.switch_microphone(switch);
    }

    fn switch_cameras(&self, switch: Switch) {
        self.direct.switch_cameras(switch);
    }

    fn leave(&self) {
        // The call has ended if nobody receives it.
        let _ = self.stop.send(());
    }
}

/// Passes viewer events to the server, and reports link events to the user.
fn on_event(server: &EventSender, event: DirectEvent) {
    let event = match event {
        DirectEvent::Connected { viewer } => MediaEvent::Connected {
            resource: ResourceId(viewer),
        },
        DirectEvent::Ended { viewer, reason } => MediaEvent::Ended {
            resource: ResourceId(viewer),
            reason,
        },
        DirectEvent::Unanswered { .. } => {
            complain!(
                "weft: a browser has the page, but nothing comes back from it over UDP on any link; \
                 still trying (does a firewall block UDP, here or at the browser?)"
            );
            return;
        }
        DirectEvent::Link { link, change, .. } => {
            let event = Event::Link { link, change };
            if event.is_for_people() {
                complain!("weft: {event}");
            }
            return;
        }
        _ => return,
    };
    // The receiver is gone while the server shuts down.
    let _ = server.send(event);
}
