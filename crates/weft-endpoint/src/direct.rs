//! A sender whose viewers come straight to it: whoever embeds it carries offers
//! and answers, and no media server stands between.

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
use crate::caller::{CallError, Command, News, OfferId, Patience, ask};
use crate::config::SendConfig;
use crate::error::StartError;
use crate::links::{self, Board, LinkChange, Links};
use crate::notice::Notices;
use crate::start::{Started, start};

/// One sender, and those who watch it. A viewer asks for an
/// [offer](Direct::offer), whose [answer](Direct::accept) makes the connection.
pub struct Direct {
    /// Until it is waited for.
    driver: Mutex<Option<Driver<Command>>>,
    sections: Vec<Section>,
    publishing: Publishing,
    viewers: Viewers,
    clock: Clock,
    began: Instant,
}

/// What happens between the sender and a viewer, who has the name that
/// [`Direct::offer`] was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DirectEvent {
    /// A viewer sees what is sent.
    Connected {
        /// The name that their offer was made under.
        viewer: String,
    },
    /// A viewer has answered the offer, but for some seconds nothing has come
    /// back over UDP on any link. It is gone on trying.
    Unanswered {
        /// The name that their offer was made under.
        viewer: String,
    },
    /// A viewer is gone, or never came.
    Ended {
        /// The name that their offer was made under.
        viewer: String,
        /// A sentence without its end, for people.
        reason: String,
    },
    /// A link came to lead to a viewer, ceased to, or fell silent.
    Link {
        /// The name that their offer was made under.
        viewer: String,
        /// As it was chosen, or as its interface is called.
        link: String,
        /// What it became to this viewer.
        change: LinkChange,
    },
}

/// A viewer's answer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// Nobody of this name was made an offer, or it was too long ago.
    #[error("no offer was made to this viewer")]
    UnknownViewer,
    /// An offer is good for one answer.
    #[error("it has its answer already")]
    Answered,
    /// The answer is none, or the sender has ended.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The viewers, and who hears of them.
#[derive(Clone)]
struct Viewers {
    all: Arc<Mutex<BTreeMap<String, Viewer>>>,
    hear: Arc<dyn Fn(DirectEvent) + Send + Sync>,
    remote: Remote<Command>,
}

enum Viewer {
    Offered(OfferId, Patience),
    Up(PeerKey),
}

impl Direct {
    /// There is no server to leave temporal layers out.
    const LAYERS: u8 = 1;

    /// Opens links, cameras and microphone, and begins. Where no link is
    /// named, it is every interface, or the address `here` of this machine if
    /// viewers come from there only.
    ///
    /// `hear` is told what happens, on threads of the sender; it must not block.
    ///
    /// # Errors
    /// If the configuration is wrong, or the machine has not what it asks for.
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
        let Started {
            driver,
            sections,
            publishing,
        } = start(clock, links, config, Direct::LAYERS, notices)?;
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

    /// What is sent, as others see it.
    #[must_use]
    pub fn publishing(&self) -> &Publishing {
        &self.publishing
    }

    /// An offer to a viewer of this name, which is new, as SDP. It waits for its
    /// answer for [30 s](Patience).
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
        let offered = Viewer::Offered(id, Patience::from(self.clock.now()));
        self.viewers.lock().insert(viewer.to_owned(), offered);
        Ok(sdp)
    }

    /// A viewer's answer to the offer, as SDP.
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
                // It was closed meanwhile.
                self.viewers.remote.send(Command::Close(peer));
                return Err(AnswerError::UnknownViewer);
            }
        }
        let (viewers, viewer) = (self.viewers.clone(), viewer.to_owned());
        thread::spawn(move || viewers.follow(&viewer, peer, &incoming));
        Ok(())
    }

    /// A viewer goes; nothing, if there is none of this name.
    pub fn close(&self, viewer: &str) {
        let command = match self.viewers.lock().remove(viewer) {
            Some(Viewer::Up(peer)) => Command::Close(peer),
            Some(Viewer::Offered(offer, _)) => Command::Withdraw(offer),
            None => return,
        };
        self.viewers.remote.send(command);
    }

    /// How many viewers there are, those included who have not answered yet.
    #[must_use]
    pub fn viewers(&self) -> usize {
        self.viewers.lock().len()
    }

    /// The figures of this moment, without those of a room; none when the
    /// sender has ended.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        Some(Statistics {
            elapsed: self.began.elapsed(),
            peers: ask(&self.viewers.remote, Command::Report).ok()?,
            ..Statistics::default()
        })
    }

    /// Says goodbye to everybody and ends. Dropping it does so as well, and does
    /// not wait for that.
    pub fn leave(&self) {
        self.viewers.remote.send(Command::Stop);
        let driver = self.driver.lock().map(|mut driver| driver.take());
        if let Ok(Some(driver)) = driver {
            // The panic hook has told of one that panicked.
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
            .expect("nothing panics with the viewers in hand")
    }

    fn tell(&self, event: DirectEvent) {
        (self.hear)(event);
    }

    /// Forgets those who asked for an offer and never answered it.
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
            self.tell(DirectEvent::Ended { viewer, reason });
        }
    }

    /// Says what happens to a viewer, until it ends.
    fn follow(&self, viewer: &str, peer: PeerKey, incoming: &Receiver<News>) {
        let name = || viewer.to_owned();
        let mut board = Board::default();
        while let Ok(news) = incoming.recv() {
            match news {
                News::Connected => self.tell(DirectEvent::Connected { viewer: name() }),
                News::Failed(reason) => {
                    self.remote.send(Command::Close(peer));
                    self.lock().remove(viewer);
                    let viewer = name();
                    return self.tell(DirectEvent::Ended { viewer, reason });
                }
                News::Path { path, link, state } => {
                    let change = board.on_path(Instant::now(), path, &link, state);
                    if let Some(change) = change {
                        let viewer = name();
                        self.tell(DirectEvent::Link {
                            viewer,
                            link,
                            change,
                        });
                    }
                }
                News::Unanswered => self.tell(DirectEvent::Unanswered { viewer: name() }),
                News::Frame { .. } | News::Ended => {}
            }
        }
    }
}
