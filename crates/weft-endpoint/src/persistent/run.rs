//! Thread of a persistent connection: establishes it, re-establishes it after faults, and
//! ends it.

use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use weft_net::Remote;
use weft_peer::Section;

use super::playback::Playback;
use crate::call::Statistics;
use crate::call::event_sender::CallEventSender;
use crate::call::fault::OngoingFault;
use crate::call::troubles::Diagnosis;
use crate::caller::{CallError, Command, Listener, News, PeerReport, ask};
use crate::connect::{self, ConnectError, Connection};
use crate::event::Event;
use crate::links::{LinkStates, LinkTrouble};
use crate::signalling::{MediaEndpoint, SignallingError};

/// Pause between attempts: the initial one, and the maximum after doubling. Chosen by us:
/// playback resumes within a second after a server restart, and a server that stays down
/// gets two requests a minute.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// Time between checks of the links.
const FIGURES: Duration = Duration::from_secs(1);
/// Time without any path after which the server is asked whether it still has the
/// connection, which a restart loses. Chosen by us: a link that returns is checked within
/// this time.
const LOST: Duration = Duration::from_secs(5);
/// Minimum lifetime of a connection that is re-established without a pause after it fails.
/// Chosen by us: a server that ends each connection at once gets requests no more often
/// than this.
const LASTED: Duration = Duration::from_secs(5);
/// Time for the last request.
const LAST_REQUEST: Duration = Duration::from_millis(500);

/// Message to the thread.
pub(super) enum Message {
    /// Result of the attempt with this number.
    Made(u64, Result<Connection, ConnectError>),
    /// News of the connection of this attempt.
    News(u64, News),
    /// Reason why a link carries no packets.
    Diagnosed(String, LinkTrouble),
    /// Whether the server answered the withdrawal of this attempt's connection, which had
    /// no path.
    Withdrawn(u64, bool),
    Figures(Sender<Statistics>),
    End,
}

/// State of the connection on the server.
enum State {
    Missing { again: Instant },
    Asked,
    Made(Connection),
}

/// Attempts to connect.
struct Attempts {
    /// Number of the last attempt.
    last: u64,
    /// Pause before the next attempt.
    pause: Duration,
    /// Time at which the present connection was established.
    connected: Option<Instant>,
}

/// Connection to one endpoint.
pub(super) struct ConnectionLoop {
    endpoint: MediaEndpoint,
    remote: Remote<Command>,
    sections: Vec<Section>,
    /// `None` if the connection publishes.
    playback: Option<Playback>,
    messages: Sender<Message>,
    events: Arc<CallEventSender>,
    state: State,
    attempts: Attempts,
    /// Reason why no path has reached the server yet; `None` after the first one has.
    missing: Option<ConnectError>,
    /// Time at which the last path was lost.
    lost_at: Option<Instant>,
    is_unanswered: bool,
    link_states: LinkStates,
    fault: OngoingFault,
    diagnosis: Diagnosis,
    started: Instant,
}

impl ConnectionLoop {
    pub fn new(
        endpoint: MediaEndpoint,
        remote: Remote<Command>,
        (sections, playback): (Vec<Section>, Option<Playback>),
        messages: Sender<Message>,
        events: Arc<CallEventSender>,
    ) -> ConnectionLoop {
        let now = Instant::now();
        ConnectionLoop {
            endpoint,
            remote,
            sections,
            playback,
            messages,
            events,
            state: State::Missing { again: now },
            attempts: Attempts {
                last: 0,
                pause: RETRY,
                connected: None,
            },
            missing: Some(ConnectError::Early),
            lost_at: None,
            is_unanswered: false,
            link_states: LinkStates::default(),
            fault: OngoingFault::default(),
            diagnosis: Diagnosis::default(),
            started: now,
        }
    }

