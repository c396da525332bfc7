//! Media planes of `weft serve` on sockets: handle requests from HTTP and report events.
//! Each has its own thread and sockets; all sockets of one address share its port. A
//! plane whose thread fails is replaced, and only its own connections end.

mod links;
mod peer_streams;
mod placement;
mod plane_node;
mod sockets;
mod tcp;
mod traced;

use crate::config::ServerConfig;
use crate::error::ServerError;
use crate::media_plane::{
    Destination, Event, EventSender, MediaPlane, MediaStream, Request, ResourceId, Sound,
};
use crate::recorder::Recorder;
use links::{Link, Links, Order};
use peer_streams::PeerStreams;
use placement::{Loads, Placement};
use plane_node::PlaneNode;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use traced::Traces;
use weft_forwarding::{Capacity, Plane, PlaneId, Settings};
use weft_net::{Clock, Driver, DriverError, Load, Remote};
use weft_record::RecorderError;
use weft_secure::Certificate;
use weft_trace::live::Tracer;
use weft_units::Rate;

/// Minimum lifetime of a plane that is restarted after a failure: if it fails earlier,
/// its participants are not the cause. Chosen by us.
const SHORT_LIFE: Duration = Duration::from_secs(2);

/// Reason for the end of a failed plane's connections.
const PLANE_FAILED: &str = "the media thread of this connection failed because of a bug";

/// Running forwarding planes; dropping them closes all peers and ends their threads.
pub(crate) struct Forwarding {
    addresses: Vec<SocketAddr>,
    planes: Arc<Planes>,
    keepers: Vec<JoinHandle<()>>,
}

impl Forwarding {
    /// Opens the media sockets and starts the planes, which report to `events`. HTTP
    /// listens on `http`.
    pub(crate) fn start(
        config: &ServerConfig,
        http: SocketAddr,
        events: EventSender,
    ) -> Result<Forwarding, ServerError> {
        let threads = config.threads.get();
        let ids: Option<Vec<PlaneId>> = (0..threads).map(PlaneId::new).collect();
        let ids = ids.ok_or(ServerError::TooManyThreads(threads))?;
        let sockets = sockets::open(config.listen.ip(), &config.media, ids.len())?;
        let addresses: Vec<SocketAddr> = sockets.iter().map(|(address, _)| *address).collect();
        let system = |e: &dyn std::fmt::Display| ServerError::System {
            reason: e.to_string(),
        };
        let maker = Arc::new(Maker {
            clock: Clock::start(),
            certificate: Certificate::generate().map_err(|e| system(&e))?,
            addresses: addresses.clone(),
            tcp: tcp::addresses(http, &addresses, &config.media.public),
            public: config.media.public.clone(),
            publisher: config.limits.media.publisher,
            egress: config.limits.media.egress,
            loads: Arc::new(Loads::new(ids.len())),
            is_alone: ids.len() == 1,
            recorder: config.media.recordings.as_deref().map(open).transpose()?,
            tracer: config.tracer.clone(),
        });
        let mut of_planes: Vec<Vec<UdpSocket>> = ids.iter().map(|_| Vec::new()).collect();
        for (_, shared) in sockets {
            for (of_plane, socket) in of_planes.iter_mut().zip(shared) {
                of_plane.push(socket);
            }
        }
        let mut drivers = Vec::new();
        for (id, sockets) in ids.iter().zip(&of_planes) {
            let driver = maker.start(*id, sockets, &events);
            drivers.push(driver.map_err(|e| system(&e))?);
        }
        let remotes: Vec<Remote<Order>> = drivers.iter().map(|d| d.remote.clone()).collect();
        for id in &ids {
            link(&remotes, &ids, *id);
        }
        let planes = Arc::new(Planes {
            remotes: Mutex::new(remotes),
            is_stopping: AtomicBool::new(false),
            placement: Mutex::default(),
            loads: Arc::clone(&maker.loads),
            addresses: addresses.clone(),
            ids,
            recorder: maker.recorder.clone(),
        });
        if let Some(recorder) = &maker.recorder {
            let planes = Arc::downgrade(&planes);
            let ask = move |plane, track| {
                if let Some(planes) = planes.upgrade() {
                    let request: Request =
                        Box::new(move |media| media.request_recorded_keyframe(track));
                    planes.order(plane, Order::Serve(request));
                }
            };
            let started = recorder.run(maker.clock, Box::new(ask));
            started.map_err(|e| system(&e))?;
        }
        #[cfg(debug_assertions)]
        break_on_request(&planes);
        let mut keepers = Vec::new();
        for ((id, sockets), driver) in planes.ids.iter().zip(of_planes).zip(drivers) {
            let keeper = Keeper {
                id: *id,
                sockets,
                events: events.clone(),
                maker: Arc::clone(&maker),
                planes: Arc::clone(&planes),
            };
            let thread = std::thread::Builder::new().name(format!("weft-keep-{}", id.number()));
            let keeper = thread.spawn(move || keeper.run(driver));
            keepers.push(keeper.map_err(|e| system(&e))?);
        }
        Ok(Forwarding {
            addresses,
            planes,
            keepers,
        })
    }

