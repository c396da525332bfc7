//! Calls.

use std::ops::{Range, RangeInclusive};

use serde::Deserialize;
use toml::Spanned;
use weft_apps::{App, Family, Model, WebrtcLimits};
use weft_experiment::{
    AppMedia, AppSetup, CallSetup, CameraSetup, FloorSetup, FlowKind, MicrophoneSetup, ModelSetup,
    SideSetup,
};
use weft_publish::Degradation;
use weft_units::UnknownName;
use weft_units::{Codec, Duration, Rate};

use super::{Conditions, Fields, Result, Ways, app};
use crate::scenario::place::{Source, Text};
use crate::scenario::quantity::{Speed, Time};
use crate::scenario::system_spec::SystemKind;

/// Frames per second, and the highest rate of a camera: 1280x720 as in Converge, section
/// 5.
const DEFAULT_FPS: u32 = 30;
const DEFAULT_SIZE: (u32, u32) = (1280, 720);
const DEFAULT_MAX_RATE: Rate = Rate::from_mbps(10);
/// Opus's lowest rate (RFC 6716 section 2.1.1), and the highest that fits into a packet
/// of 1200 bytes every 20 ms.
const SOUND_RATES: RangeInclusive<Rate> = Rate::from_kbps(6)..=Rate::from_kbps(480);
/// Chosen by us: wider than any experiment needs.
const WEIGHTS: RangeInclusive<f64> = 0.1..=10.0;

/// Named sizes, 16 to 9.
const NAMED_SIZES: [(&str, (u32, u32)); 5] = [
    ("180p", (320, 180)),
    ("360p", (640, 360)),
    ("540p", (960, 540)),
    ("720p", (1280, 720)),
    ("1080p", (1920, 1080)),
];

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Call {
    system: Option<Text>,
    app: Option<Text>,
    media: Option<Media>,
    streams: Option<Spanned<u32>>,
    max_rate: Option<Spanned<Speed>>,
    encoder: Option<Spanned<Encoder>>,
    resolution: Option<Text>,
    degradation: Option<Text>,
    temporal_layers: Option<Spanned<u8>>,
    frame_rate: Option<Spanned<u32>>,
    device_delay: Option<Spanned<Time>>,
    repair_decoding: Option<Spanned<Time>>,
    sound: Option<Spanned<Speed>>,
    weight: Option<Spanned<f64>>,
    clock_ppm: Option<Spanned<i32>>,
}

/// Direction of media in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Media {
    #[default]
    OneWay,
    BothWays,
}

/// Encoder of a call's frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Encoder {
    /// The model of VP8, the default.
    Vp8,
    /// The model of H.264.
    H264,
    /// The synthetic codec of RFC 8593, for the RMCAT cases.
    Rfc8593,
}

impl Fields for Call {
    fn ways(&self) -> Ways<'_> {
        match &self.system {
            Some(own) => Ways::Own(own),
            None => Ways::Compared,
        }
    }

    fn read(&self, conditions: &Conditions<'_>, whole: Range<usize>) -> Result<FlowKind> {
        let (source, system) = (conditions.source, conditions.system);
        let app = self.app.as_ref();
        let limits = match app.map(|name| app::family(source, name)).transpose()? {
            Some((app, Family::Model(model))) => return self.application(source, app, model),
            Some((_, Family::Webrtc(limits))) => Some(self.within(source, limits)?),
            None => None,
        };
        let mut side = SideSetup::filming(self.cameras(source, whole.clone(), limits)?);
        let sound = self.sound.as_ref();
        let sound = sound.map(|sound| microphone(source, sound)).transpose()?;
        if let Some(microphone) = sound.or(limits.map(app::microphone)) {
            side.max_rate += microphone.rate;
            side.microphones.push(microphone);
        }
        if let Some(weight) = &self.weight {
            side.weight = checked_weight(source, weight)?;
        }
        if let Some(time) = &self.repair_decoding {
            side.repair_decoding = time.get_ref().0;
        }
        let session = match (&system.kind, limits) {
            (way, Some(limits)) => &app::session(limits, way, &mut side),
            (SystemKind::Session(session), None) => session,
            (SystemKind::Floor(rate), None) => {
                return Ok(FlowKind::Floor(self.floor(*rate, sound)));
            }
        };
        if let Some(allocator) = session.allocator {
            let message = format!(
                "{allocator} are rules of a conference's server, and a call has none: use another system, \
                 or a flow of kind \"conference\""
            );
            return Err(source.error(whole, message));
        }
        session.configure(&mut side);
        if let Some(time) = session.repair_decoding {
            side.repair_decoding = time;
        }
        let mut call = match self.media.unwrap_or_default() {
            Media::OneWay => CallSetup::one_way(side),
            Media::BothWays => CallSetup::both_ways(side),
        };
        call.callee.ablations = session.ablations;
        call.callee.reporting = session.reporting;
        call.callee.clock_ppm = self.clock_ppm.as_ref().map_or(0, |ppm| *ppm.get_ref());
        call.level = session.level;
        Ok(FlowKind::Call(Box::new(call)))
    }
}

