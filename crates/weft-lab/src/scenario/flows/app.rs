//! Calls of whole applications: names, and the settings of those that use WebRTC.

use weft_apps::{App, Family, WebrtcLimits};
use weft_cc::Limits;
use weft_experiment::{MicrophoneSetup, SideSetup};
use weft_session::ProtectionKind;
use weft_units::Rate;

use super::Result;
use crate::names::unknown_name;
use crate::scenario::custom::Custom;
use crate::scenario::place::{Source, Text};
use crate::scenario::system_spec::{SessionSpec, SystemKind, WEBRTC};

/// Two people in front of a plain wall, as in the videos of Grote et al., relative to the
/// clip to which the encoder's model is fitted. Chosen by us.
pub const COMPLEXITY: f64 = 0.7;

/// Returns the application of this name, and its model.
pub fn family(source: &Source, name: &Text) -> Result<(App, Family)> {
    let app: App = name.get_ref().parse().map_err(|_| {
        let known = App::ALL.into_iter().map(App::name);
        let message = unknown_name("there is no application", name.get_ref(), known);
        source.error(name.span(), message)
    })?;
    Ok((app, app.family()))
}

/// Returns the rate that remains for pictures. libwebrtc includes headers in its limits
/// (the field trial SendSideBwe-WithOverhead, on since 2021), but a call of weft does
/// not. Each packet has 50 bytes of headers: 50 times a second for sound, and 7 % of the
/// sent bytes for pictures at the packet sizes of these applications.
pub fn pictures(limits: WebrtcLimits) -> Rate {
    const SOUND_HEADERS: Rate = Rate::from_kbps(20);
    const WITHOUT_HEADERS: f64 = 0.93;
    let rest = limits.highest.saturating_sub(limits.sound + SOUND_HEADERS);
    rest.mul_f64(WITHOUT_HEADERS)
}

/// Returns the audio of a WebRTC application.
pub fn microphone(limits: WebrtcLimits) -> MicrophoneSetup {
    MicrophoneSetup {
        rate: limits.sound,
        ..MicrophoneSetup::default()
    }
}

/// Returns plain WebRTC within these limits, which it writes to `side`; uses another
/// controller if the system names one.
pub fn session(limits: WebrtcLimits, kind: &SystemKind, side: &mut SideSetup) -> SessionSpec {
    side.path_limits = Limits {
        min: limits.lowest,
        start: limits.start,
        max: limits.highest,
    };
    let mut session = SessionSpec::default();
    session.set_scheduler(WEBRTC, &Custom::default());
    if let SystemKind::Session(told) = kind {
        session.controller = told.controller.or(session.controller);
    }
    if limits.protected {
        session.protection = ProtectionKind::WebrtcTable;
    }
    session
}