    /// Media addresses.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Sender of requests to the planes.
    pub(crate) fn plane(&self) -> Arc<dyn MediaPlane> {
        Arc::clone(&self.planes) as Arc<dyn MediaPlane>
    }

    /// Makes the thread of a plane panic; for tests, in development builds only.
    #[cfg(debug_assertions)]
    pub(crate) fn break_plane(&self, number: usize) {
        self.planes.order(number, Order::Break);
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.planes.stop();
        for keeper in self.keepers.drain(..) {
            // The end of a driver's events reports its panic.
            let _ = keeper.join();
        }
        if let Some(recorder) = &self.planes.recorder {
            recorder.end();
        }
    }
}

/// Opens the folder of recordings.
fn open(folder: &Path) -> Result<Arc<Recorder>, ServerError> {
    let opened = Recorder::new(folder).map(Arc::new);
    opened.map_err(|error| {
        let (RecorderError::Create { reason, .. } | RecorderError::Write { reason, .. }) = error;
        let folder = folder.to_owned();
        ServerError::Recordings { folder, reason }
    })
}

/// Makes a media thread panic when the file named by `WEFT_DEFECT_FILE` appears; for
/// tests of the process's reaction, in development builds only.
#[cfg(debug_assertions)]
fn break_on_request(planes: &Arc<Planes>) {
    let Some(file) = std::env::var_os("WEFT_DEFECT_FILE").map(std::path::PathBuf::from) else {
        return;
    };
    let planes = Arc::clone(planes);
    std::thread::spawn(move || {
        while !file.exists() {
            std::thread::sleep(Duration::from_millis(20));
        }
        planes.order(0, Order::Break);
    });
}

/// Links a plane with all others in both directions: first those that it receives from,
/// so that it accepts their messages at once.
fn link(remotes: &[Remote<Order>], ids: &[PlaneId], plane: PlaneId) {
    let others = || ids.iter().filter(|other| **other != plane);
    for other in others() {
        let link = Link::new(remotes[other.number()].clone());
        remotes[plane.number()].send(Order::Link(*other, link));
    }
}

/// Parameters for starting a plane.
struct Maker {
    clock: Clock,
    certificate: Certificate,
    addresses: Vec<SocketAddr>,
    public: Vec<IpAddr>,
    /// Addresses for TCP connections.
    tcp: Vec<SocketAddr>,
    publisher: Rate,
    egress: Option<Rate>,
    loads: Arc<Loads>,
    is_alone: bool,
    recorder: Option<Arc<Recorder>>,
    tracer: Option<Tracer>,
}

impl Maker {
    /// Starts the thread of a plane on duplicates of these sockets.
    fn start(
        &self,
        id: PlaneId,
        sockets: &[UdpSocket],
        events: &EventSender,
    ) -> Result<Driver<Order>, DriverError> {
        let settings = Settings::new(
            self.clock.origin(),
            self.certificate.clone(),
            &self.addresses,
        );
        let settings = settings
            .announcing(&self.public)
            .accepting_tcp_at(&self.tcp)
            .taking(self.publisher)
            .sending(self.egress)
            .capturing(self.tracer.is_some());
        let settings = match self.is_alone {
            true => settings,
            false => settings.of_plane(id),
        };
        let traces = self.tracer.clone();
        let node = PlaneNode {
            id,
            plane: Plane::new(settings),
            events: events.clone(),
            capacity: Capacity {
                egress: self.egress,
            },
            loads: Arc::clone(&self.loads),
            links: Links::default(),
            streams: PeerStreams::default(),
            sink: self.recorder.as_ref().map(|r| r.sink(id.number())),
            traces: traces.map(|tracer| Traces::new(tracer, self.clock, id)),
            addresses: self.addresses.clone(),
            pulled: BTreeMap::new(),
            look: None,
        };
        let sockets: Result<Vec<UdpSocket>, _> = sockets.iter().map(UdpSocket::try_clone).collect();
        let name = match self.is_alone {
            true => "weft-media".to_owned(),
            false => format!("weft-media-{}", id.number()),
        };
        Driver::run(&name, self.clock, sockets?, node)
    }
}

/// Planes for HTTP.
struct Planes {
    ids: Vec<PlaneId>,
    addresses: Vec<SocketAddr>,
    /// Locked during a restart.
    remotes: Mutex<Vec<Remote<Order>>>,
    /// Set while the remotes are locked.
    is_stopping: AtomicBool,
    placement: Mutex<Placement>,
    loads: Arc<Loads>,
    recorder: Option<Arc<Recorder>>,
}

impl Planes {
    fn order(&self, plane: usize, order: Order) {
        if let Some(remote) = self.remotes().get(plane) {
            remote.send(order);
        }
    }

    fn stop(&self) {
        let remotes = self.remotes();
        self.is_stopping.store(true, Ordering::Relaxed);
        for remote in remotes.iter() {
            remote.send(Order::Stop);
        }
    }

