//! Python classes that a scenario may name.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weft_lab::scenario::Custom;

use crate::error::ScenarioError;
use crate::failure::Failure;
use crate::{controller, scheduler};

/// Classes that a scenario may name, and their first exception.
#[derive(Default)]
pub struct Classes {
    custom: Custom,
    failure: Failure,
}

impl Classes {
    /// Returns the classes.
    pub fn custom(&self) -> Custom {
        self.custom.clone()
    }

    /// Returns the first exception of a class.
    pub fn take(&self) -> Option<PyErr> {
        self.failure.take()
    }
}

/// Registers classes by their names. Each call leaks a few bytes, because the setup of a
/// run is copied freely and names its controller by reference.
pub fn register(
    controllers: &Bound<'_, PyDict>,
    schedulers: &Bound<'_, PyDict>,
) -> PyResult<Classes> {
    let mut all = Classes::default();
    for (name, class) in named("controllers", controllers)? {
        all.custom
            .controllers
            .push(controller::custom(name, class, all.failure.clone()));
    }
    for (name, class) in named("schedulers", schedulers)? {
        all.custom
            .schedulers
            .push(scheduler::custom(name, class, all.failure.clone()));
    }
    Ok(all)
}

/// Returns the classes with their names, which systems can use.
fn named(argument: &str, classes: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Py<PyAny>)>> {
    let one = |(name, class): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(ScenarioError::new_err(format!(
                "{argument}: `{name}` is not a name: use letters, digits, `-` and `_`"
            )));
        }
        if !class.is_callable() {
            return Err(ScenarioError::new_err(format!(
                "{argument}: `{name}` is not a class: give the class itself, not an instance"
            )));
        }
        Ok((name, class.unbind()))
    };
    classes.iter().map(one).collect()
}
