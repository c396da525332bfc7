//! Trace files, which are drafts until the run has ended.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::names::file_name;

/// Error: a trace could not be written; the text has the remedy.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {error}: {remedy}", path = path.display())]
pub struct TraceError {
    path: PathBuf,
    error: io::Error,
    remedy: &'static str,
}

impl TraceError {
    pub(super) fn new(path: &Path, error: io::Error) -> TraceError {
        let remedy = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "make room there, give a folder on another disk, or run fewer seeds or systems"
            }
            _ => "give a folder that you may write",
        };
        TraceError {
            path: path.to_owned(),
            error,
            remedy,
        }
    }
}

pub fn create_folder(path: &Path) -> Result<(), TraceError> {
    fs::create_dir_all(path).map_err(|error| TraceError::new(path, error))
}

/// File of a run that has not ended. It is removed unless it is kept.
#[derive(Debug)]
pub struct TraceFile {
    draft: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
}

impl TraceFile {
    /// Creates the draft of `RUN.FLOW.END.KIND` in a folder.
    pub fn create(
        folder: &Path,
        (run, flow, end, kind): (&str, &str, &str, &str),
    ) -> Result<TraceFile, TraceError> {
        let name = format!("{run}.{}.{end}.{kind}", file_name(flow));
        let path = folder.join(&name);
        let draft = folder.join(format!("{name}.part"));
        let file = File::create(&draft).map_err(|error| TraceError::new(&path, error))?;
        Ok(TraceFile {
            draft,
            path,
            file: BufWriter::new(file),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Renames the draft to its final name, replacing an older file.
    pub fn keep(mut self) -> Result<(), TraceError> {
        let written = self.file.flush();
        let renamed = written.and_then(|()| fs::rename(&self.draft, &self.path));
        renamed.map_err(|error| TraceError::new(&self.path, error))
    }
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        // Absent if it was kept.
        let _ = fs::remove_file(&self.draft);
    }
}