    /// Runs until a message ends it or the server refuses permanently.
    pub fn run(&mut self, incoming: &Receiver<Message>) -> Result<(), ConnectError> {
        let mut next_look = Instant::now() + FIGURES;
        loop {
            let now = Instant::now();
            if now >= next_look {
                next_look = now + FIGURES;
                if let Ok(reports) = ask(&self.remote, Command::Report) {
                    self.look_at_links(&reports);
                    self.look_at_paths(now, &reports);
                }
                if let Some(playback) = &mut self.playback {
                    playback.look(now, &self.events);
                }
            }
            let wake = match self.state {
                State::Missing { again } if now >= again => {
                    self.connect();
                    next_look
                }
                State::Missing { again } => again.min(next_look),
                State::Asked | State::Made(_) => next_look,
            };
            match incoming.recv_timeout(wake.saturating_duration_since(now)) {
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => {
                    return self.missing.take().map_or(Ok(()), Err);
                }
                Ok(Message::Made(attempt, made)) => self.on_made(attempt, made)?,
                Ok(Message::News(attempt, news)) if attempt == self.attempts.last => {
                    self.on_news(news)
                }
                Ok(Message::News(_, news)) => self.drop_news(&news),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Message::Withdrawn(attempt, is_answered)) => {
                    self.on_withdrawn(attempt, is_answered);
                }
                Ok(Message::Diagnosed(link, trouble)) => self.on_trouble(link, trouble),
                Ok(Message::Figures(reply)) => {
                    if let Some(figures) = self.figures() {
                        let _ = reply.send(figures);
                    }
                }
            }
        }
    }

    /// Sends the offer on a separate thread, which then forwards the connection's news,
    /// so that none arrives before the connection itself.
    fn connect(&mut self) {
        self.attempts.last += 1;
        self.state = State::Asked;
        self.link_states.clear();
        let (endpoint, remote, messages) = (
            self.endpoint.clone(),
            self.remote.clone(),
            self.messages.clone(),
        );
        let (sections, attempt) = (self.sections.clone(), self.attempts.last);
        let frames = self.playback.as_ref().map(|p| Arc::clone(p.frames()));
        thread::spawn(move || {
            let (listener, news) = channel::<News>();
            let made = match frames {
                None => connect::publish(&remote, sections, listener, &endpoint),
                Some(frames) => {
                    let listener = Listener::new(move |news| {
                        if frames.admit_news(&news) {
                            let _ = listener.send(news);
                        }
                    });
                    connect::play(&remote, sections, listener, &endpoint)
                }
            };
            if let Err(unsent) = messages.send(Message::Made(attempt, made)) {
                if let Message::Made(_, Ok(connection)) = unsent.0 {
                    // The connection was ended in the meantime.
                    let _ = endpoint.delete(&connection.location);
                }
                return;
            }
            for news in news {
                if messages.send(Message::News(attempt, news)).is_err() {
                    return;
                }
            }
        });
    }

    fn on_made(
        &mut self,
        attempt: u64,
        made: Result<Connection, ConnectError>,
    ) -> Result<(), ConnectError> {
        match made {
            Ok(connection) if attempt != self.attempts.last => self.end(connection),
            Ok(connection) => {
                if let Some(lasted) = self.fault.ends(Instant::now()) {
                    self.events.send(Event::FaultEnded { lasted });
                }
                self.miss(ConnectError::Unanswered);
                self.state = State::Made(connection);
            }
            Err(ConnectError::Signalling(error)) if self.is_passing(&error) => {
                let error = match self.diagnosis.media_flows {
                    true => error.while_media_flows(),
                    false => error,
                };
                self.miss(ConnectError::Signalling(error.clone()));
                let pause = error.retry_after().unwrap_or_default();
                if self.fault.begins(Instant::now(), &error.kind()) {
                    self.events.send(Event::Fault(error));
                }
                self.again(pause);
            }
            // The stream may have changed since the last connection, and may change
            // again.
            Err(
                error @ (ConnectError::Call(CallError::Negotiation(_))
                | ConnectError::NothingToPlay(_)),
            ) if self.missing.is_none() => {
                if self.fault.begins(Instant::now(), &error.to_string()) {
                    self.fail(error.to_string());
                }
                self.again(Duration::ZERO);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Whether another attempt may succeed. Publishing to an address that is not found is
    /// an error, unless it has worked before; a stream to play may start later.
    fn is_passing(&self, error: &SignallingError) -> bool {
        let may_begin = self.playback.is_some() || self.missing.is_none();
        error.is_passing() && (may_begin || !error.has_status(&[404]))
    }

    /// Records the reason why there is no connection, unless there was one before.
    fn miss(&mut self, reason: ConnectError) {
        if let Some(missing) = &mut self.missing {
            *missing = reason;
        }
    }

    /// Schedules another attempt, later each time, and not before the pause that the
    /// server requests.
    fn again(&mut self, pause: Duration) {
        let pause = self.attempts.pause.max(pause).min(LONGEST_RETRY);
        self.state = State::Missing {
            again: Instant::now() + pause,
        };
        self.attempts.pause = (self.attempts.pause * 2).min(LONGEST_RETRY);
    }

    /// Reconnects, at once if the failed connection has lasted: a draining server ends its
    /// connections and redirects.
    fn again_after_failure(&mut self) {
        let connected = self.attempts.connected.take();
        match connected.is_some_and(|at| at.elapsed() >= LASTED) {
            true => {
                self.state = State::Missing {
                    again: Instant::now(),
                };
            }
            false => self.again(Duration::ZERO),
        }
    }

    /// Reports that the connection failed.
    fn fail(&self, reason: String) {
        self.events.send(match self.playback {
            None => Event::PublishingFailed { reason },
            Some(_) => Event::ReceivingFailed { reason },
        });
    }

    fn on_news(&mut self, news: News) {
        match news {
            News::Unanswered if !self.is_unanswered && self.missing.is_some() => {
                self.is_unanswered = true;
                self.events.send(Event::Unanswered);
            }
            News::Connected => {
                self.missing = None;
                self.attempts.pause = RETRY;
                self.attempts.connected = Some(Instant::now());
                let report = self.report();
                let url = self.endpoint.shown_url();
                match &mut self.playback {
                    None => {
                        let level = report.map(|report| report.level);
                        self.events.send(Event::Published { url, level });
                    }
                    Some(playback) => playback.begin(&url, report.as_ref(), &self.events),
                }
            }
            News::Path { path, link, state } => {
                if let Some(playback) = &mut self.playback {
                    playback.on_path(path, &link);
                }
                let change = self.link_states.on_path(Instant::now(), path, &link, state);
                if let Some(change) = change {
                    self.endpoint.on_link(&link, change.is_up());
                    self.events.send(Event::Link { link, change });
                }
            }
            News::Failed(reason) => {
                self.miss(ConnectError::Failed(reason.clone()));
                self.fail(reason);
                self.end_playback();
                if let State::Made(connection) = mem::replace(&mut self.state, State::Asked) {
                    self.end(connection);
                }
                self.again_after_failure();
            }
            News::Frame {
                track, frame, at, ..
            } => {
                if let Some(playback) = &mut self.playback {
                    playback.on_frame(track, at, frame, &self.events);
                }
            }
            News::Unanswered | News::Ended => {}
            // The connection has no data channels.
            News::ChannelOpened(_) | News::ChannelClosed(_) | News::Message(..) => {}
        }
    }

    /// Drops news of an earlier connection.
    fn drop_news(&self, news: &News) {
        if let (News::Frame { frame, .. }, Some(playback)) = (news, &self.playback) {
            playback.frames().release(frame.data.len());
        }
    }

    fn end_playback(&mut self) {
        if let Some(playback) = &mut self.playback {
            playback.end(&self.events);
        }
    }

    /// Ends a connection locally, and on the server in the background.
    fn end(&self, connection: Connection) {
        self.remote.send(Command::Close(connection.peer));
        let endpoint = self.endpoint.clone();
        thread::spawn(move || {
            let _ = endpoint.delete(&connection.location);
        });
    }

    fn look_at_links(&mut self, reports: &[PeerReport]) {
        let found = self.diagnosis.look(reports, self.endpoint.link_faults());
        for (link, trouble) in found.troubles {
            self.on_trouble(link, trouble);
        }
        for link in found.to_diagnose {
            let (endpoint, messages) = (self.endpoint.clone(), self.messages.clone());
            thread::spawn(move || {
                let trouble = endpoint.diagnose(&link);
                let _ = messages.send(Message::Diagnosed(link, trouble));
            });
        }
    }

    /// Withdraws a connection without a path. If the server answers, it is running, and
    /// the endpoint reconnects. Until then, the old connection waits for a path.
    fn look_at_paths(&mut self, now: Instant, reports: &[PeerReport]) {
        let State::Made(connection) = &self.state else {
            return;
        };
        let mut own = reports.iter().filter(|r| r.peer == connection.peer);
        if !own.any(|report| report.connected && !report.has_path()) {
            self.lost_at = None;
            return;
        }
        let lost_at = *self.lost_at.get_or_insert(now);
        if now.saturating_duration_since(lost_at) < LOST {
            return;
        }
        // The next attempt waits for the same time again.
        self.lost_at = Some(now);
        let (endpoint, messages) = (self.endpoint.clone(), self.messages.clone());
        let (attempt, location) = (self.attempts.last, connection.location.clone());
        thread::spawn(move || {
            let ended = endpoint.delete(&location);
            let is_answered = matches!(ended, Ok(()) | Err(SignallingError::Refused { .. }));
            let _ = messages.send(Message::Withdrawn(attempt, is_answered));
        });
    }

    fn on_withdrawn(&mut self, attempt: u64, is_answered: bool) {
        if attempt != self.attempts.last || !is_answered {
            return;
        }
        if let State::Made(connection) = &self.state {
            self.remote.send(Command::Close(connection.peer));
            self.lost_at = None;
            self.state = State::Missing {
                again: Instant::now(),
            };
            self.fail("no link leads to the server any more".to_owned());
            self.end_playback();
        }
    }

    fn on_trouble(&mut self, link: String, trouble: LinkTrouble) {
        if self.diagnosis.find(&link, &trouble) {
            self.events.send(Event::LinkTrouble { link, trouble });
        }
    }

    fn report(&self) -> Option<PeerReport> {
        let State::Made(connection) = &self.state else {
            return None;
        };
        let reports = ask(&self.remote, Command::Report).ok()?;
        reports.into_iter().find(|r| r.peer == connection.peer)
    }

    fn figures(&self) -> Option<Statistics> {
        let publication = match &self.state {
            State::Made(connection) => Some(connection.peer),
            State::Missing { .. } | State::Asked => None,
        };
        let mut figures = Statistics {
            elapsed: self.started.elapsed(),
            peers: ask(&self.remote, Command::Report).ok()?,
            publication,
            troubles: self.diagnosis.troubles().clone(),
            ..Statistics::default()
        };
        if let Some(playback) = &self.playback {
            playback.fill(&mut figures);
        }
        Some(figures)
    }

    /// Ends everything; waits a limited time for the server's answer.
    pub fn leave(mut self) {
        self.end_playback();
        if let State::Made(connection) = self.state {
            self.remote.send(Command::Close(connection.peer));
            let (done, finished) = channel();
            thread::spawn(move || {
                let _ = self.endpoint.delete(&connection.location);
                let _ = done.send(());
            });
            let _ = finished.recv_timeout(LAST_REQUEST);
        }
        self.remote.send(Command::Stop);
    }
}
