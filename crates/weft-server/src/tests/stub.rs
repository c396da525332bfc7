//! A media plane that answers by rote and remembers what it was asked.

use crate::media_plane::{
    Command, Event, EventSender, MediaError, MediaPlane, Negotiated, Stats, events,
};
use crate::{
    Camera, Limits, Publishing, Security, Server, ServerConfig, ServerHandle, clock::Clock,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use weft_units::Duration;

#[derive(Default)]
pub(crate) struct Stub {
    pub(crate) log: Mutex<Vec<String>>,
    pub(crate) refuse: Mutex<Option<MediaError>>,
}

impl MediaPlane for Stub {
    fn send(&self, command: Command) {
        let refused = self.refuse.lock().unwrap().clone();
        let agreed = |sdp: &str| match &refused {
            Some(error) => Err(error.clone()),
            None => Ok(Negotiated {
                sdp: sdp.to_owned(),
                streams: Publishing {
                    cameras: vec![Camera::default()],
                    audio: true,
                },
            }),
        };
        let words = match command {
            Command::Publish {
                room,
                participant,
                offer,
                reply,
                ..
            } => {
                let _ = reply.send(agreed("the answer"));
                format!("publish {room} {participant} {offer}")
            }
            Command::Play {
                room,
                publisher,
                offer,
                reply,
                ..
            } => {
                let _ = reply.send(agreed(match offer {
                    Some(_) => "the answer",
                    None => "our offer",
                }));
                format!("play {room} {publisher} {offer:?}")
            }
            Command::Answer { sdp, reply, .. } => {
                let _ = reply.send(refused.map_or(Ok(()), Err));
                format!("answer {sdp}")
            }
            Command::Candidates {
                fragment, reply, ..
            } => {
                let _ = reply.send(refused.map_or(Ok(()), Err));
                format!("candidates {fragment}")
            }
            Command::Close { resource } => format!("close {}", resource.0),
            Command::Stats { reply } => {
                let _ = reply.send(Ok(Stats {
                    packets_forwarded: 17,
                    ..Stats::default()
                }));
                return;
            }
        };
        self.log.lock().unwrap().push(words);
    }
}

/// A server on a free port of loopback, with a clock that stands still.
pub(crate) struct Rig {
    pub(crate) handle: ServerHandle,
    pub(crate) plane: Arc<Stub>,
    events: EventSender,
    clock: Arc<AtomicU64>,
}

pub(crate) fn config() -> ServerConfig {
    ServerConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        ..ServerConfig::default()
    }
}

impl Rig {
    pub(crate) fn start() -> Rig {
        Rig::with(config())
    }

    pub(crate) fn with_limits(limits: Limits) -> Rig {
        Rig::with(ServerConfig { limits, ..config() })
    }

    pub(crate) fn secure(security: Security, listen: SocketAddr) -> Rig {
        Rig::with(ServerConfig {
            security,
            listen,
            ..config()
        })
    }

    pub(crate) fn with(config: ServerConfig) -> Rig {
        let plane = Arc::new(Stub::default());
        let clock = Arc::new(AtomicU64::new(0));
        let (events, receiver) = events();
        let handle = Server::start_at(
            config,
            Arc::clone(&plane) as Arc<dyn MediaPlane>,
            receiver,
            Clock::manual(Arc::clone(&clock)),
        )
        .unwrap();
        Rig {
            handle,
            plane,
            events,
            clock,
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.handle.local_addr
    }

    /// Lets time pass and what is due happen.
    pub(crate) fn advance(&self, by: Duration) {
        self.clock.fetch_add(by.as_nanos(), Ordering::SeqCst);
        let hub = self.handle.hub();
        hub.handle_timeout(hub.now());
    }

    pub(crate) fn tell(&self, event: Event) {
        self.events.send(event).unwrap();
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.plane.log.lock().unwrap().clone()
    }
}

/// Waits for something that another thread does, at most five seconds.
pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !done() {
        assert!(start.elapsed().as_secs() < 5, "never happened: {what}");
        std::thread::yield_now();
    }
}
