//! What one can change about the weft call while it runs.

use serde::Serialize;
use weft_session::SchedulerKind;

use super::ride::UnknownName;

/// A choice about the weft call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    Scheduler(SchedulerKind),
}

/// A setting as the page shows it: what it is, and what it could be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SettingTick {
    pub name: &'static str,
    pub value: &'static str,
    pub choices: Vec<&'static str>,
}

const SCHEDULER: &str = "scheduler";

impl Setting {
    pub fn parse(name: &str, value: &str) -> Result<Setting, UnknownName> {
        if name != SCHEDULER {
            return Err(UnknownName {
                given: name.to_owned(),
                expected: SCHEDULER.to_owned(),
            });
        }
        let kind = value.parse().map(Setting::Scheduler);
        kind.map_err(|_| UnknownName {
            given: value.to_owned(),
            expected: names(SchedulerKind::ALL, SchedulerKind::name).join(", "),
        })
    }

    pub fn show(self) -> SettingTick {
        match self {
            Setting::Scheduler(kind) => SettingTick {
                name: SCHEDULER,
                value: kind.name(),
                choices: names(SchedulerKind::ALL, SchedulerKind::name),
            },
        }
    }
}

fn names<K>(
    all: impl IntoIterator<Item = K>,
    name: impl Fn(K) -> &'static str,
) -> Vec<&'static str> {
    all.into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_shown_can_be_made() {
        let shown = Setting::Scheduler(SchedulerKind::default()).show();
        for choice in shown.choices {
            let made = Setting::parse(shown.name, choice).expect("it is shown");
            assert_eq!(made.show().value, choice);
        }
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        let error = Setting::parse("scheduler", "best").expect_err("no such scheduler");
        assert_eq!(error.given, "best");
        assert!(error.expected.contains("single, "), "{}", error.expected);
        let error = Setting::parse("colour", "red").expect_err("no such setting");
        assert_eq!(error.expected, "scheduler");
    }
}
