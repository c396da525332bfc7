//! `weft call`: a direct call to a browser. The page and the signalling come
//! from a server in this process whose media plane is this one sender; no media
//! server forwards packets.

use std::net::IpAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use weft_endpoint::caller::CallError;
use weft_endpoint::signalling::with_remedy;
use weft_endpoint::{AnswerError, Direct, DirectEvent, Event};
use weft_server::axum::routing::get;
use weft_server::axum::{Extension, Json, Router};
use weft_server::media_plane::{
    self, Destination, Event as MediaEvent, EventSender, Media, MediaError, MediaPlane, Negotiated,
    Play, Request, ResourceId, Stats,
};
use weft_server::{
    Admitted, LinkReport, ParticipantKind, Publishing, Resident, Security, Server, unguessable,
};

use crate::cli::CallArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::serve;
use crate::statistics::StatsFile;

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
    let mut stats = send.stats.as_deref().map(StatsFile::create).transpose()?;
    let (events, incoming) = media_plane::events();
    let hear = move |event| on_event(&events, event);
    let direct = Direct::start(send.config(), loopback, exit::notices(), hear)?;
    let publishing = direct.publishing().clone();
    let direct = Arc::new(direct);
    let shared_links = Arc::default();
    let plane = Arc::new(DirectPlane(Arc::clone(&direct)));
    let mut config = serve::config(args.page, router(&send.name, &publishing, &shared_links));
    let own_certificate = config.security == Security::Auto;
    // Other users of the network may find the port, but must not see the call.
    let made = (loopback.is_none() && config.token.is_none()).then(unguessable);
    config.token = config.token.or_else(|| made.clone());
    let server = Server::start_with(config, plane, incoming)?;
    let resident = Resident {
        room: ROOM,
        name: SENDER,
        kind: ParticipantKind::Native,
        publishing,
    };
    server
        .add_resident(&resident)
        .map_err(|problem| Failure::Run(with_remedy(&problem.error, &problem.remedy)))?;
    serve::tell_urls(&server, made.as_deref())?;
    if own_certificate {
        serve::tell_certificate(&server);
    }
    let (stop, stopped) = channel();
    interrupt::on_ctrl_c(move || {
        interrupt::end_after(Duration::ZERO, 0);
        let _ = stop.send(());
    });
    let end = send
        .seconds
        .map(|s| Instant::now() + Duration::from_secs(s));
    while stopped.recv_timeout(FIGURES).is_err() {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let Some(figures) = direct.statistics() else {
            break;
        };
        // The latest viewer: earlier ones may have vanished without closing.
        if let Some(report) = figures.peers.iter().rfind(|r| r.connected) {
            let links = report.link_reports();
            *shared_links
                .lock()
                .expect("nothing panics while it holds the links") = links;
        }
        if let Some(stats) = &mut stats {
            stats.write(&figures);
        }
    }
    server.shutdown();
    direct.leave();
    stats.map_or(Ok(()), StatsFile::finish)
}

fn router(name: &str, publishing: &Publishing, links: &Arc<Mutex<Vec<LinkReport>>>) -> Router {
    let (name, links) = (name.to_owned(), Arc::clone(links));
    let publishing = publishing.clone();
    // Without the token, a request learns only that there is a call.
    let call = move |Extension(Admitted(admitted)): Extension<Admitted>| {
        let links = links
            .lock()
            .expect("nothing panics while it holds the links")
            .clone();
        let answer = match admitted {
            true => json!({
                "mode": "call", "name": name, "publishing": publishing, "links": links
            }),
            false => json!({ "mode": "call" }),
        };
        async move { Json(answer) }
    };
    Router::new().route("/api/call", get(call))
}

/// Media plane with one publisher: this endpoint. The resource ids identify the
/// viewers.
struct DirectPlane(Arc<Direct>);

impl MediaPlane for DirectPlane {
    fn send(&self, _: Destination<'_>, request: Request) {
        let mut plane = self;
        request(&mut plane);
    }
}

impl Media for &DirectPlane {
    fn play(&mut self, play: Play) -> Result<Negotiated, MediaError> {
        if play.offer.is_some() {
            let reason = "the sender makes the offer: POST without a body".to_owned();
            return Err(MediaError::WrongState { reason });
        }
        let sdp = self.0.offer(&play.resource.0).map_err(describe)?;
        let streams = self.0.publishing().clone();
        Ok(Negotiated {
            sdp,
            streams,
            ice_session: None,
        })
    }

    fn answer(&mut self, resource: ResourceId, sdp: String) -> Result<(), MediaError> {
        self.0
            .accept(&resource.0, sdp)
            .map_err(|error| match error {
                AnswerError::UnknownViewer => MediaError::UnknownResource,
                AnswerError::Answered => MediaError::WrongState {
                    reason: error.to_string(),
                },
                AnswerError::Call(error) => describe(error),
            })
    }

    fn close(&mut self, resource: &ResourceId) {
        self.0.close(&resource.0);
    }

    fn stats(&mut self) -> Stats {
        Stats {
            publications: 1,
            playbacks: self.0.viewers() as u64,
            ..Stats::default()
        }
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

fn describe(error: CallError) -> MediaError {
    match error {
        CallError::Ended => MediaError::Gone,
        error => MediaError::BadDescription {
            reason: error.to_string(),
        },
    }
}
