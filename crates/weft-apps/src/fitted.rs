//! Parameters that were fitted to a figure, by name. The simulator's `fit_app` tries
//! other values.

use weft_units::{Duration, Rate};

use crate::App;
use crate::family::{Behaviour, Model};

/// Parameter of an application that was fitted to a published figure.
#[derive(Clone, Copy, Debug)]
pub struct Fitted {
    /// Application of the parameter.
    pub app: App,
    /// Name with its unit.
    pub name: &'static str,
    at: fn(&mut Model) -> Option<&mut dyn Number>,
}

/// Conversion of a parameter of any type to a plain number.
trait Number {
    fn number(&self) -> f64;
    fn set(&mut self, number: f64);
}

impl Number for f64 {
    fn number(&self) -> f64 {
        *self
    }
    fn set(&mut self, number: f64) {
        *self = number;
    }
}

/// Number in kbit/s.
impl Number for Rate {
    fn number(&self) -> f64 {
        self.as_kbps()
    }
    fn set(&mut self, number: f64) {
        *self = Rate::from_bps((number * 1000.0) as u64);
    }
}

/// Number in seconds.
impl Number for Duration {
    fn number(&self) -> f64 {
        self.as_secs_f64()
    }
    fn set(&mut self, number: f64) {
        *self = Duration::from_secs_f64(number);
    }
}

impl Fitted {
    /// Returns the value in a model.
    ///
    /// # Panics
    /// If the model is of another family.
    #[must_use]
    pub fn of(&self, model: &Model) -> f64 {
        let mut model = model.clone();
        self.reach(&mut model).number()
    }

    /// Returns the model with another value.
    ///
    /// # Panics
    /// If the model is of another family.
    #[must_use]
    pub fn with(&self, mut model: Model, value: f64) -> Model {
        self.reach(&mut model).set(value);
        model
    }

    fn reach<'m>(&self, model: &'m mut Model) -> &'m mut dyn Number {
        let found = (self.at)(model);
        found.unwrap_or_else(|| panic!("{} of another family", self.name))
    }
}

/// Selects a field of the family's own parameters.
macro_rules! own {
    ($family:ident, $own:ident => $field:expr) => {
        |model| match &mut model.behaviour {
            Behaviour::$family($own) => $field,
            _ => None,
        }
    };
}

const fn row(
    app: App,
    name: &'static str,
    at: fn(&mut Model) -> Option<&mut dyn Number>,
) -> Fitted {
    Fitted { app, name, at }
}

/// All fitted parameters; those of one application are in the order of fitting.
pub const FITTED: &[Fitted] = &[
    row(App::WhatsApp, "highest, kbit/s", |m| Some(&mut m.highest)),
    row(
        App::WhatsApp,
        "rise after a whole burst, kbit/s",
        own!(Robust, p => Some(&mut p.rise_after_whole.0)),
    ),
    row(App::ZoomBackend, "highest, kbit/s", |m| {
        Some(&mut m.highest)
    }),
    row(
        App::ZoomBackend,
        "memory, s",
        own!(Prober, p => Some(&mut p.memory)),
    ),
    row(
        App::ZoomBackend,
        "overshoot after a fall",
        own!(Prober, p => Some(&mut p.overshoot.as_mut()?.gain)),
    ),
    row(
        App::ZoomBackend,
        "trial counts below loss",
        own!(Prober, p => Some(&mut p.counts_below_loss)),
    ),
    row(
        App::ZoomBackend,
        "packets a second at the lowest rate",
        own!(Prober, p => Some(&mut p.at_lowest.packets_per_second)),
    ),
    row(
        App::ZoomBackend,
        "more of them, over the share lost",
        own!(Prober, p => Some(&mut p.at_lowest.per_loss)),
    ),
    row(
        App::ZoomBackend,
        "their size, B",
        own!(Prober, p => Some(&mut p.at_lowest.size.0)),
    ),
    row(
        App::ZoomBackend,
        "less of it, B over the share lost",
        own!(Prober, p => Some(&mut p.at_lowest.size.2)),
    ),
    row(App::ZoomClient, "highest, kbit/s", |m| Some(&mut m.highest)),
    row(
        App::ZoomClient,
        "highest of an old call, kbit/s",
        own!(Prober, p => Some(&mut p.grows.as_mut()?.2)),
    ),
    row(
        App::Skype,
        "rise, of the rate a second",
        own!(DelayBased, p => Some(&mut p.rise.0)),
    ),
    row(
        App::Skype,
        "redundancy, of the rate",
        own!(DelayBased, p => Some(&mut p.redundancy.1)),
    ),
    row(
        App::LiveMessenger,
        "light loss from",
        own!(SlowRecovery, p => Some(&mut p.light_heavy.0)),
    ),
    row(
        App::LiveMessenger,
        "heavy loss from",
        own!(SlowRecovery, p => Some(&mut p.light_heavy.1)),
    ),
    row(
        App::Eyebeam,
        "falls for a loss of",
        own!(Ladder, p => Some(&mut p.steps_down.0)),
    ),
    row(
        App::Eyebeam,
        "hesitates, s",
        own!(Ladder, p => Some(&mut p.hesitates)),
    ),
];
