use std::ops::RangeInclusive;

use weft_cc::{ControllerKind, Limits};
use weft_publish::Degradation;
use weft_session::{Ablation, Config, Level, Preference, ProtectionKind, Reporting, SchedulerKind};
use weft_units::{Bytes, Duration, Rate};

use super::{ModelSetup, SyntheticSetup};
use crate::traffic::Traffic;

/// Path identifiers; chosen by us, with room to spare.
const MOST_PATHS: usize = 15;

/// A call over the flow's routes, one path each.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSetup {
    /// The end at the sources of the routes.
    pub caller: SideSetup,
    /// The end at their sinks.
    pub callee: SideSetup,
    /// What the two sides negotiate. Default full.
    pub level: Level,
}

/// One end of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct SideSetup {
    /// What it films.
    pub cameras: Vec<CameraSetup>,
    /// What it hears.
    pub microphones: Vec<MicrophoneSetup>,
    /// Which of its packets go over which path.
    pub scheduler: SchedulerKind,
    /// What its call is to be spared first.
    pub preference: Preference,
    /// What is left out, for experiments. Default nothing.
    pub ablation: Ablation,
    /// How many repair packets it sends.
    pub protection: ProtectionKind,
    /// Congestion controller of each of its paths.
    pub controller: ControllerKind,
    /// Its share beside other calls, where the controller knows of weights.
    /// Default 1.
    pub weight: f64,
    /// How long it takes to decode a repair packet that it receives, whether or not
    /// that brings anything back; pictures wait meanwhile. Default zero.
    pub repair_decoding: Duration,
    /// Bounds of one path's rate.
    pub path_limits: Limits,
    /// What it sends at most over all paths together.
    pub max_rate: Rate,
    /// How it tells the other side of the packets that come. Default quickly.
    pub reporting: Reporting,
    /// How much faster its clock is than that of the run, in millionths.
    /// Default 0.
    pub clock_ppm: i32,
}

/// A camera with its encoder.
#[derive(Clone, PartialEq, Debug)]
pub struct CameraSetup {
    /// What makes its frames.
    pub source: SourceKind,
    /// Its encoder never gets a higher target.
    pub max_rate: Rate,
    /// What gives way when the rate is low; the synthetic codec has no
    /// pictures, so nothing does. Default: the size.
    pub degradation: Degradation,
    /// From lens to encoder and from decoder to screen. It is part of the
    /// latency and moves nothing else. Default zero.
    pub device_delay: Duration,
}

/// The models of a camera with its encoder.
///
/// To add one: a variant here, and a file in `call/source/` of `weft-sim` that
/// implements its `FrameEncoder`.
#[derive(Clone, PartialEq, Debug)]
pub enum SourceKind {
    /// RFC 8593's synthetic codec.
    Synthetic(SyntheticSetup),
    /// A real encoder's model. Its first rate holds until the session gives
    /// one.
    Model(ModelSetup),
}

/// A microphone: packets of one size at a constant rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MicrophoneSetup {
    /// Bits of the codec, without headers. Default 20 kbps (RFC 8867
    /// section 4.3).
    pub rate: Rate,
    /// Sound in a packet. Default 20 ms, Opus's.
    pub packet_time: Duration,
}

impl CallSetup {
    /// Media from the caller to the callee only, at the full level.
    #[must_use]
    pub fn one_way(caller: SideSetup) -> CallSetup {
        CallSetup {
            callee: SideSetup {
                cameras: Vec::new(),
                microphones: Vec::new(),
                ..caller.clone()
            },
            caller,
            level: Level::Full,
        }
    }

    /// The same media both ways, at the full level.
    #[must_use]
    pub fn both_ways(side: SideSetup) -> CallSetup {
        CallSetup {
            caller: side.clone(),
            callee: side,
            level: Level::Full,
        }
    }
}

