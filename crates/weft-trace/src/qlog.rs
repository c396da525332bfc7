//! Events as qlog (draft-ietf-quic-qlog-main-schema) in JSON text sequences (RFC 7464),
//! one text per event.
//!
//! qlog has schemas for QUIC only, so the events of a call have names of their own, under
//! [`SCHEMA`].

use std::io::{self, Write};

use serde_json::{Value, json};
use weft_units::Duration;

/// Name of the schema of weft's events, which `docs/experiment/packets-and-events.md` describes.
pub const SCHEMA: &str = "urn:weft:qlog:call-1";

/// Precedes each text (RFC 7464 section 2.2).
const RECORD_SEPARATOR: u8 = 0x1E;

/// Side of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VantagePoint {
    /// It called.
    Client,
    /// It was called.
    Server,
}

/// Writes the events of one end of a call.
#[derive(Debug)]
pub struct QlogWriter<W> {
    out: W,
}

impl<W: Write> QlogWriter<W> {
    /// Writes the beginning. Times of events count from an epoch that the reader does not
    /// know, such as the start of a simulated run.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn new(out: W, title: &str, vantage_point: VantagePoint) -> io::Result<QlogWriter<W>> {
        let vantage_point = match vantage_point {
            VantagePoint::Client => "client",
            VantagePoint::Server => "server",
        };
        let mut writer = QlogWriter { out };
        writer.text(&json!({
            "file_schema": "urn:ietf:params:qlog:file:sequential",
            "serialization_format": "application/qlog+json-seq",
            "title": title,
            "trace": {
                "vantage_point": { "type": vantage_point },
                "event_schemas": [SCHEMA],
                "common_fields": {
                    "time_format": "relative_to_epoch",
                    "reference_time": { "clock_type": "monotonic", "epoch": "unknown" },
                },
            },
        }))?;
        Ok(writer)
    }

    /// Writes an event at a time since the epoch. Events come in order.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn event(&mut self, at: Duration, name: &str, data: &Value) -> io::Result<()> {
        // Milliseconds.
        let time = at.as_nanos() as f64 / 1e6;
        self.text(&json!({ "time": time, "name": name, "data": data }))
    }

    /// Writes everything to the destination and returns it.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn text(&mut self, value: &Value) -> io::Result<()> {
        self.out.write_all(&[RECORD_SEPARATOR])?;
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_stands_between_a_separator_and_a_line_feed() {
        let writer = QlogWriter::new(Vec::new(), "a \n call", VantagePoint::Client);
        let mut writer = writer.expect("memory takes it");
        let at = Duration::from_micros(1_500);
        let event = writer.event(at, "call:ended", &json!({}));
        event.expect("memory takes it");
        let bytes = writer.finish().expect("memory takes it");
        let text = String::from_utf8(bytes).expect("JSON is text");
        let texts: Vec<&str> = text.split('\u{1e}').collect();
        let ["", head, event] = texts[..] else {
            panic!("{texts:?}");
        };
        assert!(head.ends_with('\n') && head.matches('\n').count() == 1);
        let head: Value = serde_json::from_str(head).expect("it is JSON");
        assert_eq!(head["trace"]["event_schemas"][0], SCHEMA);
        assert_eq!(
            event,
            "{\"data\":{},\"name\":\"call:ended\",\"time\":1.5}\n"
        );
    }
}
