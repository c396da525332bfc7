//! Exceptions of Python classes during a run.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

/// First exception of a class in these runs.
#[derive(Clone, Default)]
pub struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Ends the present run with this exception; the lab counts the run as failed.
    pub fn end_run(&self, name: &str, error: PyErr) -> ! {
        let text = Python::attach(|py| {
            let trace = error.traceback(py).and_then(|trace| trace.format().ok());
            format!("`{name}`: {}{error}", trace.unwrap_or_default())
        });
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(error);
        drop(first);
        // Unlike a panic, this prints nothing.
        resume_unwind(Box::new(text))
    }

    /// Returns the exception.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
