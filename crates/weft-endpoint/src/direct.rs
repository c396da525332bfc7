//! Sender with direct connections to its viewers, without a media server: the embedding
//! program transports offers and answers.

mod event;
mod viewers;

use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

use weft_net::{Clock, Driver};
use weft_peer::{Section, StreamDirection};
use weft_rooms::Publishing;
use weft_units::MediaKind;

use crate::call::Statistics;
use crate::caller::{CallError, Command, Muting, Wait, ask};
use crate::config::{DirectConfig, ViewerCameras};
use crate::error::StartError;
use crate::links::{self, LinkUse, Links};
use crate::notice::Notices;
use crate::playout::{Playout, cancel_echo};
use crate::signalling::{Trust, turn_connector};
use crate::sources::feed::Preview;
use crate::start::{Forwarding, Started, start};
use crate::switches::{Switch, Switches};
pub use event::DirectEvent;
use viewers::{Viewer, Viewers};

/// Sender and its viewers. A viewer requests an [offer](Direct::offer); its
/// [answer](Direct::accept) creates the connection. With a loudspeaker, viewers may
/// talk back over the same connection.
pub struct Direct {
    /// Driver to join at the end.
    driver: Mutex<Option<Driver<Command>>>,
    sections: Vec<Section>,
    publishing: Publishing,
    previews: Vec<Preview>,
    switches: Mutex<Switches>,
    viewers: Viewers,
    clock: Clock,
    began: Instant,
}

/// Reason why a viewer's answer is unusable.
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

impl Direct {
    /// Opens links, cameras, microphone and loudspeaker, and starts to send.
    ///
    /// `hear` is called with the events, on threads of the sender; it must not block.
    ///
    /// # Errors
    /// If the configuration is invalid, or the machine lacks something that it names.
    pub fn start(
        config: DirectConfig,
        notices: Notices,
        hear: impl Fn(DirectEvent) + Send + Sync + 'static,
    ) -> Result<Direct, StartError> {
        let DirectConfig { mut send, here, .. } = config;
        if !send.publishes() {
            return Err(StartError::NothingToDo);
        }
        let clock = Clock::start();
        let (specs, scope) = links::links_or_all(&send.links, here)?;
        let links = Links::check(specs, scope, &notices)?;
        let turn_servers = send.turn_servers.clone();
        let connector = turn_connector(&Trust::Public)?;
        let playout = match config.speaker {
            Some(open) => {
                let reference = cancel_echo(&mut send, config.echo)?;
                Some(Playout::start(open, reference, clock, notices.clone())?)
            }
            None => None,
        };
        let Started {
            driver,
            mut sections,
            previews,
            publishing,
        } = start(clock, links, send, Forwarding::Whole, notices)?;
        let sound = playout.as_ref().map(|_| MediaKind::Audio);
        let pictures = match config.viewer_cameras {
            ViewerCameras::Received => Some(MediaKind::Video),
            ViewerCameras::Refused => None,
        };
        let received = sound.into_iter().chain(pictures);
        sections.extend(received.map(|kind| Section::new(kind, StreamDirection::Receive)));
        driver.remote.send(Command::UseTurn {
            servers: turn_servers,
            connector,
            remote: driver.remote.clone(),
        });
        let viewers = Viewers::new(driver.remote.clone(), playout, hear);
        Ok(Direct {
            driver: Mutex::new(Some(driver)),
            sections,
            publishing,
            previews,
            switches: Mutex::default(),
            viewers,
            clock,
            began: Instant::now(),
        })
    }

    /// Returns the tracks of the sender, as others see them now.
    #[must_use]
    pub fn publishing(&self) -> Publishing {
        let Switches {
            microphone,
            cameras,
        } = *self.switches();
        let mut publishing = self.publishing.clone();
        publishing.audio &= microphone == Switch::On;
        for camera in &mut publishing.cameras {
            camera.off = cameras == Switch::Off;
        }
        publishing
    }

    /// Returns the latest picture of each of our cameras, in order, before encoding.
    #[must_use]
    pub fn previews(&self) -> &[Preview] {
        &self.previews
    }

    /// Switches the microphone's sound.
    pub fn switch_microphone(&self, switch: Switch) {
        self.switches().microphone = switch;
        let muting = match switch {
            Switch::On => Muting::Off,
            Switch::Off => Muting::On,
        };
        self.viewers.remote().send(Command::Mute(muting));
    }

    /// Switches the cameras' pictures.
    pub fn switch_cameras(&self, switch: Switch) {
        self.switches().cameras = switch;
        self.viewers.remote().send(Command::Film(switch));
    }

    /// Changes the use of the link with this name, now and later in the call. An unknown
    /// name has no effect.
    pub fn use_link(&self, link: &str, usage: LinkUse) {
        let link = link.to_owned();
        self.viewers.remote().send(Command::UseLink(link, usage));
    }

    fn switches(&self) -> MutexGuard<'_, Switches> {
        let switches = self.switches.lock();
        switches.expect("nothing panics while it holds the switches")
    }

    /// Creates an offer in SDP for a new viewer with this name. The offer expires after
    /// [30 s](Wait).
    ///
    /// # Errors
    /// If the sender has ended.
    pub fn offer(&self, viewer: &str) -> Result<String, CallError> {
        self.viewers.forget_unanswered(self.clock);
        let sections = self.sections.clone();
        let offered = ask(self.viewers.remote(), |reply| Command::Offer {
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
    /// If no offer waits for it, or it is unusable.
    pub fn accept(&self, viewer: &str, answer: String) -> Result<(), AnswerError> {
        let offer = match self.viewers.lock().get(viewer) {
            Some(Viewer::Offered(id, _)) => *id,
            Some(Viewer::Up(_)) => return Err(AnswerError::Answered),
            None => return Err(AnswerError::UnknownViewer),
        };
        let (news, incoming) = channel();
        let accepted = ask(self.viewers.remote(), |reply| Command::Accept {
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
                self.viewers.remote().send(Command::Close(peer));
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
        self.viewers.remote().send(command);
    }

    /// Returns the number of viewers, including those that have not answered yet.
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
            peers: ask(self.viewers.remote(), Command::Report).ok()?,
            switches: *self.switches(),
            ..Statistics::default()
        })
    }

    /// Closes all viewers and the loudspeaker, ends, and waits for the threads. Dropping it also
    /// ends it, without waiting.
    pub fn leave(&self) {
        self.viewers.remote().send(Command::Stop);
        let driver = self.driver.lock().map(|mut driver| driver.take());
        if let Ok(Some(driver)) = driver {
            // The panic hook has already reported a panic of the driver.
            let _ = driver.join();
        }
        self.viewers.end_playout();
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        self.viewers.remote().send(Command::Stop);
    }
}
