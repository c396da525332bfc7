//! Conversion of Python arguments to those of a scenario.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::error::ScenarioError;

/// Changes to a scenario that have their own arguments.
#[derive(Default)]
pub struct Overrides {
    /// Systems to run.
    pub systems: Option<Vec<String>>,
    /// Number of seeds.
    pub seeds: Option<u32>,
    /// Length of a run in seconds.
    pub duration: Option<f64>,
}

impl Overrides {
    /// Returns them as the lab's assignments.
    pub fn assignments(&self) -> Vec<String> {
        let seeds = self.seeds.map(|n| format!("seeds={n}"));
        let duration = self.duration.map(|s| format!("duration=\"{s}s\""));
        let systems = self
            .systems
            .as_ref()
            .map(|names| format!("systems={names:?}"));
        [seeds, duration, systems].into_iter().flatten().collect()
    }
}

/// Returns a dictionary of dotted keys as the lab's assignments.
pub fn assignments(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let items = set.into_iter().flat_map(|set| set.iter());
    let assignment = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key: String = key.extract()?;
        Ok(format!("{key}={}", toml(&key, &value)?))
    };
    items.map(assignment).collect()
}

/// Returns a grid, a list of values by dotted key, as the lab's assignments of several
/// values.
pub fn grid(grid: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let items = grid.into_iter().flat_map(|grid| grid.iter());
    let assignment = |(key, values): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key: String = key.extract()?;
        let is_list = values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>();
        if !is_list || values.len()? == 0 {
            return Err(ScenarioError::new_err(format!(
                "grid: `{key}` is not a list of values: give one, such as [\"10ms\", \"50ms\"]"
            )));
        }
        let values = values.try_iter()?.map(|value| toml(&key, &value?));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        Ok(format!("{key}={}", values.join(",")))
    };
    items.map(assignment).collect()
}

/// Returns a value as TOML.
fn toml(key: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    // In Python, a truth value is an integer, so it is checked first.
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.to_string());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.extract::<i64>()?.to_string());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(format!("{:?}", value.extract::<f64>()?));
    }
    if value.is_instance_of::<PyString>() {
        let text: String = value.extract()?;
        return Ok(quoted(&text));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| toml(key, &item?));
        return Ok(format!(
            "[{}]",
            items.collect::<PyResult<Vec<_>>>()?.join(", ")
        ));
    }
    let kind = value.get_type().name()?;
    Err(ScenarioError::new_err(format!(
        "set: `{key}` is a {kind}: give a number, a text, a truth value or a list of them"
    )))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            character => quoted.push(character),
        }
    }
    quoted + "\""
}

/// Returns links in the form that the lab reads, `NAME=SPEC`.
pub fn links(links: &Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let link = |(name, spec): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        Ok(format!(
            "{}={}",
            name.extract::<String>()?,
            spec.extract::<String>()?
        ))
    };
    links.iter().map(link).collect()
}
