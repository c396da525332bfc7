//! Sender with direct connections to its viewers: the embedding program carries
//! offers and answers, without a media server.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

use weft_net::{Clock, Driver, Remote};
use weft_peer::{PeerKey, Section};
use weft_rooms::Publishing;

use crate::call::Statistics;
use crate::caller::{CallError, Command, News, OfferId, Wait, ask};
use crate::config::SendConfig;
use crate::error::StartError;
use crate::links::{self, LinkChange, LinkStates, Links};
use crate::notice::Notices;
use crate::signalling::{Trust, turn_connector};
use crate::start::{Forwarding, Started, start};

/// Sender and its viewers. A viewer requests an [offer](Direct::offer); its
/// [answer](Direct::accept) creates the connection.
pub struct Direct {
    /// Driver to join at the end.
    driver: Mutex<Option<Driver<Command>>>,
    sections: Vec<Section>,
    publishing: Publishing,
    viewers: Viewers,
    clock: Clock,
    began: Instant,
}

/// Event between the sender and a viewer, whom the name given to
/// [`Direct::offer`] identifies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectEvent {
    /// A viewer sees the pictures.
    Connected {
        /// Name of the viewer's offer.
        viewer: String,
    },
    /// A viewer has answered the offer, but for some seconds nothing has come
    /// back over UDP on any link. Attempts continue.
    Unanswered {
        /// Name of the viewer's offer.
        viewer: String,
    },
    /// A viewer has left, or never connected.
    Ended {
        /// Name of the viewer's offer.
        viewer: String,
        /// Reason for people, a sentence without its full stop.
        reason: String,
    },
    /// A link to a viewer came up, went down, or became suspect.
    Link {
        /// Name of the viewer's offer.
        viewer: String,
        /// Configured name of the link, or name of its interface.
        link: String,
        /// Change of the link for this viewer.
        change: LinkChange,
    },
}

/// Answer of a viewer that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// No pending offer has this name; it never existed or has expired.
    #[error("this viewer has no pending offer")]
    UnknownViewer,
    /// The offer has already been answered.
    #[error("the offer has already been answered")]
    Answered,
    /// The answer is invalid, or the sender has ended.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Viewers and the callback for their events.
#[derive(Clone)]
struct Viewers {
    all: Arc<Mutex<BTreeMap<String, Viewer>>>,
    hear: Arc<dyn Fn(DirectEvent) + Send + Sync>,
    remote: Remote<Command>,
}

enum Viewer {
    Offered(OfferId, Wait),
    Up(PeerKey),
}

impl Direct {
    /// Opens links, cameras and microphone, and starts sending. Without
    /// configured links it uses every interface, or the address `here` of this
    /// machine if viewers come only from there.
    ///
    /// `hear` receives the events, on threads of the sender; it must not block.
    ///
    /// # Errors
    /// If the configuration is wrong, or the machine lacks something that it
    /// names.
    pub fn start(
        config: SendConfig,
        here: Option<IpAddr>,
        notices: Notices,
        hear: impl Fn(DirectEvent) + Send + Sync + 'static,
    ) -> Result<Direct, StartError> {
        if !config.publishes() {
            return Err(StartError::NothingToDo);
        }
        let clock = Clock::start();
        let (specs, scope) = links::links_or_all(&config.links, here)?;
        let links = Links::check(specs, scope, &notices)?;
        let turn_servers = config.turn_servers.clone();
        let connector = turn_connector(&Trust::Public)?;
        let Started {
            driver,
            sections,
            publishing,
            ..
        } = start(clock, links, config, Forwarding::Whole, notices)?;
        driver.remote.send(Command::UseTurn {
            servers: turn_servers,
            connector,
            remote: driver.remote.clone(),
        });
        let viewers = Viewers {
            all: Arc::default(),
            hear: Arc::new(hear),
            remote: driver.remote.clone(),
        };
        Ok(Direct {
            driver: Mutex::new(Some(driver)),
            sections,
            publishing,
            viewers,
            clock,
            began: Instant::now(),
        })
    }

    /// Tracks of the sender, as others see them.
    #[must_use]
    pub fn publishing(&self) -> &Publishing {
        &self.publishing
    }

    /// Creates an offer in SDP for a new viewer with this name. It waits for
    /// its answer for [30 s](Wait).
    ///
    /// # Errors
    /// If the sender has ended.
    pub fn offer(&self, viewer: &str) -> Result<String, CallError> {
        self.viewers.forget_unanswered(self.clock);
        let sections = self.sections.clone();
        let offered = ask(&self.viewers.remote, |reply| Command::Offer {
            sections,
            reply,
        });
        let (id, sdp) = offered??;
        let offered = Viewer::Offered(id, Wait::from(self.clock.now()));
        self.viewers.lock().insert(viewer.to_owned(), offered);
        Ok(sdp)
    }

