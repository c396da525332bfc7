//! `weft emu call`: the sender of a call to another program; offer and answer
//! are lines of text (`clients/README.md`).

use std::io::stdin;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use weft_endpoint::sources::cameras::NamedCamera;
use weft_endpoint::{Direct, DirectConfig, DirectEvent, OwnSources, SendConfig, Statistics};
use weft_lab::engine::emu::Shortage;
use weft_media::{Camera, CameraError, CameraSpec, Captured, Format, Pace, stamp};
use weft_net::Clock;
use weft_session::PathState;

use crate::exit::{self, Failure, say_json};
use crate::sending::MediaArgs;

/// Name of the other end.
const OTHER: &str = "other";
/// Interval of samples, the same as for other clients.
const PERIOD: Duration = Duration::from_millis(500);

pub fn call(args: &MediaArgs) -> Result<(), Failure> {
    let filmed = Arc::default();
    let own = films(args, &filmed)?;
    let fps = own.cameras.first().map(|(_, camera)| camera.format().fps);
    let config = SendConfig {
        cameras: Vec::new(),
        own,
        ..args.config()
    };
    let (tell, events) = channel();
    let hear = move |event| {
        let _ = tell.send(event);
    };
    let direct = Direct::start(DirectConfig::new(config), exit::notices(), hear)?;
    let version = format!("weft {}", weft_lab::VERSION);
    say_json(json!({ "about": { "client": "weft-call", "version": version, "role": "caller" } }))?;
    say_json(json!({ "ready": true }))?;
    let sdp = direct.offer(OTHER).map_err(Failure::run)?;
    say_json(json!({ "signal": { "type": "offer", "sdp": sdp } }))?;
    let lines = lines();
    let answer = loop {
        let Ok(line) = lines.recv() else {
            return Ok(());
        };
        if let Some(sdp) = line["signal"]["sdp"].as_str() {
            break sdp.to_owned();
        }
    };
    direct.accept(OTHER, answer).map_err(Failure::run)?;
    let shortage = Shortage::of(fps.unwrap_or_default());
    let told = follow(&direct, &lines, &events, (&filmed, shortage));
    direct.leave();
    told
}

/// Reports the state of the call until the input ends.
fn follow(
    direct: &Direct,
    lines: &Receiver<Value>,
    events: &Receiver<DirectEvent>,
    (filmed, mut shortage): (&Filmed, Shortage),
) -> Result<(), Failure> {
    let mut connected = false;
    let mut next = Instant::now() + PERIOD;
    loop {
        for event in events.try_iter() {
            match event {
                DirectEvent::Connected { .. } => {
                    connected = true;
                    say_json(json!({ "state": "connected" }))?;
                }
                DirectEvent::Ended { reason, .. } => {
                    say_json(json!({ "state": "failed", "reason": reason }))?;
                }
                _ => {}
            }
        }
        let wait = next.saturating_duration_since(Instant::now());
        match lines.recv_timeout(wait) {
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Ok(_) => continue,
            Err(RecvTimeoutError::Timeout) => next += PERIOD,
        }
        let taken = std::mem::take(&mut *filmed.lock().expect(UNPOISONED));
        let figures = direct.statistics().filter(|_| connected);
        if let Some(figures) = figures {
            say_json(json!({ "sample": sample(&figures, &taken, &mut shortage) }))?;
        }
    }
}

/// Numbers of the pictures with their capture times, in milliseconds since
/// 1970.
type Filmed = Arc<Mutex<Vec<(u32, f64)>>>;

const UNPOISONED: &str = "nobody panics with it";

/// Cameras of the call. The first one reports its pictures if it is the built-in clip.
fn films(args: &MediaArgs, filmed: &Filmed) -> Result<OwnSources, Failure> {
    let clock = Clock::start();
    let open = |(place, named): (usize, &NamedCamera)| {
        let camera = named.spec.open().map_err(Failure::usage)?;
        let camera: Box<dyn Camera> = match (&named.spec, place) {
            (CameraSpec::Clip(_), 0) => Box::new(Logged {
                camera,
                clock,
                filmed: Arc::clone(filmed),
            }),
            _ => camera,
        };
        Ok((named.name.clone(), camera))
    };
    let cameras = args.cameras.iter().enumerate().map(open);
    Ok(OwnSources {
        cameras: cameras.collect::<Result<_, Failure>>()?,
        ..OwnSources::default()
    })
}

/// Camera that records its numbered pictures.
struct Logged {
    camera: Box<dyn Camera>,
    clock: Clock,
    filmed: Filmed,
}

impl Camera for Logged {
    fn format(&self) -> Format {
        self.camera.format()
    }

    fn pace(&self) -> Pace {
        self.camera.pace()
    }

    fn capture(&mut self) -> Result<Captured, CameraError> {
        let mut captured = self.camera.capture()?;
        let unix_ms = self.clock.unix_millis(self.clock.now());
        let stamp = stamp::Stamp {
            number: captured.number as u32,
            time_ms: unix_ms as u32,
        };
        stamp::write(Arc::make_mut(&mut captured.picture), stamp);
        let mut filmed = self.filmed.lock().expect(UNPOISONED);
        filmed.push((stamp.number, unix_ms as f64));
        Ok(captured)
    }
}

fn lines() -> Receiver<Value> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let lines = stdin().lines().map_while(Result::ok);
        for line in lines.filter_map(|line| serde_json::from_str(&line).ok()) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

fn sample(figures: &Statistics, taken: &[(u32, f64)], shortage: &mut Shortage) -> Value {
    let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let unix_ms = unix.map_or(0.0, |since| since.as_secs_f64() * 1e3);
    let peers = || figures.peers.iter().filter(|peer| peer.connected);
    let paths = || peers().flat_map(|peer| &peer.stats.paths);
    let rtt = paths().filter(|path| path.state != PathState::Down);
    let rtt = rtt.map(|path| path.rtt).min();
    let bytes: u64 = paths().map(|path| path.sent_bytes.0).sum();
    let target: f64 = peers().map(|peer| peer.stats.target_rate.as_mbps()).sum();
    let mut sent = json!({ "bytes": bytes, "target_mbps": target, "filmed": taken });
    if let Some(camera) = peers().flat_map(|peer| &peer.cameras).next() {
        sent["frames"] = camera.encoded.into();
        sent["fps"] = camera.fps.into();
        sent["width"] = camera.width.into();
        sent["height"] = camera.height.into();
        let pictures = camera.encoded + camera.dropped + camera.skipped;
        sent["cpu_limited_s"] = shortage.on_count(unix_ms, pictures as f64).into();
    }
    json!({
        "unix_ms": unix_ms,
        "rtt_ms": rtt.map(|rtt| rtt.as_millis_f64()),
        "sent": sent,
    })
}
