//! Models of whole call applications.

use weft_apps::{App, Model};

use super::Traffic;

/// Call of a closed application, represented by its model.
#[derive(Clone, PartialEq, Debug)]
pub struct AppSetup {
    /// Application that both ends run.
    pub app: App,
    /// Limits and behaviour of the application.
    pub model: Model,
    /// Direction of media. Default: from the caller.
    pub media: AppMedia,
}

/// Direction of media in a call of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AppMedia {
    /// Only the end at the flow's source sends; the other end only reports.
    #[default]
    OneWay,
    /// Both ends send, each with the same model.
    BothWays,
}

impl Traffic for AppSetup {
    fn wrong(&self) -> Option<&'static str> {
        let is_limited = self.model.highest < self.model.lowest;
        is_limited.then_some("give it a limit of at least the application's lowest rate")
    }

    fn words(&self) -> String {
        let Model { highest, .. } = self.model;
        format!(
            "{} of at most {} Mbit/s, a model",
            self.app,
            highest.as_mbps()
        )
    }

    fn is_call(&self) -> bool {
        true
    }

    fn settles(&self) -> bool {
        true
    }
}
