//! Flows of a scenario: what runs, from when to when, and over which links.

use std::ops::{Range, RangeInclusive};

use toml::Spanned;
use weft_experiment::{
    Application, CallSetup, CameraSetup, CongestionKind, EcnMode, FlowKind, FlowSetup, Hop,
    MicrophoneSetup, ModelSetup, Route, SetupError, SideSetup, TcpSetup, UdpSetup,
};
use weft_publish::{Degradation, UnknownDegradation};
use weft_units::{Codec, Duration, Rate};

use super::file::{Direction, Encoder, File, Flow, Kind, Media, Text, Topology};
use super::place::{ScenarioError, Source};
use super::quantity::Speed;
use super::systems::{self, SystemSpec};
use crate::names::unknown_name;

/// Frames a second, and what a camera sends at most: 1280x720 as in Converge,
/// section 5.
const DEFAULT_FPS: u32 = 30;
const DEFAULT_SIZE: (u32, u32) = (1280, 720);
const DEFAULT_MAX_RATE: Rate = Rate::from_mbps(10);
/// From Opus's lowest rate (RFC 6716 section 2.1.1) to what fits into a packet
/// of 1200 bytes each 20 ms.
const SOUND_RATES: RangeInclusive<Rate> = Rate::from_kbps(6)..=Rate::from_kbps(480);
/// Chosen by us: more than any experiment needs.
const WEIGHTS: RangeInclusive<f64> = 0.1..=10.0;

/// Sizes with names, 16 to 9.
const NAMED_SIZES: [(&str, (u32, u32)); 5] = [
    ("180p", (320, 180)),
    ("360p", (640, 360)),
    ("540p", (960, 540)),
    ("720p", (1280, 720)),
    ("1080p", (1920, 1080)),
];

/// What flows are read against.
pub struct Context<'a> {
    pub source: &'a Source,
    pub file: &'a File,
    pub topology: Topology,
    pub system: &'a SystemSpec,
}

type Result<T> = std::result::Result<T, ScenarioError>;

