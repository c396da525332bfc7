//! Location of an error in a scenario: file, line, column, the line itself, and the
//! remedy.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;

use super::custom::Custom;
use super::sweep::{self, Sweep};
use crate::names::unknown_name;

/// Text of the file with its location.
pub type Text = Spanned<String>;

/// Text of a scenario file, followed by the `--set` arguments, so that one offset
/// identifies a location in either.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name, as given.
    pub file: String,
    /// Text of the file.
    pub text: String,
    pub(super) arguments: Vec<Argument>,
    /// Controllers and schedulers of this program, which systems may name.
    pub(super) custom: Custom,
}

/// An argument of `--set`.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    /// Argument as TOML, preceded by blanks so that its offsets follow those of all
    /// earlier ones.
    pub toml: String,
    /// Argument as shown in messages.
    shown: String,
    /// Its values if it has several.
    pub sweep: Option<Sweep>,
}

impl Argument {
    fn key(&self) -> &str {
        self.shown.split('=').next().unwrap_or_default().trim()
    }
}

/// Error: a scenario cannot be run. Its text gives the location, the value found there
/// and the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioError {
    /// File, or the argument of `--set`.
    pub file: String,
    /// Line and column, counted from 1; columns are characters. `None` in an
    /// argument.
    pub at: Option<(usize, usize)>,
    /// Error and remedy.
    pub message: String,
    /// The line, with the start and length of the location in it.
    snippet: Option<(String, usize, usize)>,
}

impl Source {
    /// Combines the text of `file` with arguments `KEY=VALUE` in their order. A value
    /// that is not TOML is read as a text; `sweep::split` separates several values.
    ///
    /// # Errors
    /// If an argument has no `=`, or one of several values is not a text, number or truth
    /// value.
    pub fn new(file: &str, text: &str, set: &[String]) -> Result<Source, ScenarioError> {
        let mut start = text.len() + 1;
        let mut arguments: Vec<Argument> = Vec::new();
        for written in set {
            let argument = argument(written, start)
                .map_err(|message| ScenarioError::whole(&format!("--set {written}"), message))?;
            let key = argument.key();
            let mut earlier = arguments.iter().filter(|each| each.key() == key);
            if earlier.any(|each| each.sweep.is_some() || argument.sweep.is_some()) {
                let message = format!("`{key}` is set twice: give all its values in one --set");
                return Err(ScenarioError::whole(&format!("--set {written}"), message));
            }
            start = argument.toml.len() + 1;
            arguments.push(argument);
        }
        let (file, text) = (file.to_owned(), text.to_owned());
        Ok(Source {
            file,
            text,
            arguments,
            custom: Custom::default(),
        })
    }

    /// Iterates over the arguments of `--set`, as TOML.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        let arguments = self.arguments.iter();
        arguments.map(|argument| argument.toml.trim_start())
    }

    /// Iterates over the arguments with several values.
    pub(super) fn sweeps(&self) -> impl Iterator<Item = &Sweep> {
        self.arguments.iter().filter_map(|each| each.sweep.as_ref())
    }

    /// Whether an argument of `--set` sets this dotted key.
    pub(super) fn sets(&self, key: &str) -> bool {
        self.arguments.iter().any(|each| each.key() == key)
    }

    /// Lists the names of the files in a folder that the scenario names: relative to its
    /// own folder, then to the working directory, in the order of
    /// [`Source::read_beside`].
    pub(super) fn list_beside(&self, folder: &str) -> [std::io::Result<Vec<String>>; 2] {
        let beside = Path::new(&self.file).with_file_name(folder);
        [beside, PathBuf::from(folder)].map(|path| {
            // An empty path is the working directory.
            let here = path.as_os_str().is_empty();
            let path = if here { Path::new(".") } else { &path };
            let entries = std::fs::read_dir(path)?.flatten();
            Ok(entries
                .filter_map(|entry| entry.file_name().into_string().ok())
                .collect())
        })
    }

    /// Reads a file that the scenario names: relative to its own folder, or else to the
    /// working directory.
    pub(super) fn read_beside(&self, name: &str) -> std::io::Result<String> {
        let beside = Path::new(&self.file).with_file_name(name);
        let path = if beside.is_file() {
            beside
        } else {
            PathBuf::from(name)
        };
        std::fs::read_to_string(path)
    }

    /// Creates an error at these bytes of the text.
    #[must_use]
    pub fn error(&self, span: Range<usize>, message: impl Into<String>) -> ScenarioError {
        let message = message.into();
        if let Some(argument) = self.argument_at(span.start) {
            let file = format!("--set {argument}");
            return ScenarioError {
                file,
                at: None,
                message,
                snippet: None,
            };
        }
        let start = boundary(&self.text, span.start);
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line = self.text[..start].matches('\n').count() + 1;
        let column = self.text[line_start..start].chars().count() + 1;
        let rest = self.text[line_start..].lines().next().unwrap_or_default();
        let end = boundary(&self.text, span.end.min(line_start + rest.len()).max(start));
        let length = self.text[start..end].chars().count().max(1);
        let snippet = (!rest.trim().is_empty()).then(|| (rest.to_owned(), column, length));
        let file = self.file.clone();
        ScenarioError {
            file,
            at: Some((line, column)),
            message,
            snippet,
        }
    }

    fn argument_at(&self, offset: usize) -> Option<&str> {
        let begins =
            |argument: &&Argument| argument.toml.len() - argument.toml.trim_start().len() <= offset;
        let mut begun = self.arguments.iter().filter(begins);
        begun.next_back().map(|argument| argument.shown.as_str())
    }
}

