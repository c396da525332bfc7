//! Both calls, with everything between their cameras and their viewers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use weft_cc::ControllerKind;
use weft_links::MediumSpec;
use weft_media::CameraSpec;
use weft_net::{Clock, Driver, LinkChoice, Remote, Target};
use weft_peer::{Section, StreamDirection};
use weft_publish::Degradation;
use weft_server::ServerHandle;
use weft_session::{Preference, ProtectionKind, ReceivedFrame, SchedulerKind};
use weft_units::{Codec, MediaKind, Rate};

use super::relay::{Relay, RelayHandle};
use super::ride::{LinkName, Ride, RideState};
use super::settings::{Setting, SettingTick};
use super::shutter::Shutter;
use crate::cli::DemoArgs;
use crate::exit::Failure;
use weft_endpoint::Notices;
use weft_endpoint::caller::{self, CallError, Command, News, PeerReport, Sending, ask};
use weft_endpoint::connect::{ConnectError, connect};
use weft_endpoint::links::{Links, Scope};
use weft_endpoint::signalling::{self, Created, Room, SignallingError, Trust};
use weft_endpoint::sources::feed::Feed;
use weft_endpoint::sources::smaller::EncodingSize;
use weft_endpoint::sources::video::{self, VideoControl, VideoFrame, VideoSetup};
use weft_endpoint::watch::Watcher;

/// Room of the demo, and its two participants.
const ROOM: &str = "demo";
pub const WEFT: &str = "weft";
pub const SINGLE: &str = "single:wifi";

/// Maximum sending rate of a call: a sharp 720p picture. Each link alone carries it while
/// it is good, so the demo shows outages and congestion.
const MAX_RATE: Rate = Rate::from_kbps(2500);
/// Time limit for the first pictures of both calls; without them the demo
/// cannot run.
pub const SETUP: Duration = Duration::from_secs(20);
/// Pause before a reconnect.
const RETRY: Duration = Duration::from_secs(1);

/// Call: a sender over its links, a viewer behind the server.
pub struct Call {
    pub name: &'static str,
    pub relays: BTreeMap<LinkName, RelayHandle>,
    pub watcher: Watcher,
    /// Durations from the capture of each picture to its arrival in the
    /// session.
    pub encoding: Arc<Mutex<Vec<weft_units::Duration>>>,
    pub scheduler: SchedulerKind,
    pub preference: Preference,
    pub protection: ProtectionKind,
    pub controller: ControllerKind,
    sender: Driver<Command>,
}

/// Parts that run during the demo.
pub struct DemoRun {
    pub ride: Ride,
    pub calls: Vec<Call>,
    shutter: Shutter,
    viewer: Driver<Command>,
}

impl DemoRun {
    /// Creates links, calls and viewers, and publishes both calls.
    pub fn build(
        args: &DemoArgs,
        clock: Clock,
        server: &ServerHandle,
        notices: &Notices,
    ) -> Result<DemoRun, Failure> {
        let target = *server
            .media_addresses()
            .first()
            .ok_or_else(|| Failure::machine("the server has no media address"))?;
        let camera: CameraSpec = format!("clip:{}", args.size)
            .parse()
            .map_err(Failure::usage)?;
        let (shutter, camera) = Shutter::before(camera.open().map_err(Failure::usage)?);
        let mut feed = Feed::of(camera, clock).stamped();
        let own = signalling::Server {
            url: server.url.clone(),
            trust: Trust::Anybody,
            ..Default::default()
        };
        let room = Room::new(&own, Vec::new(), ROOM).map_err(Failure::run)?;
        let viewer = start_viewer(clock, notices.clone())?;
        let ride = Ride::default();
        let start = ride.at(weft_units::Duration::ZERO);
        let mut calls = Vec::new();
        let plain: &[LinkName] = &[LinkName::Wifi];
        let plans = [
            (
                WEFT,
                &LinkName::ALL[..],
                args.expert.scheduler,
                args.expert.protection,
            ),
            (SINGLE, plain, SchedulerKind::Single, ProtectionKind::None),
        ];
        for (name, links, scheduler, protection) in plans {
            let sending = Sending {
                scheduler,
                preference: args.expert.prefer,
                protection,
                controller: args.expert.controller,
                codec: args.codec,
                max_rate: MAX_RATE,
                cname: name.to_owned(),
            };
            let relays = start_relays(name, links, target, &start)?;
            let control = Arc::<VideoControl>::default();
            let open =
                Links::check(specs(&relays), Scope::Named, notices).map_err(Failure::machine)?;
            let sender = caller::start(
                clock,
                open,
                sending,
                vec![control.clone().into()],
                notices.clone(),
            )
            .map_err(Failure::machine)?;
            let remote = sender.remote.clone();
            let encoding = Arc::new(Mutex::new(Vec::new()));
            let taken = Arc::clone(&encoding);
            let send = move |frame: VideoFrame| {
                let behind = clock.now().saturating_since(frame.taken_at);
                taken.lock().expect("nobody panics with it").push(behind);
                remote.send(Command::Video {
                    camera: 0,
                    size: EncodingSize::Full,
                    frame,
                })
            };
            let captured = feed.subscribe();
            let setup = VideoSetup {
                format: feed.format(),
                codec: args.codec,
                layers: 3,
                degradation: Degradation::default(),
            };
            let slow = notices.clone();
            let on_load = move |load: video::Load| slow.send(load.into());
            video::start(setup, control, captured, on_load, send).map_err(Failure::machine)?;
            publish(&sender.remote, &room, name)?;
            let watcher = Watcher::start(clock, args.codec, None).map_err(Failure::machine)?;
            calls.push(Call {
                name,
                relays,
                watcher,
                encoding,
                scheduler,
                preference: args.expert.prefer,
                protection,
                controller: args.expert.controller,
                sender,
            });
        }
        feed.start(|error| complain!("weft: {error}"));
        for call in &calls {
            watch(&viewer.remote, &room, call)?;
        }
        Ok(DemoRun {
            ride,
            calls,
            shutter,
            viewer,
        })
    }