impl Context<'_> {
    /// The flow of this table.
    pub fn flow(&self, name: &Spanned<String>, written: &Spanned<Flow>) -> Result<FlowSetup> {
        let flow = written.get_ref();
        self.only_own_fields(flow)?;
        let own = flow.system.as_ref().map(|name| {
            let name = systems::full_name(self.file, name);
            systems::system(self.source, self.file, &name)
        });
        let own = own.transpose()?;
        let system = own.as_ref().unwrap_or(self.system);
        let (start, stop) = self.times(name.get_ref(), flow)?;
        let kind = match flow.kind.get_ref() {
            Kind::Call => self.call(flow, system)?,
            Kind::Tcp => FlowKind::Tcp(self.tcp(flow)?),
            Kind::Udp => FlowKind::Udp(self.udp(flow, written.span())?),
        };
        let routes = self.routes(name, flow, system)?;
        let name = name.get_ref().clone();
        Ok(FlowSetup {
            name,
            start,
            stop,
            routes,
            kind,
        })
    }

    /// A field that another kind of flow has is as wrong as an unknown one.
    fn only_own_fields(&self, flow: &Flow) -> Result<()> {
        use Kind::{Call, Tcp, Udp};
        let span = |at: Option<Range<usize>>| at;
        let fields = [
            (
                "system",
                Call,
                span(flow.system.as_ref().map(Spanned::span)),
            ),
            ("media", Call, flow.media.as_ref().map(|_| flow.kind.span())),
            ("streams", Call, flow.streams.as_ref().map(Spanned::span)),
            ("max-rate", Call, flow.max_rate.as_ref().map(Spanned::span)),
            ("encoder", Call, flow.encoder.as_ref().map(Spanned::span)),
            (
                "resolution",
                Call,
                flow.resolution.as_ref().map(Spanned::span),
            ),
            (
                "degradation",
                Call,
                flow.degradation.as_ref().map(Spanned::span),
            ),
            (
                "frame-rate",
                Call,
                flow.frame_rate.as_ref().map(Spanned::span),
            ),
            ("sound", Call, flow.sound.as_ref().map(Spanned::span)),
            (
                "weight",
                Call,
                span(flow.weight.as_ref().map(Spanned::span)),
            ),
            ("algorithm", Tcp, flow.algorithm.as_ref().map(Spanned::span)),
            (
                "connections",
                Tcp,
                flow.connections.as_ref().map(Spanned::span),
            ),
            ("ecn", Tcp, flow.ecn.as_ref().map(Spanned::span)),
            ("size", Tcp, flow.size.as_ref().map(Spanned::span)),
            ("sizes", Tcp, flow.sizes.as_ref().map(Spanned::span)),
            ("pause", Tcp, flow.pause.as_ref().map(Spanned::span)),
            ("rate", Udp, flow.rate.as_ref().map(Spanned::span)),
            ("packet", Udp, flow.packet.as_ref().map(Spanned::span)),
        ];
        let own = *flow.kind.get_ref();
        let strange = fields
            .into_iter()
            .find(|(_, kind, at)| *kind != own && at.is_some());
        let Some((field, kind, Some(at))) = strange else {
            return Ok(());
        };
        let (kind, own) = (kind.name(), own.name());
        let message = format!(
            "`{field}` belongs to a flow of kind \"{kind}\", this one is \"{own}\": remove it"
        );
        Err(self.source.error(at, message))
    }

    fn times(&self, name: &str, flow: &Flow) -> Result<(Duration, Option<Duration>)> {
        let end = self.file.duration.get_ref().0;
        let start = flow
            .start
            .as_ref()
            .map_or(Duration::ZERO, |at| at.get_ref().0);
        if let Some(at) = flow.start.as_ref().filter(|_| start >= end) {
            let message = format!(
                "flow `{name}` starts at {}, after the end of the run at {}: start it earlier, or make `duration` longer",
                seconds(start),
                seconds(end)
            );
            return Err(self.source.error(at.span(), message));
        }
        let stop = flow.stop.as_ref().map(|at| at.get_ref().0);
        if let Some(at) = flow.stop.as_ref().filter(|at| at.get_ref().0 <= start) {
            let message = format!(
                "flow `{name}` stops at {}, and starts at {}: let it stop later",
                seconds(at.get_ref().0),
                seconds(start)
            );
            return Err(self.source.error(at.span(), message));
        }
        Ok((start, stop))
    }

    fn call(&self, flow: &Flow, system: &SystemSpec) -> Result<FlowKind> {
        let streams = flow.streams.as_ref().map_or(1, |n| *n.get_ref());
        if let Some(none) = flow.streams.as_ref().filter(|n| *n.get_ref() == 0) {
            let message = "a call has at least one camera: `streams = 1`".to_owned();
            return Err(self.source.error(none.span(), message));
        }
        let camera = self.camera(flow)?;
        let mut side = SideSetup::filming(vec![camera; streams as usize]);
        if let Some(sound) = &flow.sound {
            let microphone = self.microphone(sound)?;
            side.max_rate += microphone.rate;
            side.microphones.push(microphone);
        }
        side.scheduler = system.scheduler;
        side.ablation = system.ablation;
        side.protection = system.protection;
        side.controller = system.controller;
        if let Some(weight) = &flow.weight {
            side.weight = self.weight(weight)?;
        }
        let mut call = match flow.media.unwrap_or_default() {
            Media::OneWay => CallSetup::one_way(side),
            Media::BothWays => CallSetup::both_ways(side),
        };
        call.callee.ablation = system.ablation;
        call.level = system.level;
        Ok(FlowKind::Call(Box::new(call)))
    }

    fn microphone(&self, sound: &Spanned<Speed>) -> Result<MicrophoneSetup> {
        let rate = sound.get_ref().0;
        if !SOUND_RATES.contains(&rate) {
            let message =
                "a microphone sends 6 to 480 kbit/s: write for example sound = \"32kbit\"";
            return Err(self.source.error(sound.span(), message));
        }
        Ok(MicrophoneSetup {
            rate,
            ..MicrophoneSetup::default()
        })
    }

    fn weight(&self, weight: &Spanned<f64>) -> Result<f64> {
        if !WEIGHTS.contains(weight.get_ref()) {
            let message = "a weight is 0.1 to 10, 1 being that of every other call: write for example weight = 2.0";
            return Err(self.source.error(weight.span(), message));
        }
        Ok(*weight.get_ref())
    }

    fn camera(&self, flow: &Flow) -> Result<CameraSetup> {
        let frame_rate = flow
            .frame_rate
            .as_ref()
            .map_or(DEFAULT_FPS, |n| *n.get_ref());
        let max_rate = flow.max_rate.as_ref();
        if let Some(none) = max_rate.filter(|rate| rate.get_ref().0 == Rate::ZERO) {
            let message =
                "a camera that may send nothing is none: write for example max-rate = \"2mbit\"";
            return Err(self.source.error(none.span(), message));
        }
        let max_rate = max_rate.map_or(DEFAULT_MAX_RATE, |rate| rate.get_ref().0);
        let encoder = flow
            .encoder
            .as_ref()
            .map_or(Encoder::default(), |e| *e.get_ref());
        let codec = match encoder {
            Encoder::Vp8 => Codec::Vp8,
            Encoder::H264 => Codec::H264,
            Encoder::Rfc8593 => {
                return Ok(CameraSetup::synthetic(f64::from(frame_rate), max_rate));
            }
        };
        let (width, height) = match &flow.resolution {
            Some(text) => self.resolution(text)?,
            None => DEFAULT_SIZE,
        };
        let mut setup = ModelSetup::new(codec, width, height, max_rate);
        setup.fps = f64::from(frame_rate);
        setup.validate().map_err(|error| {
            let place = flow.frame_rate.as_ref().map(Spanned::span);
            let place = flow.resolution.as_ref().map(Spanned::span).or(place);
            self.source
                .error(place.unwrap_or(flow.kind.span()), error.to_string())
        })?;
        let degradation = match &flow.degradation {
            None => Degradation::default(),
            Some(name) => name
                .get_ref()
                .parse()
                .map_err(|error: UnknownDegradation| {
                    self.source.error(name.span(), error.to_string())
                })?,
        };
        Ok(CameraSetup {
            degradation,
            ..CameraSetup::model(setup, max_rate)
        })
    }

    fn resolution(&self, text: &Text) -> Result<(u32, u32)> {
        let named = NAMED_SIZES
            .into_iter()
            .find(|(name, _)| name == text.get_ref());
        let parsed = text.get_ref().split_once('x');
        let parsed =
            parsed.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
        named.map(|(_, size)| size).or(parsed).ok_or_else(|| {
            let message = format!(
                "\"{}\" is no size of pictures: write 180p, 360p, 540p, 720p, 1080p or WIDTHxHEIGHT",
                text.get_ref()
            );
            self.source.error(text.span(), message)
        })
    }

    fn tcp(&self, flow: &Flow) -> Result<TcpSetup> {
        let congestion = match &flow.algorithm {
            None => CongestionKind::Cubic,
            Some(name) => name.get_ref().parse().map_err(|_| {
                let known = CongestionKind::ALL.iter().map(|kind| kind.name());
                let message = unknown_name("there is no TCP algorithm", name.get_ref(), known);
                self.source.error(name.span(), message)
            })?,
        };
        let application = match (&flow.size, &flow.sizes, &flow.pause) {
            (None, None, None) => Application::LongLived,
            (Some(size), None, None) => Application::Upload(size.get_ref().0),
            (None, Some(sizes), pause) => {
                let [low, high] = *sizes.get_ref();
                let mean_pause = pause.as_ref().map_or(Duration::ZERO, |p| p.get_ref().0);
                Application::OnOff {
                    size: (low.0, high.0),
                    mean_pause,
                }
            }
            (Some(_), _, Some(at)) | (None, None, Some(at)) => {
                let message =
                    "`pause` stands between transfers: give `sizes = [\"100kB\", \"1MB\"]` with it";
                return Err(self.source.error(at.span(), message));
            }
            (Some(_), Some(at), None) => {
                let message = "`size` is one upload, `sizes` many with pauses: keep one of them";
                return Err(self.source.error(at.span(), message));
            }
        };
        let ecn = flow.ecn.as_ref().is_some_and(|ecn| *ecn.get_ref());
        Ok(TcpSetup {
            congestion,
            application,
            connections: flow.connections.as_ref().map_or(1, |n| *n.get_ref()),
            ecn: if ecn { EcnMode::On } else { EcnMode::Off },
        })
    }

    fn udp(&self, flow: &Flow, whole: Range<usize>) -> Result<UdpSetup> {
        let Some(rate) = &flow.rate else {
            let message = "a flow of kind \"udp\" needs a `rate`, such as rate = \"1mbit\"";
            return Err(self.source.error(whole, message));
        };
        let mut setup = UdpSetup::new(rate.get_ref().0);
        if let Some(packet) = &flow.packet {
            setup.packet = packet.get_ref().0;
        }
        Ok(setup)
    }

    /// One route for each path of a call, one route for any other flow.
    fn routes(
        &self,
        name: &Spanned<String>,
        flow: &Flow,
        system: &SystemSpec,
    ) -> Result<Vec<Route>> {
        let all: Vec<usize> = (0..self.file.links.get_ref().0.len()).collect();
        if let Some(via) = flow.via.as_ref().filter(|via| via.get_ref().is_empty()) {
            let message = "`via` is empty: name at least one link, or leave it away";
            return Err(self.source.error(via.span(), message));
        }
        let named = flow.via.as_ref();
        let named = named.map(|via| systems::links(self.source, self.file, via.get_ref()));
        let named = named.transpose()?;
        let beside = self.topology == Topology::Parallel;
        let lists = match *flow.kind.get_ref() {
            Kind::Call if beside => {
                let chosen = named.or_else(|| system.links.clone()).unwrap_or(all);
                chosen.into_iter().map(|link| vec![link]).collect()
            }
            _ if beside && named.is_none() && all.len() > 1 => {
                let first = self.file.links.get_ref().names().next().unwrap_or_default();
                let message = format!(
                    "the links are parallel, and flow `{}` does not say which it takes: add via = [\"{first}\"]",
                    name.get_ref()
                );
                return Err(self.source.error(name.span(), message));
            }
            _ => vec![named.unwrap_or(all)],
        };
        Ok(lists
            .into_iter()
            .map(|links| self.route(flow, &links))
            .collect())
    }

    fn route(&self, flow: &Flow, links: &[usize]) -> Route {
        let direction = match flow.direction.unwrap_or_default() {
            Direction::Forward => weft_experiment::Direction::Forward,
            Direction::Backward => weft_experiment::Direction::Backward,
        };
        let mut hops: Vec<Hop> = links.iter().map(|&link| Hop { link, direction }).collect();
        if direction == weft_experiment::Direction::Backward {
            hops.reverse();
        }
        let access_delay = flow.access_delay.as_ref();
        let access_delay = access_delay.map_or(Duration::ZERO, |t| t.get_ref().0);
        Route { hops, access_delay }
    }
}

/// Where that stands which keeps the whole from being run.
pub fn guilty(error: &SetupError, file: &File) -> Range<usize> {
    let flows = &file.flows.get_ref().0;
    let of_flow = |name: &str| {
        let named = flows.iter().find(|(flow, _)| flow.get_ref() == name);
        named.map(|(flow, _)| flow.span())
    };
    let found = match error {
        SetupError::UnknownLink { flow, .. }
        | SetupError::RouteLength { flow, .. }
        | SetupError::Routes { flow, .. }
        | SetupError::NeverRuns { flow, .. }
        | SetupError::BadFlow { flow, .. } => of_flow(flow),
        SetupError::TooLong { time, .. } => {
            let mut delays = flows
                .iter()
                .flat_map(|(_, flow)| &flow.get_ref().access_delay);
            delays
                .find(|delay| delay.get_ref().0 == *time)
                .map(Spanned::span)
        }
        SetupError::Zero { .. } | SetupError::TooManySamples { .. } => Some(file.duration.span()),
        SetupError::Repeated { .. } => None,
    };
    found.unwrap_or(file.flows.span())
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Call => "call",
            Kind::Tcp => "tcp",
            Kind::Udp => "udp",
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs_f64())
}