impl Traffic for CallSetup {
    fn wrong(&self) -> Option<&'static str> {
        let sides = [&self.caller, &self.callee];
        sides.into_iter().find_map(SideSetup::wrong)
    }

    fn routes(&self) -> (RangeInclusive<usize>, &'static str) {
        (1..=MOST_PATHS, "1 to 15")
    }

    fn words(&self) -> String {
        let cameras = self.caller.cameras.len();
        let rates = self.caller.cameras.iter().map(|c| c.max_rate.as_mbps());
        let rate = rates.fold(0.0, f64::max);
        let each = if cameras == 1 { "a camera" } else { "cameras" };
        let count = if cameras == 1 {
            String::new()
        } else {
            format!("{cameras} ")
        };
        format!("call, {count}{each} of at most {rate} Mbit/s")
    }

    fn media(&self) -> Option<&CallSetup> {
        Some(self)
    }

    fn settles(&self) -> bool {
        true
    }

    fn device_delay(&self) -> Duration {
        let cameras = self.caller.cameras.iter();
        cameras.map(|c| c.device_delay).max().unwrap_or_default()
    }
}

impl SideSetup {
    /// These cameras and no sound, with the session's default scheduler,
    /// protection, controller and limits; at most what the cameras take.
    #[must_use]
    pub fn filming(cameras: Vec<CameraSetup>) -> SideSetup {
        let defaults = Config::new(Default::default(), weft_units::Ssrc(1));
        SideSetup {
            max_rate: cameras.iter().map(|c| c.max_rate).sum(),
            cameras,
            microphones: Vec::new(),
            scheduler: defaults.scheduler,
            preference: defaults.preference,
            ablation: defaults.ablation,
            protection: defaults.protection,
            controller: defaults.controller,
            weight: defaults.weight,
            repair_decoding: Duration::ZERO,
            path_limits: defaults.path_limits,
            reporting: defaults.reporting,
            clock_ppm: 0,
        }
    }

    /// Sets what a session is told of this side.
    pub fn configure(&self, config: &mut Config) {
        config.scheduler = self.scheduler;
        config.preference = self.preference;
        config.ablation = self.ablation;
        config.reporting = self.reporting;
        config.protection = self.protection;
        config.controller = self.controller;
        config.weight = self.weight;
        config.path_limits = self.path_limits;
        config.max_rate = self.max_rate;
    }

    fn wrong(&self) -> Option<&'static str> {
        /// Ten times what a quartz is allowed; chosen by us.
        const MOST_PPM: u32 = 1_000;
        if self.clock_ppm.unsigned_abs() > MOST_PPM {
            return Some("a clock is at most 1000 millionths too fast or too slow");
        }
        /// SSRCs and identifiers are drawn up for so many; chosen by us.
        const MOST_STREAMS: usize = 64;
        if self.cameras.len() + self.microphones.len() > MOST_STREAMS {
            return Some("one side of a call has at most 64 cameras and microphones");
        }
        if let Some(wrong) = self.microphones.iter().find_map(MicrophoneSetup::wrong) {
            return Some(wrong);
        }
        self.cameras.iter().find_map(|camera| match &camera.source {
            SourceKind::Synthetic(setup) => setup.wrong(),
            SourceKind::Model(setup) => setup
                .validate()
                .is_err()
                .then_some("the model encoder does not make such frames: ModelSetup::validate"),
        })
    }
}

impl CameraSetup {
    /// RFC 8593's model at so many frames per second.
    #[must_use]
    pub fn synthetic(frame_rate: f64, max_rate: Rate) -> CameraSetup {
        CameraSetup {
            source: SourceKind::Synthetic(SyntheticSetup::new(frame_rate)),
            max_rate,
            degradation: Degradation::default(),
            device_delay: Duration::ZERO,
        }
    }

    /// The model of a real encoder.
    #[must_use]
    pub fn model(setup: ModelSetup, max_rate: Rate) -> CameraSetup {
        CameraSetup {
            source: SourceKind::Model(setup),
            max_rate,
            degradation: Degradation::default(),
            device_delay: Duration::ZERO,
        }
    }
}

impl MicrophoneSetup {
    /// What is wrong with it.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        // Opus frames have 2.5 to 120 ms (RFC 6716 section 2.1.4).
        let frames = Duration::from_micros(2_500)..=Duration::from_millis(120);
        let holds = frames.contains(&self.packet_time) && self.bytes() > 0;
        (!holds).then_some("a microphone's packets hold 2.5 to 120 ms, and a byte at least")
    }

    /// Payload of one packet.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let Bytes(bytes) = self.rate * self.packet_time;
        bytes.min(1200) as usize
    }
}

impl Default for MicrophoneSetup {
    fn default() -> MicrophoneSetup {
        MicrophoneSetup {
            rate: Rate::from_kbps(20),
            packet_time: Duration::from_millis(20),
        }
    }
}
