//! Parts that calls in virtual time and over sockets share: the picture source, the
//! record, and the bodies of the tests.

use std::net::SocketAddr;

use weft_ice::{Credentials, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{CapturedPacket, Event, PeerConfig};
use weft_secure::{Certificate, Config as AssociationConfig, Keying};
use weft_session::{Config as SessionConfig, Frame};
pub use weft_testing::pictures::{FRAME_INTERVAL, Source};
use weft_testing::pictures::{Picture, Stamp};
use weft_units::{Codec, Duration, Instant, Rate, Rng, Ssrc, Transport};
use weft_wire::rtp::ExtensionMap;

/// End of the call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// Sends the video.
    Sender,
    /// Receives it.
    Receiver,
}

/// Frame that the receiver released.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub at: Instant,
    pub number: u64,
    pub captured: Instant,
}

/// Record of a call.
#[derive(Default)]
pub struct Record {
    pub shown: Vec<Shown>,
    /// Events of both associations.
    pub events: Vec<(Instant, Side, weft_secure::Event)>,
    /// Events of both sides' data channels.
    pub data: Vec<(Instant, Side, weft_peer::data::Event)>,
    /// Packets that each side captured.
    pub captured: Vec<(Side, CapturedPacket)>,
    keyframe_in: bool,
}

impl Record {
    /// Records an event of the receiver or the sender.
    pub fn on_event(&mut self, now: Instant, side: Side, event: &Event) {
        match event {
            Event::Association(event) => self.events.push((now, side, event.clone())),
            Event::Session(weft_session::Event::FrameReceived { frame, .. }) => {
                self.on_frame(now, &frame.data);
            }
            Event::Data(event) => self.data.push((now, side, event.clone())),
            Event::Packet(packet) => self.captured.push((side, (**packet).clone())),
            Event::Session(_) | Event::AddressWanted { .. } => {}
        }
    }

    /// Records a released frame, with the number and time in it.
    pub fn on_frame(&mut self, at: Instant, data: &[u8]) {
        let Stamp {
            number,
            captured,
            keyframe,
            ..
        } = Stamp::of(data).expect("a whole picture");
        self.keyframe_in |= keyframe;
        assert!(self.keyframe_in, "a delta frame before any keyframe");
        let before = self.shown.last().map(|s| s.number);
        assert!(before < Some(number), "{before:?} before {number}");
        self.shown.push(Shown {
            at,
            number,
            captured,
        });
    }

    pub fn shown_between(&self, from: Instant, to: Instant) -> usize {
        let within = |s: &&Shown| (from..to).contains(&s.at);
        self.shown.iter().filter(within).count()
    }

    /// Longest time without a frame, including the ends of the span.
    pub fn longest_gap(&self, from: Instant, to: Instant) -> Duration {
        let within = self.shown.iter().map(|s| s.at);
        let within = within.filter(|at| (from..to).contains(at));
        let times: Vec<Instant> = [from].into_iter().chain(within).chain([to]).collect();
        let gaps = times.windows(2).map(|w| w[1] - w[0]);
        gaps.max().unwrap_or_default()
    }

    /// Time from capture to release, the `q` quantile.
    pub fn latency(&self, q: f64) -> Duration {
        let mut all: Vec<Duration> = self.shown.iter().map(|s| s.at - s.captured).collect();
        all.sort();
        all[((all.len() - 1) as f64 * q) as usize]
    }

    /// Time of the first event of one side after `from` that satisfies the condition.
    pub fn first_event(
        &self,
        side: Side,
        from: Instant,
        which: impl Fn(&weft_secure::Event) -> bool,
    ) -> Option<Instant> {
        let found = self
            .events
            .iter()
            .find(|(at, s, e)| *s == side && *at >= from && which(e));
        found.map(|(at, ..)| *at)
    }

    pub fn path_down(&self, side: Side, from: Instant) -> Option<Instant> {
        self.first_event(side, from, |e| {
            matches!(e, weft_secure::Event::Ice(weft_ice::Event::PathDown { .. }))
        })
    }

    pub fn path_up(&self, side: Side, from: Instant) -> Option<Instant> {
        self.first_event(side, from, |e| {
            matches!(e, weft_secure::Event::Ice(weft_ice::Event::PathUp { .. }))
        })
    }
}