    /// Accepts a viewer's answer in SDP.
    ///
    /// # Errors
    /// If no offer waits for it, or it cannot be used.
    pub fn accept(&self, viewer: &str, answer: String) -> Result<(), AnswerError> {
        let offer = match self.viewers.lock().get(viewer) {
            Some(Viewer::Offered(id, _)) => *id,
            Some(Viewer::Up(_)) => return Err(AnswerError::Answered),
            None => return Err(AnswerError::UnknownViewer),
        };
        let (news, incoming) = channel();
        let accepted = ask(&self.viewers.remote, |reply| Command::Accept {
            offer,
            answer,
            more: Vec::new(),
            news: news.into(),
            reply,
        });
        let peer = accepted??;
        match self.viewers.lock().get_mut(viewer) {
            Some(entry) => *entry = Viewer::Up(peer),
            None => {
                // The viewer was closed in the meantime.
                self.viewers.remote.send(Command::Close(peer));
                return Err(AnswerError::UnknownViewer);
            }
        }
        let (viewers, viewer) = (self.viewers.clone(), viewer.to_owned());
        thread::spawn(move || viewers.follow(&viewer, peer, &incoming));
        Ok(())
    }

    /// Closes a viewer, if one with this name exists.
    pub fn close(&self, viewer: &str) {
        let command = match self.viewers.lock().remove(viewer) {
            Some(Viewer::Up(peer)) => Command::Close(peer),
            Some(Viewer::Offered(offer, _)) => Command::Withdraw(offer),
            None => return,
        };
        self.viewers.remote.send(command);
    }

    /// Number of viewers, including those without an answer so far.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.viewers.lock().len()
    }

    /// Returns the present statistics, without those of a room; `None` after
    /// the sender has ended.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        Some(Statistics {
            elapsed: self.began.elapsed(),
            peers: ask(&self.viewers.remote, Command::Report).ok()?,
            ..Statistics::default()
        })
    }

    /// Closes all viewers and ends, waiting for the threads. Dropping it also
    /// ends it, without waiting.
    pub fn leave(&self) {
        self.viewers.remote.send(Command::Stop);
        let driver = self.driver.lock().map(|mut driver| driver.take());
        if let Ok(Some(driver)) = driver {
            // The panic hook has already reported a panic of the driver.
            let _ = driver.join();
        }
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        self.viewers.remote.send(Command::Stop);
    }
}

impl Viewers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Viewer>> {
        self.all
            .lock()
            .expect("nothing panics while it holds the viewers")
    }

    fn emit(&self, event: DirectEvent) {
        (self.hear)(event);
    }

    /// Removes viewers that never answered their offer.
    fn forget_unanswered(&self, clock: Clock) {
        let now = clock.now();
        let mut gone = Vec::new();
        self.lock().retain(|viewer, state| {
            let overdue = matches!(state, Viewer::Offered(_, p) if p.is_over(now));
            if overdue {
                gone.push(viewer.clone());
            }
            !overdue
        });
        for viewer in gone {
            let reason = "the offer was not answered".to_owned();
            self.emit(DirectEvent::Ended { viewer, reason });
        }
    }

    /// Reports the events of a viewer until it ends.
    fn follow(&self, viewer: &str, peer: PeerKey, incoming: &Receiver<News>) {
        let name = || viewer.to_owned();
        let mut link_states = LinkStates::default();
        while let Ok(news) = incoming.recv() {
            match news {
                News::Connected => self.emit(DirectEvent::Connected { viewer: name() }),
                News::Failed(reason) => {
                    self.remote.send(Command::Close(peer));
                    self.lock().remove(viewer);
                    let viewer = name();
                    return self.emit(DirectEvent::Ended { viewer, reason });
                }
                News::Path { path, link, state } => {
                    let change = link_states.on_path(Instant::now(), path, &link, state);
                    if let Some(change) = change {
                        let viewer = name();
                        self.emit(DirectEvent::Link {
                            viewer,
                            link,
                            change,
                        });
                    }
                }
                News::Unanswered => self.emit(DirectEvent::Unanswered { viewer: name() }),
                News::Frame { .. } | News::Ended => {}
                // It has no data channels.
                News::ChannelOpened(_) | News::ChannelClosed(_) | News::Message(..) => {}
            }
        }
    }
}
