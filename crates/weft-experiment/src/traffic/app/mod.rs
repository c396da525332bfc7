//! Models of whole call applications.

use weft_apps::{App, Model};

use super::Traffic;

/// A call of a closed application, by its model.
#[derive(Clone, PartialEq, Debug)]
pub struct AppSetup {
    /// The application that both ends run.
    pub app: App,
    /// Its limits and its behaviour.
    pub model: Model,
    /// Who sends media. Default the caller.
    pub media: AppMedia,
}

/// Who sends media in a call of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AppMedia {
    /// The end at the flow's source; the other one reports.
    #[default]
    OneWay,
    /// Both, by the same model.
    BothWays,
}

impl Traffic for AppSetup {
    fn wrong(&self) -> Option<&'static str> {
        let is_limited = self.model.highest < self.model.lowest;
        is_limited.then_some("its limit is below the lowest rate of the application")
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
