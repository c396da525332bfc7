//! How a call uses its links, and the names of the ways that are known.

use weft_cc::ControllerKind;
use weft_session::{Ablation, Level, Preference, ProtectionKind, Reporting, SchedulerKind};
use weft_units::Rate;

/// Plain WebRTC: one path, the controller as browsers have it.
pub const WEBRTC: &str = "webrtc";

/// What no call can do better than.
pub const FLOOR: &str = "floor";

/// The systems that Converge was compared with, by the names of its paper
/// (Converge, section 5): WebRTC whose paths are migrated between or scheduled.
const RIVALS: [(&str, SchedulerKind, Level); 4] = [
    ("webrtc-cm", SchedulerKind::Migrate, Level::SenderSide),
    ("m-rtp", SchedulerKind::Mprtp, Level::Full),
    ("m-tput", SchedulerKind::Throughput, Level::Full),
    ("srtt", SchedulerKind::MinRtt, Level::Full),
];

/// How a call uses its links.
#[derive(Clone, PartialEq, Debug)]
pub struct SystemSpec {
    /// The name in results.
    pub name: String,
    /// What runs in the place of the call: a session, or the floor.
    pub way: Way,
    /// Positions of the links it may use; none: all of them.
    pub links: Option<Vec<usize>>,
}

/// What uses the links.
#[derive(Clone, PartialEq, Debug)]
pub enum Way {
    /// A session at each end.
    Session(SessionSpec),
    /// An oracle with pictures of this rate, that which no call can do better
    /// than.
    Floor(Rate),
}

/// What the sessions of a call are told.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionSpec {
    /// Which packet goes over which path.
    pub scheduler: SchedulerKind,
    /// What the call is to be spared first.
    pub preference: Preference,
    /// What is left out of the scheduler.
    pub ablation: Ablation,
    /// How many repair packets there are.
    pub protection: ProtectionKind,
    /// The controller of every path; none: what a call has by default, which of
    /// a WebRTC application is that of today's browsers.
    pub controller: Option<ControllerKind>,
    /// What the two ends know of paths.
    pub level: Level,
    /// How the receiver tells of the packets that come.
    pub reporting: Reporting,
}

impl SessionSpec {
    /// By its name, or that of a system that was published; `false` if there
    /// is none.
    pub fn set_scheduler(&mut self, name: &str) -> bool {
        if name == WEBRTC {
            self.scheduler = SchedulerKind::Single;
            self.protection = ProtectionKind::None;
            self.controller = Some(ControllerKind::GccDeployed);
            self.level = Level::SenderSide;
            return true;
        }
        if let Some((_, scheduler, level)) = RIVALS.iter().find(|(rival, ..)| *rival == name) {
            self.scheduler = *scheduler;
            self.protection = ProtectionKind::WebrtcTable;
            self.controller = Some(ControllerKind::GccDeployed);
            self.level = *level;
            return true;
        }
        let Ok(scheduler) = name.parse() else {
            return false;
        };
        self.scheduler = scheduler;
        self.protection = match scheduler {
            SchedulerKind::Weft => ProtectionKind::Weft,
            // None of them knows of doubt; Converge's own is this one.
            _ => ProtectionKind::PathSpecific,
        };
        true
    }
}

/// What [`SessionSpec::set_scheduler`] knows.
pub fn schedulers<'a>() -> impl Iterator<Item = &'a str> {
    let published = [WEBRTC].into_iter().chain(RIVALS.map(|(name, ..)| name));
    published.chain(SchedulerKind::ALL.iter().map(|kind| kind.name()))
}

/// The system of a scenario that compares none.
pub fn default_system(name: &str) -> SystemSpec {
    SystemSpec {
        name: name.to_owned(),
        way: Way::Session(SessionSpec::default()),
        links: None,
    }
}

impl Default for SessionSpec {
    fn default() -> SessionSpec {
        SessionSpec {
            scheduler: SchedulerKind::default(),
            preference: Preference::default(),
            ablation: Ablation::None,
            protection: ProtectionKind::default(),
            controller: None,
            level: Level::Full,
            reporting: Reporting::default(),
        }
    }
}
