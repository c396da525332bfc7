//! `weft call`: straight to a browser. The page and the signalling come from
//! a server in this process whose media plane is this one sender; no packet
//! passes through a media server.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use weft_media::MicrophoneSpec;
use weft_net::{Clock, Remote};
use weft_peer::{PeerKey, Section};
use weft_server::axum::routing::get;
use weft_server::axum::{Json, Router};
use weft_server::media_plane::{
    self, Command as MediaCommand, Event as MediaEvent, EventSender, MediaError, MediaPlane,
    Negotiated, ResourceId, Stats,
};
use weft_server::{
    LinkReport, ParticipantKind, Publishing, Resident, Security, Server, unguessable,
};

use crate::cli::CallArgs;
use crate::exit::{self, Failure};
use crate::interrupt;
use crate::serve;
use crate::statistics::StatsFile;
use weft_endpoint::caller::{CallError, Command, News, OfferId, Patience, ask};
use weft_endpoint::links::{self, Board, Links};
use weft_endpoint::signalling::with_remedy;
use weft_endpoint::sources::{self, Encoding, Sources};
use weft_endpoint::{OwnSources, StartError};

/// The page plays `/whep/call/sender`.
const ROOM: &str = "call";
const SENDER: &str = "sender";
const FIGURES: Duration = Duration::from_secs(1);

pub fn run(args: CallArgs) -> Result<(), Failure> {
    let clock = Clock::start();
    let notices = exit::notices();
    let send = &args.send;
    if send.cameras.is_empty() && send.mic.is_none() {
        return Err(Failure::Usage(
            "there is nothing to send: name a --camera (try `--camera clip`) or a --mic".to_owned(),
        ));
    }
    let loopback = Some(args.page.listen.ip()).filter(IpAddr::is_loopback);
    let all = links::links_or_all(&send.links, loopback);
    let (specs, scope) = all.map_err(StartError::from)?;
    let links = Links::check(specs, scope, &notices).map_err(Failure::usage)?;
    let mut sources = Sources::open(&send.cameras, OwnSources::default(), clock)?;
    let microphone = send.mic.as_ref().map(MicrophoneSpec::open).transpose();
    sources.microphone = microphone.map_err(StartError::from)?;
    let encoding = Encoding {
        codec: send.codec,
        // There is no server to thin anything out.
        layers: 1,
        degradation: send.degradation,
    };
    let (sections, publishing) = (sources.sections(), sources.publishing());
    let mut stats = send.stats.as_deref().map(StatsFile::create).transpose()?;
    let driver = sources::start(clock, links, send.sending(), sources, encoding, notices)?;
    let (events, incoming) = media_plane::events();
    let board = Arc::default();
    let plane = Arc::new(DirectPlane {
        clock,
        remote: driver.remote.clone(),
        sections,
        publishing: publishing.clone(),
        events,
        connections: Arc::default(),
    });
    let mut config = serve::config(args.page, router(&send.name, &publishing, &board));
    let own_certificate = config.security == Security::Auto;
    // Whoever finds the port must not see what is sent.
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
        let _ = stop.send(());
    });
    let started = Instant::now();
    let end = send.seconds.map(|s| started + Duration::from_secs(s));
    while stopped.recv_timeout(FIGURES).is_err() {
        if end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
        let Ok(reports) = ask(&driver.remote, Command::Report) else {
            break;
        };
        // The latest viewer's: earlier ones may have gone without a word.
        if let Some(report) = reports.iter().rfind(|r| r.connected) {
            let figures = report.link_reports();
            *board.lock().expect("nothing panics with the board in hand") = figures;
        }
        if let Some(stats) = &mut stats {
            stats.write(started.elapsed(), &reports);
        }
    }
    server.shutdown();
    driver.remote.send(Command::Stop);
    driver.join();
    stats.map_or(Ok(()), StatsFile::finish)
}

fn router(name: &str, publishing: &Publishing, links: &Arc<Mutex<Vec<LinkReport>>>) -> Router {
    let (name, links) = (name.to_owned(), Arc::clone(links));
    let publishing = publishing.clone();
    let call = move || {
        let links = links
            .lock()
            .expect("nothing panics with the board in hand")
            .clone();
        let answer = json!({
            "mode": "call", "name": name, "publishing": publishing, "links": links
        });
        async move { Json(answer) }
    };
    Router::new().route("/api/call", get(call))
}

/// A media plane with one publisher: this endpoint.
struct DirectPlane {
    clock: Clock,
    remote: Remote<Command>,
    sections: Vec<Section>,
    publishing: Publishing,
    events: EventSender,
    connections: Arc<Mutex<BTreeMap<ResourceId, Connection>>>,
}

enum Connection {
    Offered(OfferId, Patience),
    Up(PeerKey),
}