/// Reads an argument `KEY=VALUE`; its TOML begins at this offset.
fn argument(written: &str, start: usize) -> Result<Argument, String> {
    let Some((key, value)) = written.split_once('=') else {
        return Err("write --set KEY=VALUE, such as --set links.wifi.queue=2bdp".to_owned());
    };
    let (key, value) = (key.trim(), value.trim());
    let blank = " ".repeat(start);
    if let [_, _, ..] = sweep::split(value)[..] {
        let values = sweep::split(value).into_iter().map(sweep::toml);
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let toml = format!("{blank}{key}=[{}]", values.join(", "));
        let read = sweep::read(&toml);
        return Ok(Argument {
            sweep: Some(read.ok_or_else(|| format!("`{key}` is not a dotted path of a field"))?),
            shown: written.to_owned(),
            toml,
        });
    }
    let mut line = format!("{key}={value}");
    if toml::de::DeTable::parse(&line).is_err() {
        line = format!("{key}={}", sweep::quoted(value));
    }
    Ok(Argument {
        toml: format!("{blank}{line}"),
        shown: line,
        sweep: None,
    })
}

/// Returns the last character that starts at or before this offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl ScenarioError {
    /// Creates an error about the file as a whole.
    #[must_use]
    pub fn whole(file: &str, message: impl Into<String>) -> ScenarioError {
        let (file, message) = (file.to_owned(), message.into());
        ScenarioError {
            file,
            at: None,
            message,
            snippet: None,
        }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.at {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)?;
        let (Some((line, _)), Some((text, column, length))) = (self.at, &self.snippet) else {
            return Ok(());
        };
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs are kept, so that the marks are below the marked text.
        let indent = text.chars().take(column - 1);
        let indent: String = indent.map(|c| if c == '\t' { c } else { ' ' }).collect();
        let marks = "^".repeat(*length);
        write!(
            f,
            "\n{margin} |\n{number} | {text}\n{margin} | {indent}{marks}"
        )
    }
}

impl std::error::Error for ScenarioError {}

/// Explains an error of the TOML reader, with the nearest permitted name.
pub(super) fn explained(message: &str) -> String {
    let first = message.lines().next().unwrap_or(message);
    let quoted: Vec<&str> = first.split('`').skip(1).step_by(2).collect();
    if let Some((found, wanted)) = mismatch(first) {
        return format!("{found} is not valid here: write {wanted}");
    }
    let unknown = first.starts_with("unknown field") || first.starts_with("unknown variant");
    let (Some((found, permitted)), true) = (quoted.split_first(), unknown) else {
        return first.to_owned();
    };
    let what = if first.starts_with("unknown field") {
        "there is no field"
    } else {
        "there is no"
    };
    unknown_name(what, found, permitted.iter().copied())
}

/// Parses serde's "invalid type: FOUND, expected WANTED"; returns both in the words of
/// users.
fn mismatch(message: &str) -> Option<(&str, String)> {
    let (found, wanted) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))?
        .rsplit_once(", expected ")?;
    let found = ["string ", "integer ", "boolean ", "floating point "]
        .iter()
        .find_map(|kind| found.strip_prefix(kind))
        .unwrap_or(found);
    let wanted = match wanted {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, such as 5",
        "f64" => "a number, such as 1.5",
        "a boolean" => "true or false",
        "a string" => "a text in quotes; a quantity has a unit, such as 5%, 25ms or 3mbit",
        "a sequence" => "a list, such as [\"one\", \"another\"]",
        other if other.starts_with("struct ") => "a table of fields",
        other => other,
    };
    Some((found, wanted.to_owned()))
}

#[cfg(test)]
mod tests;
