//! `weft join`: publish over all links, receive everybody else.

mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use weft_net::{Clock, Remote};
use weft_peer::{Direction, Section};
use weft_server::escaped;
use weft_session::MediaKind;

use crate::cli::JoinArgs;
use crate::endpoint::caller::{Command, News, Sending, ask};
use crate::endpoint::connect::{ConnectError, Connection, connect};
use crate::endpoint::links::Links;
use crate::exit::Failure;
use crate::interrupt;
use crate::sender::{self, Sources};
use crate::signalling::{
    Identity, Participant, Publishing, Room, RoomEvent, SILENCE, Server, SignallingError, Trust,
};
use crate::statistics::{self, StatsFile};

use record::Recording;

/// Between attempts to reach the server or to play somebody again.
const RETRY: Duration = Duration::from_secs(1);
/// Between figures for the room and the statistics file.
const FIGURES: Duration = Duration::from_secs(1);

pub fn run(args: JoinArgs) -> Result<(), Failure> {
    let clock = Clock::start();
    let send = &args.send;
    let specs = sender::links_or_all(&send.links, loopback(&args.url))?;
    let server = Server {
        url: args.url.clone(),
        token: args.token.clone(),
        trust: match (&args.ca, args.insecure) {
            (Some(file), _) => Trust::File(file.clone()),
            (None, true) => Trust::Anybody,
            (None, false) => Trust::Public,
        },
        links: specs.clone(),
    };
    let room = Room::new(&server, &args.room).map_err(Failure::usage)?;
    let links = Links::check(specs).map_err(Failure::usage)?;
    let names = links.names();
    let sources = Sources::open(&send.cameras, send.mic.clone(), 3, clock)?;
    let kinds = sources.kinds();
    let stats = send.stats.as_deref().map(StatsFile::create).transpose()?;
    let recording = args.record.as_deref().map(Recording::new).transpose()?;
    let sending = Sending {
        scheduler: send.scheduler,
        controller: send.controller,
        max_rate: send.max_rate,
        cname: send.name.clone(),
    };
    let driver = sender::start(clock, links, sending, sources)?;
    let (wishes, inbox) = channel();
    interrupt::on_ctrl_c({
        let wishes = wishes.clone();
        move || {
            let _ = wishes.send(Wish::End);
        }
    });
    let mut call = Joined {
        clock,
        room,
        remote: driver.remote.clone(),
        wishes,
        name: send.name.clone(),
        kinds,
        receiving: !args.send_only,
        own: None,
        stream: 0,
        heard: Instant::now(),
        publication: None,
        shown: false,
        players: BTreeMap::new(),
        others: BTreeMap::new(),
        recording,
        stats,
        links: names,
        first_frame: None,
        started: Instant::now(),
    };
    let ended = call.run(&inbox, send.seconds.map(Duration::from_secs));
    call.leave();
    drop(call);
    driver.join();
    ended
}

/// The address of this machine that a server's URL means, if it does.
fn loopback(url: &str) -> Option<IpAddr> {
    let host = url.split_once("://")?.1;
    let host = host.split(['/', '?', '#']).next()?;
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next()?,
        None => host.split(':').next()?,
    };
    match host {
        "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
        _ => host.parse().ok().filter(IpAddr::is_loopback),
    }
}

/// What the main loop is told.
enum Wish {
    /// From the room's event stream with this number.
    Room(u32, RoomEvent),
    RoomLost(u32, SignallingError),
    Publication(News),
    Player(String, News),
    End,
}

/// A connection that plays a participant.
struct Player {
    connection: Connection,
    /// What was asked for, as they published then.
    wanted: Publishing,
}

struct Joined {
    clock: Clock,
    room: Room,
    remote: Remote<Command>,
    wishes: Sender<Wish>,
    name: String,
    kinds: Vec<MediaKind>,
    receiving: bool,
    own: Option<Identity>,
    /// The number of the event stream that counts, and when it last spoke.
    stream: u32,
    heard: Instant,
    publication: Option<Connection>,
    /// The server has shown what we publish.
    shown: bool,
    players: BTreeMap<String, Player>,
    others: BTreeMap<String, Participant>,
    recording: Option<Recording>,
    stats: Option<StatsFile>,
    links: Vec<String>,
    first_frame: Option<Duration>,
    started: Instant,
}

