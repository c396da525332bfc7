//! Arguments of `--set` with several values: every system runs with each of them, as with
//! the values of a `[[vary]]`.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::scalar::Scalar;

/// A key and its values.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The dotted path.
    pub key: String,
    /// Location of the argument.
    pub place: Range<usize>,
    /// At least two values.
    pub values: Vec<Spanned<Scalar>>,
}

/// Splits VALUE at its commas. A comma within quotes, brackets or braces belongs to the
/// value. A value with `=` outside of them is a link's SPEC, which is a single value.
pub fn split(value: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = value;
    loop {
        let text = rest.trim_start();
        let begun = rest.len() - text.len();
        let Some(closed) = closed(text) else {
            // A quote or bracket is not closed: a single text.
            return vec![value];
        };
        let plain = &text[closed..];
        let comma = plain.find(',');
        if plain[..comma.unwrap_or(plain.len())].contains('=') {
            return vec![value];
        }
        let Some(comma) = comma else {
            parts.push(rest.trim());
            return parts;
        };
        let end = begun + closed + comma;
        parts.push(rest[..end].trim());
        rest = &rest[end + 1..];
    }
}

/// Returns the length of the quoted text, list or table at the start of a value; 0 if it
/// starts with something else, and `None` if its end is missing.
fn closed(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        let end = open.last().copied();
        if escaped {
            escaped = false;
        } else if end == Some(c) {
            open.pop();
        } else if let Some(quote @ ('"' | '\'')) = end {
            escaped = quote == '"' && c == '\\';
        } else {
            open.extend(match c {
                '"' | '\'' => Some(c),
                '[' => Some(']'),
                '{' => Some('}'),
                _ => None,
            });
        }
        if open.is_empty() {
            return Some(if at == 0 { 0 } else { at + c.len_utf8() });
        }
    }
    open.is_empty().then_some(0)
}

/// Returns a value as TOML.
///
/// # Errors
/// If the value is empty, or is a list or table; the error has the remedy.
pub fn toml(value: &str) -> Result<String, String> {
    match DeValue::parse(value).map(Spanned::into_inner) {
        Ok(DeValue::Array(_) | DeValue::Table(_)) => Err(format!(
            "{value} is one of several values, which cannot be lists or tables: run each by itself"
        )),
        Ok(DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_)) => {
            Ok(value.to_owned())
        }
        _ if value.is_empty() => Err(
            "a value is empty: a comma separates values; remove it, or put a value that has one \
             in quotes"
                .to_owned(),
        ),
        _ => Ok(quoted(value)),
    }
}

/// Returns a text as TOML.
pub fn quoted(value: &str) -> String {
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Reads a sweep from its TOML, `KEY=[VALUE, VALUE]`; `None` if the key is not a dotted
/// path.
pub fn read(argument: &str) -> Option<Sweep> {
    let parsed = DeTable::parse(argument).ok()?.into_inner();
    let (key, _) = argument.split_once('=')?;
    let first = argument.len() - argument.trim_start().len();
    let mut found = parsed.into_iter().next()?.1;
    while let DeValue::Table(_) = found.get_ref() {
        let DeValue::Table(table) = found.into_inner() else {
            return None;
        };
        found = table.into_iter().next()?.1;
    }
    let values = toml::de::ValueDeserializer::from(found);
    Some(Sweep {
        key: key.trim().to_owned(),
        place: first..argument.len(),
        values: Vec::<Spanned<Scalar>>::deserialize(values).ok()?,
    })
}

#[cfg(test)]
mod tests;
