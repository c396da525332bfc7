//! Systems: how a call uses its links, and their known names.

use weft_cc::ControllerKind;
use weft_experiment::{AllocatorKind, SideSetup};
use weft_session::{
    Ablations, Level, Preference, ProtectionKind, ReceiverProfile, Reporting, SchedulerKind,
};
use weft_units::{Duration, Rate};

use super::custom::Custom;

/// Plain WebRTC: one path, with the controller of browsers.
pub const WEBRTC: &str = "webrtc";

/// Lower bound that no call can beat.
pub const FLOOR: &str = "floor";

/// Systems that Converge was compared with, by the names in its paper (Converge, section
/// 5): WebRTC with path migration or scheduling.
const RIVALS: [(&str, SchedulerKind, Level); 4] = [
    ("webrtc-cm", SchedulerKind::Migrate, Level::SenderSide),
    ("m-rtp", SchedulerKind::Mprtp, Level::Full),
    ("m-tput", SchedulerKind::Throughput, Level::Full),
    ("srtt", SchedulerKind::MinRtt, Level::Full),
];

/// System: how a call uses its links.
#[derive(Clone, PartialEq, Debug)]
pub struct SystemSpec {
    /// Name in results.
    pub name: String,
    /// Implementation: a session, or the floor.
    pub kind: SystemKind,
    /// Positions of the links that it may use; `None` for all.
    pub links: Option<Vec<usize>>,
}

/// Implementation that uses the links.
#[derive(Clone, PartialEq, Debug)]
pub enum SystemKind {
    /// A session at each end.
    Session(SessionSpec),
    /// An oracle with pictures of this rate, which no call can beat.
    Floor(Rate),
}

/// Settings of a call's sessions.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionSpec {
    /// Scheduler that assigns packets to paths.
    pub scheduler: SchedulerKind,
    /// User preference: the impairment to avoid first.
    pub preference: Preference,
    /// Mechanisms of the scheduler that are switched off.
    pub ablations: Ablations,
    /// Forward error correction.
    pub protection: ProtectionKind,
    /// Controller of every path; `None` for a call's default, which for a WebRTC
    /// application is that of present browsers.
    pub controller: Option<ControllerKind>,
    /// Protocol level of the two ends.
    pub level: Level,
    /// Feedback of the receiver.
    pub reporting: Reporting,
    /// Patience and bounds of the receiver.
    pub receiver: ReceiverProfile,
    /// Time to decode a repair packet; `None` for that of the call.
    pub repair_decoding: Option<Duration>,
    /// Rules by which a conference's server chooses layers, if it names some.
    pub allocator: Option<AllocatorKind>,
}

impl SessionSpec {
    /// Writes the settings that every kind of session takes into those of one end.
    pub(super) fn configure(&self, side: &mut SideSetup) {
        side.scheduler = self.scheduler;
        side.preference = self.preference;
        side.ablations = self.ablations;
        side.receiver = self.receiver;
        side.protection = self.protection;
        side.controller = self.controller.unwrap_or_default();
    }

    /// Sets the scheduler by its name, or by that of a published system; returns `false`
    /// if it is unknown.
    pub(super) fn set_scheduler(&mut self, name: &str, custom: &Custom) -> bool {
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
        if let Ok(rules @ (AllocatorKind::LivekitRules | AllocatorKind::JitsiRules)) = name.parse()
        {
            self.allocator = Some(rules);
            return true;
        }
        let Some(scheduler) = name.parse().ok().or_else(|| custom.scheduler(name)) else {
            return false;
        };
        self.scheduler = scheduler;
        self.protection = match scheduler {
            SchedulerKind::Weft => ProtectionKind::Weft,
            // None of them has uncertain states; this is Converge's own protection.
            _ => ProtectionKind::PathSpecific,
        };
        true
    }
}

/// Iterates over the names that [`SessionSpec::set_scheduler`] accepts.
pub fn schedulers<'a>() -> impl Iterator<Item = &'a str> {
    let published = [WEBRTC].into_iter().chain(RIVALS.map(|(name, ..)| name));
    let servers = [AllocatorKind::LivekitRules, AllocatorKind::JitsiRules];
    let published = published.chain(servers.map(AllocatorKind::name));
    published.chain(SchedulerKind::ALL.iter().map(|kind| kind.name()))
}

/// Returns the system of a scenario that compares none.
pub fn default_system(name: &str) -> SystemSpec {
    SystemSpec {
        name: name.to_owned(),
        kind: SystemKind::Session(SessionSpec::default()),
        links: None,
    }
}

impl Default for SessionSpec {
    fn default() -> SessionSpec {
        SessionSpec {
            scheduler: SchedulerKind::default(),
            preference: Preference::default(),
            ablations: Ablations::NONE,
            protection: ProtectionKind::default(),
            controller: None,
            level: Level::Full,
            reporting: Reporting::default(),
            receiver: ReceiverProfile::default(),
            repair_decoding: None,
            allocator: None,
        }
    }
}
