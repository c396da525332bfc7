//! Configuration file of `weft serve`: TOML whose keys are the options of the
//! command line.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use weft_lab::unknown_name;

use super::args::ServeArgs;
use crate::exit::Failure;

const COMMAND: &str = "serve";
/// Options of the command line that are not keys of the file.
const NOT_IN_FILE: [&str; 3] = ["config", "check", "help"];
/// Options whose value must not be shown.
pub const SECRETS: [&str; 2] = ["token", "cluster"];

/// Command line of `weft serve`, completed with the options of its file.
pub struct Completed {
    /// Arguments, with the program's name.
    pub line: Vec<OsString>,
    /// File, if the command line names one.
    pub file: Option<PathBuf>,
    /// Names of the options that the file sets.
    pub from_file: BTreeSet<String>,
}

impl Completed {
    /// Reads the file given by a command line of `weft serve`. An option of the command
    /// line or the environment replaces the same option of the file, and any option of
    /// the file with which it conflicts.
    pub fn read(line: Vec<OsString>) -> Result<Completed, Failure> {
        let mut completed = Completed {
            line,
            file: None,
            from_file: BTreeSet::new(),
        };
        let Some(given) = given(&completed.line) else {
            return Ok(completed);
        };
        let Some(path) = given.get_one::<PathBuf>("config") else {
            return Ok(completed);
        };
        let text = std::fs::read_to_string(path).map_err(|error| {
            let remedy = "name a file that this user may read with --config";
            Failure::usage(format!("{}: {error}: {remedy}", path.display()))
        })?;
        for (name, arguments) in options_of(path, &text, &given)? {
            completed.line.extend(arguments);
            completed.from_file.insert(name);
        }
        completed.file = Some(path.clone());
        Ok(completed)
    }
}

/// Returns the definition of `weft serve`, with the properties that clap adds itself.
pub fn definition() -> Command {
    let mut serve = ServeArgs::augment_args(Command::new(COMMAND));
    serve.build();
    serve
}

/// Returns the options that are keys of the file, with their names.
pub fn keys(definition: &Command) -> impl Iterator<Item = (&str, &Arg)> {
    let all = definition.get_arguments();
    let named = all.filter_map(|option| Some((option.get_long()?, option)));
    named.filter(|(name, _)| !NOT_IN_FILE.contains(name))
}

/// Returns the options of a command line, which the file may have to complete; `None` for
/// another command.
fn given(line: &[OsString]) -> Option<ArgMatches> {
    let serve = line
        .get(1..)
        .filter(|rest| rest.first().is_some_and(|word| word == COMMAND))?;
    definition()
        .ignore_errors(true)
        .try_get_matches_from(serve)
        .ok()
}

/// Returns the arguments of each option in the file that is not replaced.
fn options_of(
    path: &Path,
    text: &str,
    given: &ArgMatches,
) -> Result<Vec<(String, Vec<OsString>)>, Failure> {
    let wrong = |place: Range<usize>, message: &str| {
        let (line, column) = position(text, place.start);
        Failure::usage(format!("{}:{line}:{column}: {message}", path.display()))
    };
    let table = DeTable::parse(text)
        .map_err(|error| wrong(error.span().unwrap_or_default(), error.message()))?;
    let definition = definition();
    let set = |option: &Arg| {
        let source = given.value_source(option.get_id().as_str());
        !matches!(source, None | Some(ValueSource::DefaultValue))
    };
    let mut options = Vec::new();
    for (key, value) in table.get_ref() {
        let name: &str = key.get_ref();
        let Some((_, option)) = keys(&definition).find(|(known, _)| *known == name) else {
            let names = keys(&definition).map(|(name, _)| name);
            let message = unknown_name("`weft serve` has no option", name, names);
            return Err(wrong(key.span(), &message));
        };
        let arguments = arguments(name, option, value);
        let arguments = arguments.map_err(|(place, message)| wrong(place, &message))?;
        for argument in &arguments {
            if let Some(message) = refusal(name, argument) {
                return Err(wrong(value.span(), &message));
            }
        }
        let excluded = keys(&definition)
            .any(|(_, other)| set(other) && exclude_each_other(&definition, option, other));
        if !set(option) && !excluded {
            options.push((name.to_owned(), arguments));
        }
    }
    Ok(options)
}

fn exclude_each_other(definition: &Command, one: &Arg, other: &Arg) -> bool {
    let excludes = |one: &Arg, other: &Arg| {
        let excluded = definition.get_arg_conflicts_with(one);
        excluded.iter().any(|arg| arg.get_id() == other.get_id())
    };
    excludes(one, other) || excludes(other, one)
}

/// Returns the command-line arguments for a key, or the position and message of an error.
fn arguments(
    name: &str,
    option: &Arg,
    value: &Spanned<DeValue<'_>>,
) -> Result<Vec<OsString>, (Range<usize>, String)> {
    let is_flag = matches!(option.get_action(), ArgAction::SetTrue);
    let has_list = matches!(option.get_action(), ArgAction::Append);
    let may_be_bare = option.get_num_args().is_some_and(|n| n.min_values() == 0);
    let expected = match (is_flag, has_list, may_be_bare) {
        (true, ..) => "true or false",
        (_, true, _) => "a text or a list of texts",
        (.., true) => "a text, true or false",
        _ => "a text or a whole number",
    };
    let wrong = |value: &Spanned<DeValue<'_>>| {
        let message = format!("`{name}` takes {expected}");
        (value.span(), message)
    };
    let written = |value: &Spanned<DeValue<'_>>| match value.get_ref() {
        DeValue::String(text) if !is_flag => Ok(format!("--{name}={text}").into()),
        DeValue::Integer(number) if !is_flag && number.radix() == 10 => {
            Ok(format!("--{name}={}", number.as_str()).into())
        }
        _ => Err(wrong(value)),
    };
    match value.get_ref() {
        DeValue::Boolean(on) if is_flag || may_be_bare => {
            Ok(on.then(|| format!("--{name}").into()).into_iter().collect())
        }
        DeValue::Array(values) if has_list => values.iter().map(written).collect(),
        _ => Ok(vec![written(value)?]),
    }
}

/// Returns the reason why clap refuses the value of an option, regardless of other
/// options.
fn refusal(name: &str, argument: &OsString) -> Option<String> {
    let line = [COMMAND.into(), argument.clone()];
    let error = definition().try_get_matches_from(line).err()?;
    match error.kind() {
        ErrorKind::MissingRequiredArgument | ErrorKind::ArgumentConflict => None,
        _ if SECRETS.contains(&name) => error.source().map(ToString::to_string),
        _ => Some(words(&error)),
    }
}

/// Returns clap's message without its advice, in one line.
pub fn words(error: &clap::Error) -> String {
    let text = error.to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let message = message.trim_start_matches("error: ");
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns line and column, from 1; columns count characters.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

#[cfg(test)]
mod tests;