impl Call {
    /// Returns the floor of one camera: the result that each of several could reach
    /// alone.
    fn floor(&self, rate: Rate, sound: Option<MicrophoneSetup>) -> FloorSetup {
        FloorSetup {
            frame_rate: self.frame_rate(),
            rate,
            sound,
            device_delay: self.device_delay(),
        }
    }

    fn frame_rate(&self) -> f64 {
        let frame_rate = self.frame_rate.as_ref();
        f64::from(frame_rate.map_or(DEFAULT_FPS, |n| *n.get_ref()))
    }

    fn device_delay(&self) -> Duration {
        let delay = self.device_delay.as_ref();
        delay.map_or(Duration::ZERO, |delay| delay.get_ref().0)
    }

    /// Returns a closed application, which has its own sound and pictures.
    fn application(&self, source: &Source, app: App, model: Model) -> Result<FlowKind> {
        let own = [
            ("system", self.system.as_ref().map(Spanned::span)),
            ("streams", self.streams.as_ref().map(Spanned::span)),
            ("encoder", self.encoder.as_ref().map(Spanned::span)),
            ("resolution", self.resolution.as_ref().map(Spanned::span)),
            ("degradation", self.degradation.as_ref().map(Spanned::span)),
            (
                "temporal-layers",
                self.temporal_layers.as_ref().map(Spanned::span),
            ),
            ("frame-rate", self.frame_rate.as_ref().map(Spanned::span)),
            (
                "device-delay",
                self.device_delay.as_ref().map(Spanned::span),
            ),
            (
                "repair-decoding",
                self.repair_decoding.as_ref().map(Spanned::span),
            ),
            ("sound", self.sound.as_ref().map(Spanned::span)),
            ("weight", self.weight.as_ref().map(Spanned::span)),
            ("clock-ppm", self.clock_ppm.as_ref().map(Spanned::span)),
        ];
        if let Some((field, place)) = own.into_iter().find_map(|(f, place)| Some((f, place?))) {
            let message = format!(
                "{app} is a model with pictures and sound of its own: remove `{field}` (`media` and `max-rate` can be set)"
            );
            return Err(source.error(place, message));
        }
        let model = match &self.max_rate {
            None => model,
            Some(rate) => model
                .with_highest(rate.get_ref().0)
                .map_err(|error| source.error(rate.span(), error.to_string()))?,
        };
        let media = match self.media.unwrap_or_default() {
            Media::OneWay => AppMedia::OneWay,
            Media::BothWays => AppMedia::BothWays,
        };
        Ok(FlowKind::App(Box::new(AppSetup { app, model, media })))
    }

    /// Returns an application's limits, with the highest rate from the file.
    fn within(&self, source: &Source, limits: WebrtcLimits) -> Result<WebrtcLimits> {
        let Some(rate) = &self.max_rate else {
            return Ok(limits);
        };
        let limited = limits.with_highest(rate.get_ref().0);
        limited.map_err(|error| source.error(rate.span(), error.to_string()))
    }