impl Joined {
    fn run(&mut self, inbox: &Receiver<Wish>, limit: Option<Duration>) -> Result<(), Failure> {
        self.listen_to_room();
        let end = limit.map(|l| self.started + l);
        let mut next_figures = Instant::now() + FIGURES;
        let mut retry_at = None;
        loop {
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                return Ok(());
            }
            if now >= next_figures {
                next_figures += FIGURES;
                self.tell_figures()?;
            }
            if retry_at.is_some_and(|at| now >= at) {
                retry_at = None;
                self.listen_to_room();
            } else if retry_at.is_none() && self.heard.elapsed() > SILENCE {
                eprintln!("weft: nothing heard of the room for a while; asking again");
                self.listen_to_room();
            }
            let mut wait = next_figures.saturating_duration_since(now);
            if let Some(end) = end {
                wait = wait.min(end - now);
            }
            match inbox.recv_timeout(wait) {
                Ok(Wish::End) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Ok(Wish::RoomLost(stream, _)) if stream != self.stream => {}
                Ok(Wish::RoomLost(_, error)) if error.is_passing() && self.own.is_some() => {
                    eprintln!("weft: {error}; trying again");
                    retry_at = Some(Instant::now() + RETRY);
                }
                Ok(Wish::RoomLost(_, error)) => return Err(error.into_failure()),
                Ok(wish) => self.on_wish(wish)?,
                Err(RecvTimeoutError::Timeout) => self.catch_up()?,
            }
        }
    }

    fn on_wish(&mut self, wish: Wish) -> Result<(), Failure> {
        match wish {
            Wish::Room(stream, event) if stream == self.stream => {
                self.heard = Instant::now();
                self.on_room(event)
            }
            Wish::Publication(news) => self.on_publication(news),
            Wish::Player(id, news) => self.on_player(&id, news),
            Wish::Room(..) | Wish::RoomLost(..) | Wish::End => Ok(()),
        }
    }

    /// A thread that reads the room's events until they end. What an earlier
    /// one still says, if it hangs on a dead link, no longer counts.
    fn listen_to_room(&mut self) {
        self.stream += 1;
        self.heard = Instant::now();
        let stream = self.stream;
        let (room, wishes) = (self.room.clone(), self.wishes.clone());
        let mut query = format!("kind=native&name={}", escaped(&self.name));
        let own = self.own.clone();
        if let Some(own) = &own {
            query.push_str(&format!("&id={}", escaped(&own.id)));
        }
        thread::spawn(move || {
            let told = wishes.clone();
            let ended = room.events(&query, own.as_ref(), move |event| {
                told.send(Wish::Room(stream, event)).is_ok()
            });
            let error = ended.err().unwrap_or_else(|| SignallingError::Unreachable {
                url: "the room".to_owned(),
                error: "its event stream ended".to_owned(),
            });
            let _ = wishes.send(Wish::RoomLost(stream, error));
        });
    }

    fn on_room(&mut self, event: RoomEvent) -> Result<(), Failure> {
        match event {
            RoomEvent::Welcome { own, participants } => {
                let all = participants.into_iter().map(|p| (p.id.clone(), p));
                self.others = all.collect();
                let shown = self.others.remove(&own.id).map(|p| p.publishing);
                if self.own.as_ref() != Some(&own) {
                    // The server does not know us any more: it was started
                    // again, or we were away for long. So our connections are gone.
                    self.end_connections();
                    self.own = Some(own);
                } else if let Some(shown) = shown {
                    self.on_own_publishing(shown);
                }
            }
            RoomEvent::Changed(participant) => {
                if Some(&participant.id) == self.own.as_ref().map(|own| &own.id) {
                    self.on_own_publishing(participant.publishing);
                } else {
                    self.play_anew_with_more(&participant);
                    self.others.insert(participant.id.clone(), participant);
                }
            }
            RoomEvent::Left(id) => {
                self.others.remove(&id);
                self.stop_playing(&id);
            }
            RoomEvent::Alive => {}
        }
        self.catch_up()
    }

    /// Who came without a camera and has one now is played from the beginning:
    /// what a connection carries was agreed on when it was made.
    fn play_anew_with_more(&mut self, participant: &Participant) {
        let player = self.players.get(&participant.id);
        if player.is_some_and(|p| participant.publishing.has_more_than(p.wanted)) {
            self.stop_playing(&participant.id);
        }
    }

    /// What the server shows of us. When it has ended our publication, since
    /// nothing came for long, we may hear of it here only.
    fn on_own_publishing(&mut self, shown: Publishing) {
        let shown = shown != Publishing::default();
        if self.shown && !shown {
            eprintln!("weft: the server has ended what we publish; publishing again");
            self.end_publication();
        }
        self.shown = shown;
    }

    /// Makes the connections that should be there.
    fn catch_up(&mut self) -> Result<(), Failure> {
        if self.publication.is_none() && self.own.is_some() && !self.kinds.is_empty() {
            self.publish()?;
        }
        self.play_missing();
        Ok(())
    }

    fn publish(&mut self) -> Result<(), Failure> {
        let sections: Vec<Section> = self
            .kinds
            .iter()
            .map(|kind| Section {
                kind: *kind,
                direction: Direction::Send,
            })
            .collect();
        let mut query = format!("kind=native&name={}", escaped(&self.name));
        if let Some(own) = &self.own {
            query.push_str(&format!("&participant={}", escaped(&own.id)));
        }
        let news = self.news(Wish::Publication);
        let made = connect(&self.remote, sections, news, |offer| {
            self.room.publish(&query, self.own.as_ref(), offer)
        });
        match made {
            Ok(connection) => self.publication = Some(connection),
            Err(ConnectError::Signalling(error)) if error.is_passing() => {
                eprintln!("weft: {error}; trying again");
            }
            Err(ConnectError::Signalling(error)) => return Err(error.into_failure()),
            Err(error) => return Err(Failure::run(error)),
        }
        Ok(())
    }

    /// Plays everybody who publishes and is not played yet.
    fn play_missing(&mut self) {
        if !self.receiving {
            return;
        }
        let wanted: Vec<Participant> = self
            .others
            .values()
            .filter(|p| {
                (p.publishing.video || p.publishing.audio) && !self.players.contains_key(&p.id)
            })
            .cloned()
            .collect();
        for participant in wanted {
            let mut sections = Vec::new();
            for (wanted, kind) in [
                (participant.publishing.video, MediaKind::Video),
                (participant.publishing.audio, MediaKind::Audio),
            ] {
                if wanted {
                    sections.push(Section {
                        kind,
                        direction: Direction::Receive,
                    });
                }
            }
            let id = participant.id.clone();
            let tag = id.clone();
            let news = self.news(move |news| Wish::Player(tag.clone(), news));
            let made = connect(&self.remote, sections, news, |offer| {
                self.room.play(&id, offer)
            });
            match made {
                Ok(connection) => {
                    if let Some(recording) = &mut self.recording {
                        recording.begin(&participant);
                    }
                    let wanted = participant.publishing;
                    self.players.insert(id, Player { connection, wanted });
                }
                // They may be about to publish: tried again with the next figures.
                Err(ConnectError::Signalling(error)) if error.is_passing() => {}
                Err(error) => eprintln!("weft: {}: {error}", participant.name),
            }
        }
    }

    /// A channel for a peer's news that puts `tag` on them for the main loop.
    fn news(&self, tag: impl Fn(News) -> Wish + Send + 'static) -> Sender<News> {
        let (news, incoming) = channel();
        let wishes = self.wishes.clone();
        thread::spawn(move || {
            while let Ok(news) = incoming.recv() {
                if wishes.send(tag(news)).is_err() {
                    return;
                }
            }
        });
        news
    }

    fn on_publication(&mut self, news: News) -> Result<(), Failure> {
        match news {
            News::Connected => eprintln!("weft: connected, publishing as `{}`", self.name),
            News::Path { link, up } => {
                eprintln!("weft: link `{link}` is {}", if up { "up" } else { "down" });
                self.room.on_link(&link, up);
            }
            News::Failed(reason) => {
                eprintln!("weft: publishing failed ({reason}); trying again");
                self.end_publication();
            }
            News::Frame { .. } | News::Ended => {}
        }
        Ok(())
    }

    fn on_player(&mut self, id: &str, news: News) -> Result<(), Failure> {
        match news {
            News::Frame { kind, frame } => {
                if self.first_frame.is_none() {
                    self.first_frame = Some(self.started.elapsed());
                }
                if let Some(recording) = &mut self.recording {
                    recording.take(id, kind, self.clock.now(), &frame)?;
                }
                if let Some(stats) = &mut self.stats {
                    stats.on_frame(id, kind, &frame);
                }
            }
            News::Failed(reason) => {
                eprintln!("weft: receiving `{id}` failed ({reason}); trying again");
                self.stop_playing(id);
            }
            News::Ended => self.stop_playing(id),
            News::Connected | News::Path { .. } => {}
        }
        Ok(())
    }

    fn stop_playing(&mut self, id: &str) {
        if let Some(Player { connection, .. }) = self.players.remove(id) {
            self.remote.send(Command::Close(connection.peer));
            let _ = self.room.delete(&connection.location);
        }
        if let Some(recording) = &mut self.recording {
            recording.end(id);
        }
    }

    /// Tells the room how the links are, and the statistics file everything.
    fn tell_figures(&mut self) -> Result<(), Failure> {
        let Ok(reports) = ask(&self.remote, Command::Report) else {
            return Ok(());
        };
        if let Some(publication) = &self.publication {
            let own = reports.iter().find(|r| r.peer == publication.peer);
            if let Some(own) = own.filter(|r| r.connected) {
                let figures = statistics::links(own, &self.links);
                let (room, location) = (self.room.clone(), publication.location.clone());
                // Beside the call: a slow server must not hold up the frames.
                thread::spawn(move || room.put_links(&location, &figures));
            }
        }
        match &mut self.stats {
            Some(stats) => stats.write(self.started.elapsed(), &reports),
            None => Ok(()),
        }
    }

    fn end_publication(&mut self) {
        self.shown = false;
        if let Some(publication) = self.publication.take() {
            self.remote.send(Command::Close(publication.peer));
            let _ = self.room.delete(&publication.location);
        }
    }

    fn end_connections(&mut self) {
        for id in self.players.keys().cloned().collect::<Vec<_>>() {
            self.stop_playing(&id);
        }
        self.end_publication();
    }

    fn leave(&mut self) {
        self.end_connections();
        self.remote.send(Command::Stop);
    }
}
