//! Events of a peer for its owner.

use std::sync::mpsc::Sender;

use weft_ice::Event as IceEvent;
use weft_net::Context;
use weft_peer::PeerKey;
use weft_peer::data::Message;
use weft_secure::Event;
use weft_session::{Event as SessionEvent, PathState, ReceivedFrame};
use weft_units::{Instant, PathId};
use weft_wire::rtp::Mid;

use super::{Caller, Track};

/// Event of a peer for its owner.
#[derive(Debug)]
pub enum News {
    /// Media can flow.
    Connected,
    /// No path has reached the peer for a while; attempts continue.
    Unanswered,
    /// The connection failed permanently, before or after it was established.
    Failed(String),
    /// A path changed its state.
    Path {
        /// Path number in the session.
        path: PathId,
        /// Name of its link.
        link: String,
        /// New state.
        state: PathState,
    },
    /// A frame was released from the jitter buffer.
    Frame {
        /// Media section of the frame.
        section: Mid,
        /// Index of the section among those of its kind.
        track: Track,
        /// Complete frame, with the paths that delivered it.
        frame: ReceivedFrame,
        /// Time of its release from the jitter buffer.
        at: Instant,
    },
    /// The data channel with this label is open.
    ChannelOpened(String),
    /// The data channel with this label is closed, or its connection has failed.
    ChannelClosed(String),
    /// A message on the data channel with this label.
    Message(String, Message),
    /// The peer has closed the connection.
    Ended,
}

/// Receiver of a peer's events. Called on the network thread; must not block.
pub struct Listener(Box<dyn FnMut(News) + Send>);

impl Listener {
    /// Creates a listener that calls this function.
    pub fn new(hear: impl FnMut(News) + Send + 'static) -> Listener {
        Listener(Box::new(hear))
    }

    pub(super) fn send(&mut self, news: News) {
        (self.0)(news);
    }
}

impl From<Sender<News>> for Listener {
    fn from(sender: Sender<News>) -> Listener {
        // A receiver that is gone needs no events.
        Listener::new(move |news| {
            let _ = sender.send(news);
        })
    }
}

impl Caller {
    pub(super) fn on_association(&mut self, context: &mut Context<'_>, key: PeerKey, event: Event) {
        let Some(remote_peer) = self.peers.get_mut(&key) else {
            return;
        };
        let now = context.now;
        let links = &self.following.links;
        let news = match event {
            Event::Ice(IceEvent::PathUp { path, link, .. }) => {
                if let Some(peer) = context.peer(key) {
                    peer.set_path_policy(now, path, links.policy(link));
                }
                let name = links.name(link).to_owned();
                remote_peer.live.insert(path, link);
                remote_peer.links.insert(path, name.as_str().into());
                News::Path {
                    path,
                    link: name,
                    state: PathState::Up,
                }
            }
            Event::Ice(IceEvent::PathDown { path, .. } | IceEvent::PathSilent { path }) => {
                if let Some(link) = remote_peer.live.remove(&path) {
                    remote_peer.lost.insert(link, now);
                }
                if remote_peer.live.is_empty() {
                    // Reserved links may be needed now.
                    self.following.look_soon(now);
                }
                let link = remote_peer.links.get(&path);
                let link = link.map(|link| link.to_string()).unwrap_or_default();
                News::Path {
                    path,
                    link,
                    state: PathState::Down,
                }
            }
            Event::Connected { .. } => News::Connected,
            Event::Failed { reason } => {
                remote_peer.failed = true;
                self.publisher.handle_left(&key);
                News::Failed(reason.to_string())
            }
            Event::Ice(IceEvent::PathRemoved { path }) => {
                remote_peer.links.remove(&path);
                return;
            }
            Event::Ice(IceEvent::Selected { .. }) | Event::Data(_) => return,
        };
        let is_connected = matches!(news, News::Connected);
        remote_peer.news.send(news);
        if is_connected {
            self.open_channels(context, key);
        }
        self.allow();
    }

    pub(super) fn on_session(&mut self, now: Instant, key: PeerKey, event: SessionEvent) {
        let Some(remote_peer) = self.peers.get_mut(&key) else {
            return;
        };
        match event {
            SessionEvent::KeyframeRequested { stream } => {
                self.publisher.handle_keyframe_request(key, stream);
                self.allow();
            }
            SessionEvent::TargetRateChanged { rate } => {
                self.publisher.handle_target_rate(key, rate);
                self.allow();
            }
            SessionEvent::FrameReceived { stream, frame } => {
                if let Some((section, track)) = remote_peer.receivers.get(&stream).copied() {
                    let at = now;
                    remote_peer.news.send(News::Frame {
                        section,
                        track,
                        frame,
                        at,
                    });
                }
            }
            SessionEvent::StreamEnded { .. } => {
                remote_peer.news.send(News::Ended);
            }
            SessionEvent::PathStateChanged { path, state } => {
                // Only the association knows whether the path still exists.
                let link = remote_peer.links.get(&path);
                let link = link.filter(|_| remote_peer.live.contains_key(&path));
                if let Some(link) = link.filter(|_| state != PathState::Down) {
                    let link = link.to_string();
                    remote_peer.news.send(News::Path { path, link, state });
                }
            }
            SessionEvent::PacketReceived { .. } => {}
        }
    }
}