    /// Makes both links good and gives them back to the script.
    pub fn reset_links(&mut self) {
        self.ride = Ride::default();
        self.apply(&self.ride.at(weft_units::Duration::ZERO));
    }

    /// Pauses the cameras until [`DemoRun::wake`]; the calls stay connected.
    pub fn rest(&self) {
        self.shutter.set_open(false);
    }

    /// Resumes the cameras.
    pub fn wake(&self) {
        self.shutter.set_open(true);
    }

    /// Sets the links to this state of the ride.
    pub fn apply(&self, state: &RideState) {
        for call in &self.calls {
            for (name, relay) in &call.relays {
                relay.apply(&state.link(*name));
            }
        }
    }

    /// Changes a setting of the running weft call.
    pub fn set_weft(&mut self, setting: Setting) {
        for call in self.calls.iter_mut().filter(|c| c.name == WEFT) {
            match setting {
                Setting::Scheduler(scheduler) => {
                    call.scheduler = scheduler;
                    call.sender.remote.send(Command::Schedule(scheduler));
                }
                Setting::Preference(preference) => {
                    call.preference = preference;
                    call.sender.remote.send(Command::Prefer(preference));
                }
                Setting::Protection(protection) => {
                    call.protection = protection;
                    call.sender.remote.send(Command::Protect(protection));
                }
                Setting::Controller(controller) => {
                    call.controller = controller;
                    call.sender.remote.send(Command::Control(controller));
                }
            }
        }
    }

    pub fn call(&self, name: &str) -> Option<&Call> {
        self.calls.iter().find(|c| c.name == name)
    }

    pub fn both_show_pictures_since(&self, since: weft_units::Instant) -> bool {
        let newest = |call: &Call| call.watcher.look(|s| s.pictures.last().map(|s| s.at));
        self.calls.iter().all(|c| newest(c) > Some(since))
    }

    pub fn end(self) {
        for call in self.calls {
            call.sender.remote.send(Command::Stop);
            // The panic hook has already reported a panic of the driver.
            let _ = call.sender.join();
        }
        self.viewer.remote.send(Command::Stop);
        let _ = self.viewer.join();
    }
}

impl Call {
    /// Returns the settings of the sender, for the page.
    pub fn settings(&self) -> Vec<SettingTick> {
        vec![
            Setting::Scheduler(self.scheduler).show(),
            Setting::Preference(self.preference).show(),
            Setting::Protection(self.protection).show(),
            Setting::Controller(self.controller).show(),
        ]
    }

    /// Returns the statistics of the sending peer; of the newest one while an old one
    /// ends.
    pub fn report(&self) -> Option<PeerReport> {
        ask(&self.sender.remote, Command::Report).ok()?.pop()
    }
}

