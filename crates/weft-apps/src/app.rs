use crate::apps;
use crate::family::Family;

weft_units::named! {
    /// Applications of the three studies.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    pub enum App: "application" {
        /// Signal 6.11.7 (Grote et al.).
        Signal = "signal",
        /// Telegram 9.4.8 (Grote et al.).
        Telegram = "telegram",
        /// WhatsApp 2.23.4.77 (Grote et al.).
        WhatsApp = "whatsapp",
        /// The downlink of a Zoom call of 2020: its server sends (Sander et al.).
        ZoomBackend = "zoom-backend",
        /// The uplink of a Zoom call of 2020: a client sends (Sander et al.).
        ZoomClient = "zoom-client",
        /// Skype 4.0 (Boyaci et al.).
        Skype = "skype",
        /// Windows Live Messenger 14 (Boyaci et al.).
        LiveMessenger = "live-messenger",
        /// Eyebeam 1.5 (Boyaci et al.).
        Eyebeam = "eyebeam",
        /// X-Lite 3.0 (Boyaci et al.).
        XLite = "x-lite",
    }
}

impl App {
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
