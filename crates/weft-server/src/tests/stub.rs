//! Media plane with fixed answers that records its requests.

use crate::media_plane::{
    Destination, Event, EventSender, IceCondition, IceUpdate, Line, LineContent, Media, MediaError,
    MediaPlane, Negotiated, Play, Publish, Request, ResourceId, Restarted, Sound, Stats, View,
    Viewing, events,
};
use crate::{
    Camera, Limits, Publishing, Security, Server, ServerConfig, ServerHandle, clock::Clock,
    ids::Ids,
};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use weft_units::Duration;

#[derive(Default)]
pub(crate) struct Stub {
    pub(crate) log: Mutex<Vec<String>>,
    pub(crate) refuse: Mutex<Option<MediaError>>,
    /// Runs once while the next connection is created.
    pub(crate) meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
    /// Number of requests for statistics.
    pub(crate) figures: AtomicU64,
    /// Work of the media thread, in thousandths of a processor.
    pub(crate) busy: AtomicU64,
    pub(crate) addresses: Vec<SocketAddr>,
}

impl MediaPlane for Stub {
    fn send(&self, _: Destination<'_>, request: Request) {
        let mut stub = self;
        request(&mut stub);
    }

    fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Stub {
    fn refused(&self) -> Result<(), MediaError> {
        self.refuse.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    fn agreed(&self, sdp: &str) -> Result<Negotiated, MediaError> {
        let meanwhile = self.meanwhile.lock().unwrap().take();
        meanwhile.into_iter().for_each(|happens| happens());
        self.refused().map(|()| Negotiated {
            sdp: sdp.to_owned(),
            streams: Publishing {
                cameras: vec![Camera::default()],
                audio: true,
            },
            ice_session: Some("first".to_owned()),
        })
    }

    fn note(&self, words: String) {
        self.log.lock().unwrap().push(words);
    }
}

impl Media for &Stub {
    fn publish(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        let Publish {
            room,
            participant,
            offer,
            ..
        } = publish;
        self.note(format!("publish {room} {participant} {offer}"));
        self.agreed("the answer")
    }

    fn play(&mut self, play: Play) -> Result<Negotiated, MediaError> {
        let Play {
            room,
            publisher,
            offer,
            ..
        } = play;
        self.note(format!("play {room} {publisher} {offer:?}"));
        self.agreed(match offer {
            Some(_) => "the answer",
            None => "our offer",
        })
    }

    fn receive(
        &mut self,
        _: ResourceId,
        room: String,
        participant: String,
    ) -> Result<Negotiated, MediaError> {
        self.note(format!("receive {room} {participant}"));
        self.agreed("our offer")
    }

    fn set_view(&mut self, _: &ResourceId, view: View) -> Result<Viewing, MediaError> {
        let cameras = view.cameras.iter();
        let cameras =
            cameras.map(|c| format!("{}/{} {}x{}", c.participant, c.camera, c.width, c.height));
        let cameras: Vec<String> = cameras.collect();
        self.note(format!("view {}", cameras.join(", ")));
        self.refused().map(|()| Viewing {
            lines: vec![Line {
                mid: "3".to_owned(),
                participant: "van".to_owned(),
                content: LineContent::Camera(1),
                paused: false,
            }],
            offer: Some("another offer".to_owned()),
        })
    }

    fn answer(&mut self, _: ResourceId, sdp: String) -> Result<(), MediaError> {
        self.note(format!("answer {sdp}"));
        self.refused()
    }

    fn update_ice(
        &mut self,
        _: &ResourceId,
        update: &IceUpdate,
    ) -> Result<Option<Restarted>, MediaError> {
        self.note(format!("candidates {}", update.fragment));
        self.refused()?;
        Ok(match &update.condition {
            IceCondition::Unsaid => None,
            condition => Some(Restarted {
                fragment: format!("{condition:?}"),
                ice_session: "another".to_owned(),
            }),
        })
    }

    fn set_sound(&mut self, room: &str, participant: &str, sound: Sound) {
        self.note(format!("{sound:?} {room} {participant}"));
    }

    fn close(&mut self, resource: &ResourceId) {
        self.note(format!("close {}", resource.0));
    }

    fn stats(&mut self) -> Stats {
        self.figures.fetch_add(1, Ordering::SeqCst);
        Stats {
            packets_forwarded: 17,
            busy: self.busy.load(Ordering::SeqCst),
            ..Stats::default()
        }
    }
}

/// Server on a free port of loopback, with a manual clock.
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
        Rig::with_plane(config, Stub::default())
    }

    pub(crate) fn with_plane(config: ServerConfig, plane: Stub) -> Rig {
        let plane = Arc::new(plane);
        let clock = Arc::new(AtomicU64::new(0));
        let (events, receiver) = events();
        let handle = Server::start_at(
            config,
            Arc::clone(&plane) as Arc<dyn MediaPlane>,
            receiver,
            (Clock::manual(Arc::clone(&clock)), Ids::counted()),
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

    /// Advances the clock and handles due timeouts.
    pub(crate) fn advance(&self, by: Duration) {
        self.clock.fetch_add(by.as_nanos(), Ordering::SeqCst);
        let hub = self.handle.hub();
        hub.handle_timeout(hub.now());
    }

    pub(crate) fn tell(&self, event: Event) {
        self.events.send(event).unwrap();
    }

    /// Drops the media side with its sender of events.
    pub(crate) fn lose_media(self) -> ServerHandle {
        self.handle
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.plane.log.lock().unwrap().clone()
    }
}

/// Waits up to five seconds for the work of another thread.
pub(crate) fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = std::time::Instant::now();
    while !done() {
        assert!(start.elapsed().as_secs() < 5, "never happened: {what}");
        std::thread::yield_now();
    }
}
