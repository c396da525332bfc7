//! The lab as a Python module. This crate only translates: Python's arguments into
//! scenarios, runs into Arrow tables, and errors into exceptions.

mod agent;
mod arguments;
mod classes;
mod controller;
mod environment;
mod error;
mod execute;
mod failure;
mod plan;
mod results;
mod scheduler;
mod table;

use pyo3::prelude::*;

/// Native half of `weft_lab`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", weft_lab::VERSION)?;
    module.add("LabError", py.get_type::<error::LabError>())?;
    module.add("ScenarioError", py.get_type::<error::ScenarioError>())?;
    module.add("RunError", py.get_type::<error::RunError>())?;
    module.add_class::<table::Table>()?;
    module.add_class::<results::Results>()?;
    module.add_class::<results::Report>()?;
    module.add_class::<controller::Feedback>()?;
    module.add_class::<scheduler::Packets>()?;
    module.add_class::<scheduler::Path>()?;
    module.add_class::<environment::Environment>()?;
    module.add_class::<plan::Plan>()?;
    module.add_function(wrap_pyfunction!(environment::step_all, module)?)?;
    module.add_function(wrap_pyfunction!(execute::compare, module)?)?;
    module.add_function(wrap_pyfunction!(execute::run, module)?)?;
    module.add_function(wrap_pyfunction!(execute::scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(execute::scenario_text, module)?)
}
