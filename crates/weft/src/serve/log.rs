//! Log of server events on standard error.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use weft_server::{Level, Log, ServerEvent};
use weft_units::printable;

use crate::exit::json_for_terminals;

use super::args::{LogArgs, LogFormat, LogLevel};

/// Line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    /// Seconds since 1970.
    time: f64,
    level: Level,
    #[serde(flatten)]
    event: &'a ServerEvent,
}

/// Log whose arguments may change.
pub fn log(args: Arc<Mutex<LogArgs>>) -> Log {
    Log::new(move |event| {
        let (most, format) = {
            let args = args.lock().unwrap_or_else(PoisonError::into_inner);
            (most(args.log), args.log_format)
        };
        if most.is_some_and(|most| event.level() <= most) {
            complain!("{}", line(format, event, SystemTime::now()));
        }
    })
}

fn most(level: LogLevel) -> Option<Level> {
    match level {
        LogLevel::Off => None,
        LogLevel::Error => Some(Level::Error),
        LogLevel::Info => Some(Level::Info),
        LogLevel::Debug => Some(Level::Debug),
    }
}

fn line(format: LogFormat, event: &ServerEvent, now: SystemTime) -> String {
    let time = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let level = event.level();
    let line = Line {
        // Resolution of milliseconds.
        time: time.as_millis() as f64 / 1e3,
        level,
        event,
    };
    match (format, serde_json::to_string(&line)) {
        (LogFormat::Json, Ok(json)) => json_for_terminals(&json),
        // The event contains untrusted text, which must not start a new line.
        _ => format!("weft: {}", printable(&event.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn events_are_lines_for_people_or_for_programs() {
        let left = ServerEvent::Left {
            room: "r".to_owned(),
            id: "p1".to_owned(),
        };
        let now = UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(line(LogFormat::Text, &left, now), "weft: r: p1 left");
        assert_eq!(
            line(LogFormat::Json, &left, now),
            r#"{"time":1.5,"level":"info","event":"left","room":"r","id":"p1"}"#
        );
    }

    #[test]
    fn nobody_writes_lines_of_their_own() {
        let forged = ServerEvent::Refused {
            status: 404,
            error: "No 'é\n\u{1b}[2Kweft: r: p1 left\u{202e}\\' here.".to_owned(),
            from: None,
        };
        assert_eq!(
            line(LogFormat::Text, &forged, UNIX_EPOCH),
            r"weft: refused with 404: No 'é\n\u{1b}[2Kweft: r: p1 left\u{202e}\' here."
        );
    }
}
