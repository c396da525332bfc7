use std::fmt;
use std::str::FromStr;

use crate::apps;
use crate::family::Family;

/// Applications of the three studies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum App {
    /// Signal 6.11.7 (Grote et al.).
    Signal,
    /// Telegram 9.4.8 (Grote et al.).
    Telegram,
    /// WhatsApp 2.23.4.77 (Grote et al.).
    WhatsApp,
    /// The downlink of a Zoom call of 2020: its server sends (Sander et al.).
    ZoomBackend,
    /// The uplink of a Zoom call of 2020: a client sends (Sander et al.).
    ZoomClient,
    /// Skype 4.0 (Boyaci et al.).
    Skype,
    /// Windows Live Messenger 14 (Boyaci et al.).
    LiveMessenger,
    /// Eyebeam 1.5 (Boyaci et al.).
    Eyebeam,
    /// X-Lite 3.0 (Boyaci et al.).
    XLite,
}

/// Error: no application has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no application \"{0}\": there are {all}", all = App::ALL.map(App::name).join(", "))]
pub struct UnknownApp(pub String);

impl App {
    /// Every application.
    pub const ALL: [App; 9] = [
        App::Signal,
        App::Telegram,
        App::WhatsApp,
        App::ZoomBackend,
        App::ZoomClient,
        App::Skype,
        App::LiveMessenger,
        App::Eyebeam,
        App::XLite,
    ];

    /// Returns the name in scenario files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            App::Signal => "signal",
            App::Telegram => "telegram",
            App::WhatsApp => "whatsapp",
            App::ZoomBackend => "zoom-backend",
            App::ZoomClient => "zoom-client",
            App::Skype => "skype",
            App::LiveMessenger => "live-messenger",
            App::Eyebeam => "eyebeam",
            App::XLite => "x-lite",
        }
    }

    /// Returns the model of the application, with the parameters of its file.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            App::Signal => Family::Webrtc(apps::signal::LIMITS),
            App::Telegram => Family::Webrtc(apps::telegram::LIMITS),
            App::WhatsApp => Family::Model(apps::whatsapp::model()),
            App::ZoomBackend => Family::Model(apps::zoom::backend()),
            App::ZoomClient => Family::Model(apps::zoom::client()),
            App::Skype => Family::Model(apps::skype::model()),
            App::LiveMessenger => Family::Model(apps::live_messenger::model()),
            App::Eyebeam => Family::Model(apps::eyebeam::model()),
            App::XLite => Family::Model(apps::x_lite::model()),
        }
    }
}

impl fmt::Display for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for App {
    type Err = UnknownApp;

    fn from_str(text: &str) -> Result<App, UnknownApp> {
        let found = App::ALL.into_iter().find(|app| app.name() == text);
        found.ok_or_else(|| UnknownApp(text.to_owned()))
    }
}