    fn cameras(
        &self,
        source: &Source,
        whole: Range<usize>,
        limits: Option<WebrtcLimits>,
    ) -> Result<Vec<CameraSetup>> {
        let streams = self.streams.as_ref().map_or(1, |n| *n.get_ref());
        if let Some(none) = self.streams.as_ref().filter(|n| *n.get_ref() == 0) {
            let message = "a call has at least one camera: `streams = 1`".to_owned();
            return Err(source.error(none.span(), message));
        }
        Ok(vec![self.camera(source, whole, limits)?; streams as usize])
    }

    fn camera(
        &self,
        source: &Source,
        whole: Range<usize>,
        limits: Option<WebrtcLimits>,
    ) -> Result<CameraSetup> {
        let frame_rate = self.frame_rate();
        let max_rate = self.max_rate.as_ref();
        if let Some(none) = max_rate.filter(|rate| rate.get_ref().0 == Rate::ZERO) {
            let message =
                "a camera needs a rate above zero: write for example max-rate = \"2mbit\"";
            return Err(source.error(none.span(), message));
        }
        let max_rate = match limits {
            Some(limits) => app::pictures(limits),
            None => max_rate.map_or(DEFAULT_MAX_RATE, |rate| rate.get_ref().0),
        };
        let codec = match self.encoder.as_ref().map_or(Encoder::Vp8, |e| *e.get_ref()) {
            Encoder::Vp8 => Codec::Vp8,
            Encoder::H264 => Codec::H264,
            Encoder::Rfc8593 => {
                return Ok(CameraSetup {
                    device_delay: self.device_delay(),
                    ..CameraSetup::synthetic(frame_rate, max_rate)
                });
            }
        };
        let (width, height) = match &self.resolution {
            Some(text) => resolution(source, text)?,
            None => DEFAULT_SIZE,
        };
        let mut setup = ModelSetup::new(codec, width, height, max_rate);
        setup.fps = frame_rate;
        if limits.is_some() {
            setup.complexity = app::COMPLEXITY;
        }
        if let Some(layers) = &self.temporal_layers {
            setup.temporal_layers = *layers.get_ref();
        }
        setup.validate().map_err(|error| {
            let layers = self.temporal_layers.as_ref().map(Spanned::span);
            let frame_rate = self.frame_rate.as_ref().map(Spanned::span);
            let place = layers.or(self.resolution.as_ref().map(Spanned::span));
            let place = place.or(frame_rate);
            source.error(place.unwrap_or(whole), error.to_string())
        })?;
        let degradation = match &self.degradation {
            None => Degradation::default(),
            Some(name) => name
                .get_ref()
                .parse()
                .map_err(|error: UnknownName| source.error(name.span(), error.to_string()))?,
        };
        Ok(CameraSetup {
            degradation,
            device_delay: self.device_delay(),
            ..CameraSetup::model(setup, max_rate)
        })
    }
}

pub(super) fn microphone(source: &Source, sound: &Spanned<Speed>) -> Result<MicrophoneSetup> {
    let rate = sound.get_ref().0;
    if !SOUND_RATES.contains(&rate) {
        let message = "a microphone sends 6 to 480 kbit/s: write for example sound = \"32kbit\"";
        return Err(source.error(sound.span(), message));
    }
    Ok(MicrophoneSetup {
        rate,
        ..MicrophoneSetup::default()
    })
}

fn checked_weight(source: &Source, weight: &Spanned<f64>) -> Result<f64> {
    if !WEIGHTS.contains(weight.get_ref()) {
        let message = "a weight is 0.1 to 10, 1 being that of every other call: write for example weight = 2.0";
        return Err(source.error(weight.span(), message));
    }
    Ok(*weight.get_ref())
}

pub(super) fn resolution(source: &Source, text: &Text) -> Result<(u32, u32)> {
    let named = NAMED_SIZES
        .into_iter()
        .find(|(name, _)| name == text.get_ref());
    let parsed = text.get_ref().split_once('x');
    let parsed =
        parsed.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    named.map(|(_, size)| size).or(parsed).ok_or_else(|| {
        let message = format!(
            "\"{}\" is not a picture size: write 180p, 360p, 540p, 720p, 1080p or WIDTHxHEIGHT",
            text.get_ref()
        );
        source.error(text.span(), message)
    })
}
