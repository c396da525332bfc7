//! Smaller encoding of a camera, for viewers who cannot receive the large one.

#[allow(dead_code)]
mod common;

use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use weft_endpoint::caller::{self, Command, News, Sending, Track};
use weft_endpoint::connect::{Connection, connect};
use weft_endpoint::links::{Links, Scope};
use weft_endpoint::signalling::{self, Room};
use weft_endpoint::{Call, CallConfig, Event, Notices, SendConfig};
use weft_net::{Clock, Driver};
use weft_peer::{Section, StreamDirection};
use weft_server::ServerHandle;
use weft_session::ReceivedFrame;
use weft_testing::where_the_machine_keeps_up;
use weft_units::{MediaKind, Rate};

use common::server;

/// Limit for all waits, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);
const FPS: u32 = 15;

fn call(server: &ServerHandle, name: &str, camera: Option<&str>) -> Call {
    let mut config = CallConfig::new(&*server.url, "r");
    config.send.name = name.to_owned();
    config.send.links = vec!["127.0.0.1".parse().expect("a link")];
    let cameras = camera.iter().map(|camera| camera.parse());
    config.send.cameras = cameras.collect::<Result<_, _>>().expect("cameras");
    Call::start(config).expect("a call")
}

/// Pictures that a viewer receives: their number, the widths of the keyframes, and the
/// longest time without a picture.
#[derive(Debug, Default)]
struct Seen {
    pictures: u32,
    widths: Vec<u16>,
    longest: Duration,
    last: Option<Instant>,
}

impl Seen {
    fn add(&mut self, frame: &ReceivedFrame) {
        let now = Instant::now();
        let since = self.last.replace(now).map(|last| now - last);
        self.longest = self.longest.max(since.unwrap_or_default());
        self.pictures += 1;
        if frame.keyframe {
            // RFC 6386 section 9.1.
            let width = u16::from_le_bytes([frame.data[6], frame.data[7]]) & 0x3fff;
            self.widths.push(width);
        }
    }

    /// Returns the pictures of a call's only camera in this time.
    fn of_call(call: &Call, time: Duration) -> Seen {
        let mut seen = Seen::default();
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            if let Ok(Event::Frame(played)) = call.next_event(left) {
                seen.add(&played.frame);
            }
        }
        seen
    }
}

/// Viewer of one participant that limits the server's sending rate.
struct Weak {
    driver: Driver<Command>,
    room: Room,
    connection: Connection,
    news: Receiver<News>,
}

impl Weak {
    fn new(server: &ServerHandle, participant: &str, most: Rate) -> Weak {
        let link = || vec!["127.0.0.1".parse().expect("a link")];
        let notices = Notices::ignored();
        let links = Links::check(link(), Scope::Named, &notices).expect("loopback");
        let sending = Sending::from(&SendConfig::default());
        let driver = caller::start(Clock::start(), links, sending, Vec::new(), notices);
        let driver = driver.expect("an endpoint");
        let url = signalling::Server {
            url: server.url.clone(),
            ..signalling::Server::default()
        };
        let room = Room::new(&url, link(), "r").expect("a room");
        let (listener, news) = channel();
        let section = Section::new(MediaKind::Video, StreamDirection::Receive);
        let made = connect(&driver.remote, vec![section], listener, |offer| {
            room.play(participant, offer)
        });
        let connection = made.expect("a connection");
        let limit = Command::LimitPeer(connection.peer, most);
        driver.remote.send(limit);
        Weak {
            driver,
            room,
            connection,
            news,
        }
    }

    fn seen(&self, time: Duration) -> Seen {
        let mut seen = Seen::default();
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()) {
            if let Ok(News::Frame { frame, .. }) = self.news.recv_timeout(left) {
                seen.add(&frame);
            }
        }
        seen
    }

    fn leave(self) {
        let deleted = self.room.delete(&self.connection.location);
        deleted.expect("the server knows the connection");
        self.driver
            .remote
            .send(Command::Close(self.connection.peer));
        self.driver.remote.send(Command::Stop);
        self.driver.join().expect("it does not panic");
    }
}

/// Returns the pictures of a weak and a strong viewer at the same time.
fn both(weak: Weak, strong: &Call, time: Duration) -> (Seen, Seen, Weak) {
    let weakly = std::thread::spawn(move || (weak.seen(time), weak));
    let strongly = Seen::of_call(strong, time);
    let (seen, weak) = weakly.join().expect("it does not panic");
    (seen, strongly, weak)
}

/// Returns the frames that a call has sent of its camera by encoding, the smaller one
/// first.
fn sent(call: &Call) -> Vec<u64> {
    let statistics = call.statistics().expect("it runs");
    let Some(report) = statistics.published() else {
        return Vec::new();
    };
    let pictures = |track: Option<&Track>| track == Some(&Track::Camera(0));
    let senders = report.stats.senders.iter();
    let senders = senders.filter(|s| pictures(report.tracks.get(&s.stream)));
    senders.map(|sender| sender.frames).collect()
}

/// Waits until the smaller encoding has not been sent for two seconds while the other one
/// has.
fn until_the_smaller_one_stops(publisher: &Call, viewer: &Call) {
    let began = Instant::now();
    loop {
        let before = sent(publisher);
        Seen::of_call(viewer, Duration::from_secs(2));
        let after = sent(publisher);
        if let ([smaller, full], [smaller_then, full_then]) = (&before[..], &after[..])
            && smaller == smaller_then
            && full < full_then
        {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{before:?}, then {after:?}");
    }
}

#[test]
fn a_weak_viewer_gets_the_smaller_encoding_which_is_encoded_only_for_it() {
    where_the_machine_keeps_up(|| {
        let server = server();
        let publisher = call(&server, "Ann", Some("clip:640x360@15"));
        let strong = call(&server, "Bob", None);
        let began = Instant::now();
        let ann = loop {
            assert!(began.elapsed() < PATIENCE, "nobody publishes");
            if let Ok(Event::Playing(who)) = strong.next_event(Duration::from_secs(1)) {
                break who.id;
            }
        };
        until_the_smaller_one_stops(&publisher, &strong);

        let weak = Weak::new(&server, &ann, Rate::from_kbps(250));
        let (first, _, weak) = both(weak, &strong, Duration::from_secs(8));
        assert!(first.widths.contains(&320), "{first:?}");
        let time = Duration::from_secs(6);
        let before = sent(&publisher);
        let (seen, strongly, weak) = both(weak, &strong, time);
        let all = FPS * 6;
        for (seen, width) in [(&seen, 320), (&strongly, 640)] {
            let pictures = all * 9 / 10..=all * 11 / 10;
            assert!(pictures.contains(&seen.pictures), "{width}: {seen:?}");
            assert!(seen.longest < Duration::from_millis(400), "{seen:?}");
            assert!(seen.widths.iter().all(|w| *w == width), "{seen:?}");
        }
        for (before, after) in before.iter().zip(sent(&publisher)) {
            let frames = (after - before) as u32;
            assert!((all * 8 / 10..=all * 13 / 10).contains(&frames), "{frames}");
        }

        weak.leave();
        until_the_smaller_one_stops(&publisher, &strong);
        for call in [publisher, strong] {
            call.leave().expect("it was connected");
        }
        server.shutdown();
    });
}