/// Source of pictures.
pub fn source(rng: Rng) -> Source {
    Source::new(Rate::from_kbps(600), rng)
}

/// Applies the session's requests to its encoder.
pub fn heed(source: &mut Source, event: &Event) {
    match event {
        Event::Session(weft_session::Event::KeyframeRequested { .. }) => {
            source.keyframe_wanted = true;
        }
        Event::Session(weft_session::Event::TargetRateChanged { rate }) => source.rate = *rate,
        _ => {}
    }
}

pub fn frame(picture: &Picture) -> Frame<'_> {
    Frame {
        keyframe: picture.keyframe,
        temporal_layer: picture.temporal_layer,
        layer_sync: picture.layer_sync,
        ..Frame::new(&picture.data, picture.timestamp, picture.captured_at)
    }
}

/// Configuration of a peer in a test call: all values are random from the seed, except
/// for the certificate.
pub fn config(role: IceRole, epoch: std::time::Instant, rng: &Rng) -> PeerConfig {
    let mut entropy = [0; 32];
    rng.stream("credentials").fill(&mut entropy);
    let mut session = SessionConfig::new(ExtensionMap::default(), Ssrc(1));
    session.max_rate = Rate::from_kbps(2500);
    PeerConfig {
        association: AssociationConfig {
            ice: weft_ice::Config {
                role,
                credentials: Credentials::from_entropy(&entropy),
                tie_breaker: rng.stream("tie").next_u64(),
                checks: weft_ice::Checks::All,
                rng: rng.stream("association"),
            },
            certificate: Certificate::generate().expect("the system has randomness"),
            epoch,
            keying: Keying::Dtls { seed: None },
        },
        session,
        locals: Vec::new(),
        public: Vec::new(),
        tcp: Vec::new(),
        codecs: Codec::CODED.to_vec(),
        data_channels: false,
        rng: rng.stream("session"),
    }
}

pub fn local(addr: SocketAddr, link: u8) -> LocalAddress {
    LocalAddress {
        transport: Transport::Udp,
        addr,
        link: LinkId(link),
        cost: 10,
        remotes: RemoteFilter::Any,
    }
}

/// Call that a test body can run, in virtual time or over sockets.
pub trait TestCall {
    fn now(&self) -> Instant;
    fn run(&mut self, span: Duration);
    fn cut(&mut self, link: usize);
    fn restore(&mut self, link: usize);
    fn record(&self) -> &Record;
}

/// Tolerance of measurements for a busy machine.
#[derive(Clone, Copy)]
pub struct Allowance {
    pub time: Duration,
    /// Minimum share of the frames.
    pub frames: f64,
}

/// Cuts a link and restores it: the picture continues, the failure is detected in time,
/// and the path comes back.
pub fn survives_a_cut(call: &mut impl TestCall, cut: usize, allowance: Allowance) {
    let seconds = Duration::from_secs;
    call.run(seconds(2));
    let start = call.now();
    call.run(seconds(1));
    let cut_at = call.now();
    call.cut(cut);
    call.run(seconds(2));
    let restored_at = call.now();
    call.restore(cut);
    call.run(seconds(2));
    let end = call.now();

    let record = call.record();
    let dead = record.path_down(Side::Sender, cut_at).expect("a verdict");
    let verdict = dead - cut_at;
    assert!(
        verdict <= Duration::from_millis(200) + allowance.time,
        "link {cut}: verdict after {verdict:?}"
    );
    let before = record.path_down(Side::Sender, start).expect("a verdict");
    assert_eq!(before, dead, "link {cut}: a living path was taken for dead");
    let gap = record.longest_gap(start, end);
    assert!(
        gap <= Duration::from_millis(350) + allowance.time,
        "link {cut}: no frame for {gap:?}"
    );
    let back = record
        .path_up(Side::Sender, restored_at)
        .expect("it is back");
    let back = back - restored_at;
    assert!(
        back <= Duration::from_millis(600) + allowance.time,
        "link {cut}: back after {back:?}"
    );
    let shown = record.shown_between(start, end) as f64;
    let captured = (end - start).as_secs_f64() / FRAME_INTERVAL.as_secs_f64();
    assert!(
        shown >= captured * allowance.frames && shown <= captured + 15.0,
        "link {cut}: {shown} frames of {captured}"
    );
}