    /// Ignores poisoning: no code panics while it holds the lock.
    fn remotes(&self) -> MutexGuard<'_, Vec<Remote<Order>>> {
        self.remotes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn placement(&self) -> MutexGuard<'_, Placement> {
        self.placement
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl MediaPlane for Planes {
    fn send(&self, to: Destination<'_>, request: Request) {
        let plane = match to {
            Destination::Plane(plane) => Some(plane),
            Destination::Connection(resource) => self.placement().plane(resource),
        };
        // After the end, the request and its reply channel are dropped.
        if let Some(plane) = plane {
            self.order(plane, Order::Serve(request));
        }
    }

    fn takes_streams(&self) -> bool {
        true
    }

    fn take_stream(&self, stream: MediaStream) {
        if let Some(plane) = PlaneId::of_check(&stream.check, self.ids.len()) {
            self.order(plane.number(), Order::Take(stream));
        }
    }

    fn planes(&self) -> usize {
        self.ids.len()
    }

    fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    fn place(&self, resource: &ResourceId, room: &str, participant: &str) {
        let of = (room.to_owned(), participant.to_owned());
        let busy = self.loads.busy();
        self.placement().place(resource, of, &busy);
    }

    fn forget(&self, resource: &ResourceId) {
        self.placement().remove(resource);
    }

    fn note_sound(&self, room: &str, participant: &str, sound: Sound) {
        let of = (room.to_owned(), participant.to_owned());
        let muted = &mut self.placement().muted;
        match sound {
            Sound::Muted => muted.insert(of),
            Sound::Forwarded => muted.remove(&of),
        };
    }

    fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    fn note_recorded(&self, room: &str, recorded: bool) {
        let rooms = &mut self.placement().recorded;
        match recorded {
            true => rooms.insert(room.to_owned()),
            false => rooms.remove(room),
        };
    }
}

/// Thread that waits for the end of a plane and replaces it. The sockets stay open the
/// whole time: if one of the sockets that share a port were closed, the system would
/// reassign all clients to sockets.
struct Keeper {
    id: PlaneId,
    sockets: Vec<UdpSocket>,
    events: EventSender,
    maker: Arc<Maker>,
    planes: Arc<Planes>,
}

impl Keeper {
    fn run(self, mut driver: Driver<Order>) {
        let mut started = Instant::now();
        // The panic hook has reported a failure.
        while driver.join().is_err() {
            let is_hopeless = self.maker.is_alone || started.elapsed() < SHORT_LIFE;
            started = Instant::now();
            let next = (!is_hopeless).then(|| self.replace());
            match next.flatten() {
                Some(next) => driver = next,
                // The other planes end, too, so that the server notices.
                None => return self.planes.stop(),
            }
        }
    }

    /// Restarts the plane and informs the other planes and the room.
    fn replace(&self) -> Option<Driver<Order>> {
        let (planes, own) = (&self.planes, self.id.number());
        let mut remotes = planes.remotes();
        if planes.is_stopping.load(Ordering::Relaxed) {
            return None;
        }
        let others = || planes.ids.iter().filter(|id| **id != self.id);
        for other in others() {
            remotes[other.number()].send(Order::Unlink(self.id));
        }
        let driver = self
            .maker
            .start(self.id, &self.sockets, &self.events)
            .ok()?;
        planes.loads.set(own, Load::default());
        remotes[own] = driver.remote.clone();
        link(&remotes, &planes.ids, self.id);
        for other in others() {
            let link = Link::new(driver.remote.clone());
            remotes[other.number()].send(Order::Link(self.id, link));
        }
        if let Some(recorder) = &planes.recorder {
            recorder.lose_plane(own);
        }
        let (lost, muted, recorded) = {
            let mut placement = planes.placement();
            let lost = placement.take_all_of(own);
            (lost, placement.muted.clone(), placement.recorded.clone())
        };
        for room in recorded {
            let request: Request = Box::new(move |media| media.set_recorded(&room, true));
            driver.remote.send(Order::Serve(request));
        }
        for (room, participant) in muted {
            let request: Request = Box::new(move |media| {
                media.set_sound(&room, &participant, Sound::Muted);
            });
            driver.remote.send(Order::Serve(request));
        }
        drop(remotes);
        for resource in lost {
            let reason = PLANE_FAILED.to_owned();
            // The receiver is gone while the server shuts down.
            let _ = self.events.send(Event::Ended { resource, reason });
        }
        Some(driver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_comes_upon_a_defect_ends_alone() {
        let (events, _receiver) = crate::media_plane::events();
        let config = ServerConfig {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            ..ServerConfig::default()
        };
        let forwarding = Forwarding::start(&config, config.listen, events).unwrap();
        let plane = forwarding.plane();
        let broken = plane.ask(Destination::Plane(0), |_| -> () {
            panic!("as a defect would")
        });
        assert!(broken.blocking_recv().is_err(), "nobody answers");
        let stats = plane
            .ask(Destination::Plane(0), |media| media.stats())
            .blocking_recv();
        assert_eq!(stats.map(|s| s.publications), Ok(0));
    }
}
