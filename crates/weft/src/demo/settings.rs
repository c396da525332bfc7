//! Settings of the weft call that can change while it runs.

use serde::Serialize;
use weft_cc::ControllerKind;
use weft_session::{Preference, ProtectionKind, SchedulerKind};

use super::ride::UnknownName;

/// Setting of the weft call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    Scheduler(SchedulerKind),
    Preference(Preference),
    Protection(ProtectionKind),
    Controller(ControllerKind),
}

/// Setting as the page shows it: its value and its choices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SettingTick {
    pub name: &'static str,
    pub value: String,
    pub choices: Vec<String>,
}

const SCHEDULER: &str = "scheduler";
const PREFERENCE: &str = "prefer";
const PROTECTION: &str = "protection";
const CONTROLLER: &str = "controller";

impl Setting {
    pub fn parse(name: &str, value: &str) -> Result<Setting, UnknownName> {
        let (setting, expected) = match name {
            SCHEDULER => (value.parse().ok().map(Setting::Scheduler), schedulers()),
            PREFERENCE => (value.parse().ok().map(Setting::Preference), preferences()),
            PROTECTION => (value.parse().ok().map(Setting::Protection), protections()),
            CONTROLLER => (value.parse().ok().map(Setting::Controller), controllers()),
            _ => {
                return Err(UnknownName {
                    given: name.to_owned(),
                    expected: format!("{SCHEDULER}, {PREFERENCE}, {PROTECTION} or {CONTROLLER}"),
                });
            }
        };
        setting.ok_or_else(|| UnknownName {
            given: value.to_owned(),
            expected: expected.join(", "),
        })
    }

    pub fn show(self) -> SettingTick {
        let (name, value, mut choices) = match self {
            Setting::Scheduler(kind) => (SCHEDULER, kind.name().to_owned(), schedulers()),
            Setting::Preference(kind) => (PREFERENCE, kind.name().to_owned(), preferences()),
            Setting::Protection(kind) => (PROTECTION, kind.name().to_owned(), protections()),
            Setting::Controller(kind) => (CONTROLLER, kind.to_string(), controllers()),
        };
        // A fixed rate from the command line stays available.
        if !choices.contains(&value) {
            choices.push(value.clone());
        }
        SettingTick {
            name,
            value,
            choices,
        }
    }
}

fn schedulers() -> Vec<String> {
    SchedulerKind::ALL
        .map(|kind| kind.name().to_owned())
        .to_vec()
}

fn preferences() -> Vec<String> {
    Preference::ALL.map(|kind| kind.name().to_owned()).to_vec()
}

fn protections() -> Vec<String> {
    ProtectionKind::ALL
        .map(|kind| kind.name().to_owned())
        .to_vec()
}

fn controllers() -> Vec<String> {
    ControllerKind::ADAPTIVE
        .map(|kind| kind.to_string())
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_shown_can_be_made() {
        let settings = [
            Setting::Scheduler(SchedulerKind::default()),
            Setting::Preference(Preference::default()),
            Setting::Protection(ProtectionKind::default()),
            Setting::Controller(ControllerKind::default()),
            Setting::Controller("fixed:2mbit".parse().expect("a rate")),
        ];
        for shown in settings.map(Setting::show) {
            for choice in shown.choices {
                let made = Setting::parse(shown.name, &choice).expect("it is shown");
                assert_eq!(made.show().value, choice);
            }
        }
    }

    #[test]
    fn an_unknown_setting_is_refused_with_the_known_ones() {
        let error = Setting::parse("scheduler", "best").expect_err("no such scheduler");
        assert_eq!(error.given, "best");
        assert!(error.expected.contains("single, "), "{}", error.expected);
        let error = Setting::parse("colour", "red").expect_err("no such setting");
        assert_eq!(
            error.expected,
            "scheduler, prefer, protection or controller"
        );
    }
}