impl MediaPlane for DirectPlane {
    fn send(&self, command: MediaCommand) {
        match command {
            MediaCommand::Publish { reply, .. } => {
                let reason = "this is a call to watch; it takes no other publisher".to_owned();
                let _ = reply.send(Err(MediaError::WrongState { reason }));
            }
            MediaCommand::Play {
                resource,
                offer: None,
                reply,
                ..
            } => {
                let _ = reply.send(self.offer(resource));
            }
            MediaCommand::Play { reply, .. } => {
                let reason = "the sender makes the offer: POST without a body".to_owned();
                let _ = reply.send(Err(MediaError::WrongState { reason }));
            }
            MediaCommand::Answer {
                resource,
                sdp,
                reply,
            } => {
                let _ = reply.send(self.accept(&resource, sdp));
            }
            MediaCommand::Candidates { reply, .. } => {
                // The browser's checks tell its addresses.
                let _ = reply.send(Ok(()));
            }
            MediaCommand::Close { resource } => {
                let connection = self.lock().remove(&resource);
                self.end(connection);
            }
            MediaCommand::Stats { reply } => {
                let playbacks = self.lock().len() as u64;
                let _ = reply.send(Ok(Stats {
                    publications: 1,
                    playbacks,
                    ..Stats::default()
                }));
            }
        }
    }
}

impl DirectPlane {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ResourceId, Connection>> {
        self.connections
            .lock()
            .expect("nothing panics with the connections in hand")
    }

    fn end(&self, connection: Option<Connection>) {
        match connection {
            Some(Connection::Up(peer)) => self.remote.send(Command::Close(peer)),
            Some(Connection::Offered(offer, _)) => self.remote.send(Command::Withdraw(offer)),
            None => return,
        };
    }

    /// Forgets the visitors who asked for an offer and never answered it.
    fn forget_unanswered(&self) {
        let now = self.clock.now();
        self.lock().retain(|resource, connection| {
            let overdue = matches!(connection, Connection::Offered(_, p) if p.is_over(now));
            if overdue {
                let (resource, reason) =
                    (resource.clone(), "the offer was not answered".to_owned());
                let _ = self.events.send(MediaEvent::Ended { resource, reason });
            }
            !overdue
        });
    }

    fn offer(&self, resource: ResourceId) -> Result<Negotiated, MediaError> {
        self.forget_unanswered();
        let sections = self.sections.clone();
        let offered = ask(&self.remote, |reply| Command::Offer { sections, reply });
        let (id, sdp) = offered.map_err(|_| MediaError::Gone)?.map_err(describe)?;
        let patience = Patience::from(self.clock.now());
        self.lock()
            .insert(resource, Connection::Offered(id, patience));
        Ok(Negotiated {
            sdp,
            streams: self.publishing.clone(),
        })
    }

    fn accept(&self, resource: &ResourceId, answer: String) -> Result<(), MediaError> {
        let offer = match self.lock().get(resource) {
            Some(Connection::Offered(id, _)) => *id,
            Some(Connection::Up(_)) => {
                let reason = "it has its answer already".to_owned();
                return Err(MediaError::WrongState { reason });
            }
            None => return Err(MediaError::UnknownResource),
        };
        let (news, incoming) = channel();
        let accepted = ask(&self.remote, |reply| Command::Accept {
            offer,
            answer,
            news: news.into(),
            reply,
        });
        let peer = accepted.map_err(|_| MediaError::Gone)?.map_err(describe)?;
        if let Some(connection) = self.lock().get_mut(resource) {
            *connection = Connection::Up(peer);
        } else {
            // It was closed meanwhile.
            self.remote.send(Command::Close(peer));
            return Err(MediaError::UnknownResource);
        }
        let (events, resource) = (self.events.clone(), resource.clone());
        let (remote, connections) = (self.remote.clone(), Arc::clone(&self.connections));
        thread::spawn(move || {
            let mut board = Board::default();
            while let Ok(news) = incoming.recv() {
                match news {
                    News::Connected => {
                        let _ = events.send(MediaEvent::Connected {
                            resource: resource.clone(),
                        });
                    }
                    News::Failed(reason) => {
                        remote.send(Command::Close(peer));
                        let gone = connections.lock().map(|mut c| c.remove(&resource));
                        if gone.is_ok() {
                            let _ = events.send(MediaEvent::Ended { resource, reason });
                        }
                        return;
                    }
                    News::Path { path, link, up } => {
                        if board.on_path(Instant::now(), path, &link, up).is_some() {
                            complain!("weft: link `{link}` is {}", if up { "up" } else { "down" });
                        }
                    }
                    News::Frame { .. } | News::Ended => {}
                }
            }
        });
        Ok(())
    }
}

fn describe(error: CallError) -> MediaError {
    MediaError::BadDescription {
        reason: error.to_string(),
    }
}