fn start_relays(
    call: &str,
    links: &[LinkName],
    target: SocketAddr,
    start: &RideState,
) -> Result<BTreeMap<LinkName, RelayHandle>, Failure> {
    let mut relays = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        let name = format!("{call}/{}", link.as_str());
        let medium = MediumSpec::wired(link.spec(), link.spec());
        // Each call has its own links with the same script: they do not
        // compete, so each shows its performance alone.
        let relay = Relay::start(&name, &medium, target, index as u64).map_err(Failure::machine)?;
        relay.apply(&start.link(*link));
        relays.insert(*link, relay);
    }
    Ok(relays)
}

/// Returns the links as loopback sockets whose packets all pass through a relay.
fn specs(relays: &BTreeMap<LinkName, RelayHandle>) -> Vec<LinkChoice> {
    let spec = |(name, relay): (&LinkName, &RelayHandle)| LinkChoice {
        via: Some(relay.address()),
        ..LinkChoice::new(name.as_str(), Target::Address(relay.address().ip()))
    };
    relays.iter().map(spec).collect()
}

fn start_viewer(clock: Clock, notices: Notices) -> Result<Driver<Command>, Failure> {
    let loopback: LinkChoice = "127.0.0.1".parse().map_err(Failure::machine)?;
    let links = Links::check(vec![loopback], Scope::Named, &notices).map_err(Failure::machine)?;
    let sending = Sending {
        scheduler: SchedulerKind::Single,
        preference: Preference::default(),
        protection: ProtectionKind::None,
        controller: ControllerKind::Gcc,
        codec: Codec::Vp8,
        max_rate: MAX_RATE,
        cname: "viewer".to_owned(),
    };
    caller::start(clock, links, sending, Vec::new(), notices).map_err(Failure::machine)
}

fn publish(remote: &Remote<Command>, room: &Room, name: &'static str) -> Result<(), Failure> {
    let query = format!("name={}&kind=native", participant(name));
    let room = room.clone();
    let exchange = move |offer: &str| room.publish(&query, None, offer);
    keep(remote, StreamDirection::Send, exchange, |_| {})
}

/// Participant of a call: names in URLs contain no colon.
pub fn participant(call: &str) -> &str {
    call.split(':').next().unwrap_or(call)
}

fn watch(remote: &Remote<Command>, room: &Room, call: &Call) -> Result<(), Failure> {
    let (room, name, watcher) = (room.clone(), call.name, call.watcher.clone());
    let exchange = move |offer: &str| play_when_published(&room, participant(name), offer);
    keep(remote, StreamDirection::Receive, exchange, move |frame| {
        watcher.show(frame);
    })
}

/// Connects, and reconnects whenever the connection ends, because the server closes a
/// call after a long outage of all its links.
fn keep(
    remote: &Remote<Command>,
    direction: StreamDirection,
    exchange: impl Fn(&str) -> Result<Created, SignallingError> + Send + 'static,
    show: impl Fn(ReceivedFrame) + Send + 'static,
) -> Result<(), Failure> {
    let kind = MediaKind::Video;
    let made = move |remote: &Remote<Command>, exchange: &dyn Fn(&str) -> _| {
        let (news, incoming) = channel();
        connect(remote, vec![Section::new(kind, direction)], news, exchange)
            .map(|connection| (connection.peer, incoming))
    };
    let (mut peer, mut incoming) = made(remote, &exchange).map_err(Failure::run)?;
    let remote = remote.clone();
    thread::spawn(move || {
        loop {
            while let Ok(news) = incoming.recv() {
                match news {
                    News::Frame { frame, .. } => show(frame),
                    News::Failed(_) | News::Ended => break,
                    News::Connected
                    | News::Unanswered
                    | News::Path { .. }
                    | News::ChannelOpened(_)
                    | News::ChannelClosed(_)
                    | News::Message(..) => {}
                }
            }
            remote.send(Command::Close(peer));
            (peer, incoming) = loop {
                match made(&remote, &exchange) {
                    Ok(made) => break made,
                    // The demo has ended.
                    Err(ConnectError::Call(CallError::Ended)) => return,
                    Err(_) => thread::sleep(RETRY),
                }
            };
        }
    });
    Ok(())
}

/// Retries, because the server knows the publisher only after its connection is
/// established.
fn play_when_published(
    room: &Room,
    participant: &str,
    offer: &str,
) -> Result<Created, SignallingError> {
    let deadline = Instant::now() + SETUP;
    loop {
        match room.play(participant, offer) {
            Err(error) if error.is_passing() && Instant::now() < deadline => {
                thread::sleep(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}
