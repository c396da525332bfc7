//! Viewers of a direct sender, and their events.

use std::collections::BTreeMap;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use weft_net::{Clock, Remote};
use weft_peer::PeerKey;

use super::event::DirectEvent;
use crate::caller::{Command, News, OfferId, Track, Wait};
use crate::event::PlayedFrame;
use crate::links::{LinkStates, PathLinks};
use crate::playout::Playout;

/// Viewers, the callback for their events, and the loudspeaker that plays them.
#[derive(Clone)]
pub(super) struct Viewers {
    all: Arc<Mutex<BTreeMap<String, Viewer>>>,
    hear: Arc<dyn Fn(DirectEvent) + Send + Sync>,
    remote: Remote<Command>,
    playout: Arc<Mutex<Option<Playout>>>,
}

pub(super) enum Viewer {
    Offered(OfferId, Wait),
    Up(PeerKey),
}

impl Viewers {
    pub fn new(
        remote: Remote<Command>,
        playout: Option<Playout>,
        hear: impl Fn(DirectEvent) + Send + Sync + 'static,
    ) -> Viewers {
        Viewers {
            all: Arc::default(),
            hear: Arc::new(hear),
            remote,
            playout: Arc::new(Mutex::new(playout)),
        }
    }

    pub fn remote(&self) -> &Remote<Command> {
        &self.remote
    }

    /// Closes the loudspeaker: a file is complete afterwards.
    pub fn end_playout(&self) {
        let playout = self.playout().take();
        // Waits for its thread without holding the lock.
        drop(playout);
    }

    fn playout(&self) -> MutexGuard<'_, Option<Playout>> {
        let playout = self.playout.lock();
        playout.expect("nothing panics while it holds the loudspeaker")
    }

    pub fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Viewer>> {
        self.all
            .lock()
            .expect("nothing panics while it holds the viewers")
    }

    fn emit(&self, event: DirectEvent) {
        (self.hear)(event);
    }

    /// Removes viewers that never answered their offer.
    pub fn forget_unanswered(&self, clock: Clock) {
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

    /// Reports the events of a viewer, and plays it, until it ends.
    pub fn follow(&self, viewer: &str, peer: PeerKey, incoming: &Receiver<News>) {
        let mut link_states = LinkStates::default();
        let mut links = PathLinks::default();
        while let Ok(news) = incoming.recv() {
            let name = || viewer.to_owned();
            let event = match news {
                News::Connected => DirectEvent::Connected { viewer: name() },
                News::Unanswered => DirectEvent::Unanswered { viewer: name() },
                News::Failed(reason) => {
                    self.remote.send(Command::Close(peer));
                    self.lock().remove(viewer);
                    let viewer = name();
                    self.emit(DirectEvent::Ended { viewer, reason });
                    break;
                }
                News::Path { path, link, state } => {
                    links.insert(path, &link);
                    let change = link_states.on_path(Instant::now(), path, &link, state);
                    let Some(change) = change else { continue };
                    let viewer = name();
                    DirectEvent::Link {
                        viewer,
                        link,
                        change,
                    }
                }
                News::Frame {
                    track: Track::Sound,
                    frame,
                    ..
                } => {
                    if let Some(playout) = &*self.playout() {
                        playout.play(viewer, &frame);
                    }
                    continue;
                }
                News::Frame {
                    track, frame, at, ..
                } => DirectEvent::Frame(PlayedFrame {
                    from: name(),
                    track,
                    at,
                    links: links.of(&frame),
                    frame,
                }),
                News::Ended => continue,
                // Viewers have no data channels.
                News::ChannelOpened(_) | News::ChannelClosed(_) | News::Message(..) => continue,
            };
            self.emit(event);
        }
        if let Some(playout) = &*self.playout() {
            playout.end(viewer);
        }
        let viewer = viewer.to_owned();
        self.emit(DirectEvent::Closed { viewer });
    }
}
