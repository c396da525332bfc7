//! File that remembers its first error, because the library that writes through it only
//! reports a failure.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex};

/// First system error.
#[derive(Clone, Default)]
pub struct WriteError(Arc<Mutex<Option<io::Error>>>);

impl WriteError {
    pub fn take(&self) -> Option<io::Error> {
        self.0.lock().ok()?.take()
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let (Err(error), Ok(mut first)) = (&result, self.0.lock()) {
            first.get_or_insert_with(|| copy(error));
        }
        result
    }
}

/// Copies a system error by its number.
fn copy(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

pub struct Disk {
    file: File,
    error: WriteError,
}

impl Disk {
    pub fn new(file: File, error: WriteError) -> Disk {
        Disk { file, error }
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.error.note(self.file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.error.note(self.file.flush())
    }
}

impl Seek for Disk {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.error.note(self.file.seek(to))
    }
}
