//! Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    weft_lab,
    LabError,
    PyException,
    "Base class of the lab's errors. The text names the place and the remedy."
);
create_exception!(
    weft_lab,
    ScenarioError,
    LabError,
    "A scenario, link or argument is invalid. Nothing was run."
);
create_exception!(
    weft_lab,
    RunError,
    LabError,
    "Runs failed. The attribute `results` has the finished ones."
);

/// Returns the exception for an invalid scenario.
pub fn scenario(error: impl std::fmt::Display) -> PyErr {
    ScenarioError::new_err(in_python(&error.to_string()))
}

/// Parts of the lab's messages that mention the command line, and their counterparts.
const WORDS: [(&str, &str); 5] = [
    ("with --set,", "with `set`,"),
    ("--set ", ""),
    ("--link ", "links: "),
    ("`weft lab list`", "`weft_lab.scenarios()`"),
    ("--out", "out"),
];

/// Returns the message with Python arguments in place of command-line options.
fn in_python(message: &str) -> String {
    let replace = |text: String, (from, to): (&str, &str)| text.replace(from, to);
    WORDS.into_iter().fold(message.to_owned(), replace)
}
