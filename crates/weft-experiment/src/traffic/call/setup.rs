use std::ops::RangeInclusive;

use weft_cc::{ControllerKind, Limits};
use weft_publish::Degradation;
use weft_session::{
    Ablations, Config, Level, Preference, ProtectionKind, ReceiverProfile, Reporting, SchedulerKind,
};
use weft_units::{Bytes, Duration, Rate};

use super::{ModelSetup, SyntheticSetup};
use crate::traffic::Traffic;

/// Number of path identifiers; chosen by us with a margin.
const MOST_PATHS: usize = 15;

/// Call over the flow's routes, with one path each.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSetup {
    /// End at the sources of the routes.
    pub caller: SideSetup,
    /// End at their sinks.
    pub callee: SideSetup,
    /// Protocol level that both ends negotiate. Default full.
    pub level: Level,
}

/// One end of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct SideSetup {
    /// Cameras of this end.
    pub cameras: Vec<CameraSetup>,
    /// Microphones of this end.
    pub microphones: Vec<MicrophoneSetup>,
    /// Scheduler that assigns packets to paths.
    pub scheduler: SchedulerKind,
    /// User preference: the impairment to avoid first.
    pub preference: Preference,
    /// Mechanisms that are switched off, for experiments. Default none.
    pub ablations: Ablations,
    /// Patience and limits of its receive side, for experiments. Default: ours.
    pub receiver: ReceiverProfile,
    /// Forward error correction: the number of repair packets that it sends.
    pub protection: ProtectionKind,
    /// Congestion controller of each of its paths.
    pub controller: ControllerKind,
    /// Weight of this call against other calls, for controllers with weights. Default 1.
    pub weight: f64,
    /// Time to decode a received repair packet, whether or not it recovers anything;
    /// pictures wait in the meantime. Default zero.
    pub repair_decoding: Duration,
    /// Limits of one path's rate.
    pub path_limits: Limits,
    /// Highest rate over all paths together.
    pub max_rate: Rate,
    /// Feedback about received packets. Default quick reports.
    pub reporting: Reporting,
    /// Deviation of its clock from the run's clock in parts per million; positive means
    /// fast. Default 0.
    pub clock_ppm: i32,
}

/// Camera with its encoder.
#[derive(Clone, PartialEq, Debug)]
pub struct CameraSetup {
    /// Encoder that makes its frames.
    pub source: SourceKind,
    /// Highest target rate of its encoder.
    pub max_rate: Rate,
    /// Quality dimension reduced at a low rate; irrelevant to the synthetic codec, which
    /// has no pictures. Default: the picture size.
    pub degradation: Degradation,
    /// Delay from lens to encoder plus delay from decoder to screen. It adds to the
    /// latency and has no other effect. Default zero.
    pub device_delay: Duration,
}

/// Models of a camera with its encoder.
///
/// To add one, add a variant here, and a file in `call/source/` of `weft-sim` that
/// implements its `FrameEncoder`.
#[derive(Clone, PartialEq, Debug)]
pub enum SourceKind {
    /// RFC 8593's synthetic codec.
    Synthetic(SyntheticSetup),
    /// Model of a real encoder. Its initial rate applies until the session sets a rate.
    Model(ModelSetup),
}

/// Microphone: packets of one size at a constant rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MicrophoneSetup {
    /// Bit rate of the codec, without headers. Default 20 kbps (RFC 8867 section 4.3).
    pub rate: Rate,
    /// Duration of the sound in a packet. Default 20 ms, as in Opus.
    pub packet_time: Duration,
}

impl CallSetup {
    /// Creates a call with media only from the caller to the callee, at the full level.
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

    /// Creates a call with equal media in both directions, at the full level.
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
    /// Creates an end with these cameras and no sound, with the session's default
    /// scheduler, protection, controller and limits. The maximum rate is the sum of the
    /// cameras' maximum rates.
    #[must_use]
    pub fn filming(cameras: Vec<CameraSetup>) -> SideSetup {
        let defaults = Config::new(Default::default(), weft_units::Ssrc(1));
        SideSetup {
            max_rate: cameras.iter().map(|c| c.max_rate).sum(),
            cameras,
            microphones: Vec::new(),
            scheduler: defaults.scheduler,
            preference: defaults.preference,
            ablations: defaults.ablations,
            receiver: defaults.receiver,
            protection: defaults.protection,
            controller: defaults.controller,
            weight: defaults.weight,
            repair_decoding: Duration::ZERO,
            path_limits: defaults.path_limits,
            reporting: defaults.reporting,
            clock_ppm: 0,
        }
    }

    /// Writes this end's settings into a session's configuration.
    pub fn configure(&self, config: &mut Config) {
        config.scheduler = self.scheduler;
        config.preference = self.preference;
        config.ablations = self.ablations;
        config.receiver = self.receiver;
        config.reporting = self.reporting;
        config.protection = self.protection;
        config.controller = self.controller;
        config.weight = self.weight;
        config.path_limits = self.path_limits;
        config.max_rate = self.max_rate;
    }

    fn wrong(&self) -> Option<&'static str> {
        /// Ten times the tolerance of a quartz clock; chosen by us.
        const MOST_PPM: u32 = 1_000;
        if self.clock_ppm.unsigned_abs() > MOST_PPM {
            return Some("give a clock deviation of at most 1000 parts per million");
        }
        /// SSRCs and identifiers are planned for this many streams; chosen by us.
        const MOST_STREAMS: usize = 64;
        if self.cameras.len() + self.microphones.len() > MOST_STREAMS {
            return Some("one side of a call has at most 64 cameras and microphones");
        }
        if let Some(wrong) = self.microphones.iter().find_map(MicrophoneSetup::wrong) {
            return Some(wrong);
        }
        self.cameras.iter().find_map(|camera| match &camera.source {
            SourceKind::Synthetic(setup) => setup.wrong(),
            SourceKind::Model(setup) => setup.validate().is_err().then_some(
                "the model encoder does not support these parameters: see ModelSetup::validate",
            ),
        })
    }
}

impl CameraSetup {
    /// Creates a camera with RFC 8593's model at this frame rate.
    #[must_use]
    pub fn synthetic(frame_rate: f64, max_rate: Rate) -> CameraSetup {
        CameraSetup {
            source: SourceKind::Synthetic(SyntheticSetup::new(frame_rate)),
            max_rate,
            degradation: Degradation::default(),
            device_delay: Duration::ZERO,
        }
    }

    /// Creates a camera with the model of a real encoder.
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
    /// Returns the first error in the settings.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        // Opus frames have 2.5 to 120 ms (RFC 6716 section 2.1.4).
        let frames = Duration::from_micros(2_500)..=Duration::from_millis(120);
        let holds = frames.contains(&self.packet_time) && self.bytes() > 0;
        (!holds).then_some("give a microphone's packets 2.5 to 120 ms and at least one byte")
    }

    /// Returns the payload size of one packet.
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
