//! Events as qlog (draft-ietf-quic-qlog-main-schema) in JSON text sequences (RFC 7464),
//! one text per event.
//!
//! qlog has schemas for QUIC only, so the events of a call have their own names, under
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
    /// The caller.
    Client,
    /// The callee.
    Server,
}

/// Epoch of the times in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Epoch {
    /// Unknown to the reader, such as the start of a simulated run.
    Unknown,
    /// 1970-01-01 in UTC.
    Unix,
}

/// Event of a call.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Time since the epoch.
    pub at: Duration,
    /// Connection of the event, if the file has several.
    pub group: Option<u64>,
    /// Name, with the schema's category in front.
    pub name: &'a str,
    /// Data; its fields depend on the name.
    pub data: &'a Value,
}

/// Writes the events of one end of a call.
#[derive(Debug)]
pub struct QlogWriter<W> {
    out: W,
}

impl<W: Write> QlogWriter<W> {
    /// Writes the beginning.
    ///
    /// # Errors
    /// Errors of the destination.
    pub fn new(
        out: W,
        title: &str,
        vantage_point: VantagePoint,
        epoch: Epoch,
    ) -> io::Result<QlogWriter<W>> {
        let (clock_type, epoch) = match epoch {
            Epoch::Unknown => ("monotonic", "unknown"),
            Epoch::Unix => ("system", "1970-01-01T00:00:00.000Z"),
        };
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
                    "reference_time": { "clock_type": clock_type, "epoch": epoch },
                },
            },
        }))?;
        Ok(writer)
    }

    /// Writes an event. Events must be in order.
    ///
    /// # Errors
    /// Errors of the destination.
    pub fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        // Milliseconds.
        let time = event.at.as_nanos() as f64 / 1e6;
        let mut text = json!({ "time": time, "name": event.name, "data": event.data });
        if let Some(group) = event.group {
            text["group_id"] = group.to_string().into();
        }
        self.text(&text)
    }

    /// Destination, with every complete event so far.
    pub fn destination(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes everything to the destination and returns it.
    ///
    /// # Errors
    /// Errors of the destination.
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
        let title = "a \n call";
        let writer = QlogWriter::new(Vec::new(), title, VantagePoint::Client, Epoch::Unknown);
        let mut writer = writer.expect("memory takes it");
        let mut event = Event {
            at: Duration::from_micros(1_500),
            group: None,
            name: "call:ended",
            data: &json!({}),
        };
        writer.event(&event).expect("memory takes it");
        event.group = Some(3);
        writer.event(&event).expect("memory takes it");
        let bytes = writer.finish().expect("memory takes it");
        let text = String::from_utf8(bytes).expect("JSON is text");
        let texts: Vec<&str> = text.split('\u{1e}').collect();
        let ["", head, event, grouped] = texts[..] else {
            panic!("{texts:?}");
        };
        assert!(head.ends_with('\n') && head.matches('\n').count() == 1);
        let head: Value = serde_json::from_str(head).expect("it is JSON");
        assert_eq!(head["trace"]["event_schemas"][0], SCHEMA);
        assert_eq!(
            event,
            "{\"data\":{},\"name\":\"call:ended\",\"time\":1.5}\n"
        );
        let grouped: Value = serde_json::from_str(grouped).expect("it is JSON");
        assert_eq!(grouped["group_id"], "3");
    }
}
