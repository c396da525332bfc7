//! Files with one JSON object: dumps and results of flent. They are read as a stream, so
//! only the wanted parts take memory, and a truncated file keeps the parts before the cut.

use std::io::BufRead;

use serde::de::{DeserializeSeed as _, MapAccess};

use super::dump::Dump;
use super::error::ImportError;
use super::fields::{Fields, Fill, skip};
use super::flent::Results;
use super::record::Recording;

#[derive(Default)]
struct Document {
    dump: Dump,
    flent: Results,
}

impl Fields for Document {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "UserAgent" | "PeerConnections" => self.dump.field(name, map),
            "metadata" | "results" | "x_values" => self.flent.field(name, map),
            _ => skip(map),
        }
    }
}

/// Reads a document of either kind.
pub fn read(reader: impl BufRead, place: &str, name: &str) -> Result<Vec<Recording>, ImportError> {
    let mut document = Document::default();
    let mut json = serde_json::Deserializer::from_reader(reader);
    let read = Fill(&mut document).deserialize(&mut json);
    let read = read.and_then(|()| json.end());
    let Document { dump, flent } = document;
    let cut = match &read {
        Ok(()) => None,
        Err(error) if error.is_eof() || error.is_io() => {
            let why = match error.is_io() {
                true => error.to_string(),
                false => "the file is cut".to_owned(),
            };
            let (line, column) = (error.line(), error.column());
            Some(format!(
                "line {line}, column {column}: {why}: save it again; what precedes this place was read"
            ))
        }
        Err(error) => {
            return Err(ImportError::new(
                &format!("{place}:{}:{}", error.line(), error.column()),
                error.to_string(),
                "give the file as the program wrote it",
            ));
        }
    };
    let mut found = if dump.is_some() {
        dump.recordings(place, name)?
    } else if flent.is_some() {
        vec![flent.recording(place, name)?]
    } else {
        let what = match &cut {
            Some(cut) => cut.clone(),
            None => {
                "it is JSON, but neither a dump of webrtc-internals nor a flent file".to_owned()
            }
        };
        return Err(ImportError::new(
            place,
            what,
            "save a dump with \"Create a WebRTC-Internals dump\" on chrome://webrtc-internals, or give \
             the .flent.gz file of a test",
        ));
    };
    for one in &mut found {
        one.cut.clone_from(&cut);
    }
    Ok(found)
}
